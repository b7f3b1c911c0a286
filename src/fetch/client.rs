//! One request: what is asked, what comes back, and which troubles may pass.

use std::io::{self, Read};
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::Duration;

use ureq::http::{HeaderMap, StatusCode, Uri, header};
use ureq::{Agent, Body, BodyReader};

use crate::error::{Error, Result};

/// Redirects that are followed.
const REDIRECTS: u32 = 5;
/// The longest wait that a server may ask for before the next try.
const LONGEST_WAIT: Duration = Duration::from_secs(60);

/// Asks one server, or its mirror.
pub(super) struct Client {
    agent: Agent,
    base: String,
    host: String,
    reached: AtomicBool,
}

/// Why an answer is not there.
pub(super) enum Trouble {
    /// It may be there at the next try, after so long where the server says so.
    Passing(String, Option<Duration>),
    /// No connection was made; it may be at the next try.
    Unreachable(String),
    /// The file cannot be gone on with from there.
    Stale,
    /// The server knows no such file.
    Missing,
    /// It will not be there.
    Final(Error),
}

/// From where a file goes on, and the validator that says whether it is still the same.
pub(super) struct Onward<'a> {
    pub(super) from: u64,
    pub(super) validator: Option<&'a str>,
}

/// An answer with data.
pub(super) struct Reply {
    /// Where the data begin in the file, and the file's whole length, as the server says; `None` for the whole file.
    pub(super) range: Option<Range>,
    /// How long the answer is.
    pub(super) length: Option<u64>,
    pub(super) etag: Option<String>,
    pub(super) last_modified: Option<String>,
    pub(super) body: BodyReader<'static>,
}

/// `Content-Range`.
#[derive(Debug, PartialEq, Eq)]
pub(super) struct Range {
    pub(super) from: u64,
    pub(super) total: Option<u64>,
}

impl Client {
    /// A client of `base`. Of https, redirects lead to https only.
    ///
    /// # Errors
    /// A base that is no http or https URL.
    pub(super) fn new(base: &str, timeout: Duration) -> Result<Self> {
        let base = base.trim_end_matches('/');
        let wrong = || {
            Error::setting(
                format!("{base:?} is no base of addresses"),
                "give one as https://HOST/PATH",
            )
        };
        let uri: Uri = base.parse().map_err(|_| wrong())?;
        let secure = match uri.scheme_str() {
            Some("https") => true,
            Some("http") => false,
            _ => return Err(wrong()),
        };
        let host = uri.host().filter(|h| !h.is_empty()).ok_or_else(wrong)?;
        if uri.query().is_some() {
            return Err(wrong());
        }
        let config = Agent::config_builder()
            .https_only(secure)
            .http_status_as_error(false)
            .max_redirects(REDIRECTS)
            .timeout_resolve(Some(timeout))
            .timeout_connect(Some(timeout))
            .timeout_send_request(Some(timeout))
            .timeout_recv_response(Some(timeout))
            // A slow body is let be as long as bytes come.
            .timeout_per_read(Some(timeout))
            .user_agent(concat!("tinyscope/", env!("CARGO_PKG_VERSION")))
            .build();
        Ok(Self {
            agent: config.new_agent(),
            host: host.to_owned(),
            base: base.to_owned(),
            reached: AtomicBool::new(false),
        })
    }

    /// The server's name.
    pub(super) fn host(&self) -> &str {
        &self.host
    }

    /// Whether it ever answered.
    pub(super) fn reached(&self) -> bool {
        self.reached.load(Ordering::Relaxed)
    }

    /// The address of a path below the base; its parts are escaped.
    pub(super) fn url(&self, path: &str) -> String {
        let mut url = format!("{}/", self.base);
        for byte in path.bytes() {
            if byte.is_ascii_alphanumeric() || b"/-._~:,=@!$()*;".contains(&byte) {
                url.push(char::from(byte));
            } else {
                url += &format!("%{byte:02X}");
            }
        }
        url
    }

    /// Asks for a file, or for the rest of it.
    pub(super) fn get(
        &self,
        url: &str,
        onward: Option<Onward<'_>>,
    ) -> std::result::Result<Reply, Trouble> {
        let mut request = self
            .agent
            .get(url)
            .header(header::ACCEPT_ENCODING, "identity");
        if let Some(Onward { from, validator }) = onward {
            request = request.header(header::RANGE, format!("bytes={from}-"));
            if let Some(validator) = validator {
                request = request.header(header::IF_RANGE, validator);
            }
        }
        let answer = request.call().map_err(|e| trouble(url, e))?;
        self.reached.store(true, Ordering::Relaxed);
        let (head, body) = answer.into_parts();
        Reply::new(url, head.status, &head.headers, body)
    }
}

impl Reply {
    fn new(
        url: &str,
        status: StatusCode,
        headers: &HeaderMap,
        body: Body,
    ) -> std::result::Result<Self, Trouble> {
        let text = |name| headers.get(name)?.to_str().ok().map(str::to_owned);
        let failed = |what: &str, hint: &str| Trouble::Final(Error::fetch(url, what, hint));
        let range = match status.as_u16() {
            200 => None,
            206 => match text(header::CONTENT_RANGE).as_deref().and_then(range) {
                Some(range) => Some(range),
                None => return Err(failed("a part without its range", "")),
            },
            // The file is shorter than what is there.
            416 => return Err(Trouble::Stale),
            404 | 410 => return Err(Trouble::Missing),
            code @ (401 | 403 | 451) => {
                let what = format!("refused (status {code})");
                return Err(failed(&what, "look at the address with a browser"));
            }
            code @ (408 | 425 | 429 | 500..=599) => {
                let wait = text(header::RETRY_AFTER).and_then(|t| t.trim().parse().ok());
                let wait = wait.map(|s| Duration::from_secs(s).min(LONGEST_WAIT));
                return Err(Trouble::Passing(format!("status {code}"), wait));
            }
            code => return Err(failed(&format!("status {code}"), "")),
        };
        if text(header::CONTENT_ENCODING).is_some_and(|c| !c.eq_ignore_ascii_case("identity")) {
            return Err(failed("compressed, though not asked to be", ""));
        }
        Ok(Self {
            range,
            length: text(header::CONTENT_LENGTH).and_then(|t| t.trim().parse().ok()),
            etag: text(header::ETAG),
            last_modified: text(header::LAST_MODIFIED),
            body: body.into_reader(),
        })
    }

    /// Reads some bytes; 0 at the end.
    pub(super) fn read(&mut self, bytes: &mut [u8]) -> std::result::Result<usize, Trouble> {
        loop {
            match self.body.read(bytes) {
                Err(e) if e.kind() == io::ErrorKind::Interrupted => {}
                Err(e) => return Err(Trouble::Passing(reason(&e.into()), None)),
                Ok(n) => return Ok(n),
            }
        }
    }
}

/// `bytes FROM-TO/TOTAL`.
fn range(text: &str) -> Option<Range> {
    let (span, total) = text.trim().strip_prefix("bytes ")?.split_once('/')?;
    let (from, to) = span.split_once('-')?;
    let (from, to): (u64, u64) = (from.trim().parse().ok()?, to.trim().parse().ok()?);
    let total = match total.trim() {
        "*" => None,
        total => Some(total.parse().ok()?),
    };
    (from <= to && total.is_none_or(|t| to < t)).then_some(Range { from, total })
}

/// Which troubles pass.
fn trouble(url: &str, error: ureq::Error) -> Trouble {
    use ureq::{Error as E, Timeout};
    let failed = |what: String, hint: &str| Trouble::Final(Error::fetch(url, what, hint));
    match error {
        E::HostNotFound | E::ConnectionFailed | E::ConnectProxyFailed(_) => {
            Trouble::Unreachable(reason(&error))
        }
        E::Timeout(Timeout::Resolve | Timeout::Connect) => Trouble::Unreachable(reason(&error)),
        E::Io(ref e) if e.kind() == io::ErrorKind::InvalidData => untrusted(url, &error),
        E::Io(ref e) if !was_connected(e.kind()) => Trouble::Unreachable(reason(&error)),
        E::Io(_) | E::Timeout(_) | E::Protocol(_) => Trouble::Passing(reason(&error), None),
        E::TooManyRedirects => failed(
            format!("led on more than {REDIRECTS} times"),
            "a mirror can be named with --base-url",
        ),
        E::RequireHttpsOnly(to) => failed(
            format!("led to {to}, which is not encrypted"),
            "the network may have a portal; try again from another one",
        ),
        E::Tls(_) | E::Rustls(_) | E::Pem(_) => untrusted(url, &error),
        other => failed(other.to_string(), ""),
    }
}

fn untrusted(url: &str, error: &ureq::Error) -> Trouble {
    let what = format!("no trustworthy connection ({error})");
    let hint =
        "check the clock, and whether the network puts a certificate of its own before the host's";
    Trouble::Final(Error::fetch(url, what, hint))
}

/// Whether this can only befall a connection that was made.
fn was_connected(kind: io::ErrorKind) -> bool {
    use io::ErrorKind as K;
    matches!(
        kind,
        K::ConnectionReset
            | K::ConnectionAborted
            | K::BrokenPipe
            | K::UnexpectedEof
            | K::WouldBlock
            | K::TimedOut
    )
}

/// What happened, in a few words.
fn reason(error: &ureq::Error) -> String {
    match error {
        ureq::Error::HostNotFound => "its name is not found".into(),
        ureq::Error::Timeout(_) => "no answer in time".into(),
        ureq::Error::Io(e) if e.kind() == io::ErrorKind::UnexpectedEof => "cut off".into(),
        ureq::Error::Io(e) if e.kind() == io::ErrorKind::TimedOut => "no answer in time".into(),
        ureq::Error::Io(e) => e.to_string(),
        other => other.to_string(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn ranges_are_read_and_false_ones_are_not() {
        let found = |from, total| Some(Range { from, total });
        assert_eq!(range("bytes 5-9/10"), found(5, Some(10)));
        assert_eq!(range("bytes 5-9/*"), found(5, None));
        for wrong in [
            "bytes */10",
            "bytes 9-5/10",
            "bytes 5-10/10",
            "5-9/10",
            "bytes a-b/c",
        ] {
            assert_eq!(range(wrong), None, "{wrong}");
        }
    }

    #[test]
    fn paths_are_escaped_and_bases_checked() {
        let client = |base| Client::new(base, Duration::from_secs(1));
        let url = client("http://127.0.0.1:1/m/").map(|c| c.url("runs/v1/gsm:model=a b#?%é"));
        assert_eq!(
            url.unwrap(),
            "http://127.0.0.1:1/m/runs/v1/gsm:model=a%20b%23%3F%25%C3%A9"
        );
        for wrong in ["", "ftp://a", "a/b", "https://", "http://a/?x=1"] {
            assert!(client(wrong).is_err(), "{wrong}");
        }
    }
}
