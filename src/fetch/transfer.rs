//! One file: gone on with where it stopped, tried again while troubles pass, checked, then put under its name.

use std::path::Path;
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::{Duration, Instant};

use super::client::{Client, Onward, Reply, Trouble};
use super::part::{Part, Said};
use super::size;
use super::sniff::{Brackets, ENOUGH, Kind};
use crate::error::{Error, Result};
use crate::progress::{Observer, Progress};

/// How often progress is told.
const BEAT: Duration = Duration::from_millis(100);
/// The longest pause between tries.
const LONGEST_PAUSE: Duration = Duration::from_secs(30);

/// What is fetched, to where, and how it is known.
pub(super) struct Wanted<'a> {
    pub(super) url: &'a str,
    pub(super) target: &'a Path,
    pub(super) kind: Kind,
    /// The length, where it is known before.
    pub(super) bytes: Option<u64>,
    /// The checksum, where it is known before.
    pub(super) sha256: Option<&'a str>,
}

/// How often and how long it is tried.
#[derive(Clone, Copy)]
pub(super) struct Tries {
    pub(super) retries: u32,
    pub(super) pause: Duration,
}

/// How many bytes may be fetched, and how many were; files that come side by side share it.
pub(super) struct Budget {
    most: u64,
    used: AtomicU64,
}

/// Why a file is not there.
pub(super) enum Lack {
    /// The server knows no such file.
    Missing,
    /// Anything else.
    Failed(Error),
}

impl From<Error> for Lack {
    fn from(e: Error) -> Self {
        Self::Failed(e)
    }
}

impl Budget {
    pub(super) fn new(most: u64) -> Self {
        Self {
            most,
            used: AtomicU64::new(0),
        }
    }

    /// Bytes so far.
    pub(super) fn used(&self) -> u64 {
        self.used.load(Ordering::Relaxed)
    }

    /// Takes `bytes` more; an error where that is too much.
    pub(super) fn take(&self, url: &str, bytes: u64) -> Result<()> {
        self.check(url, bytes)?;
        self.used.fetch_add(bytes, Ordering::Relaxed);
        Ok(())
    }

    fn check(&self, url: &str, bytes: u64) -> Result<()> {
        let would = self.used().saturating_add(bytes);
        if would <= self.most {
            return Ok(());
        }
        let what = format!(
            "{} or more, above the limit of {}",
            size(would),
            size(self.most)
        );
        let hint = "a larger one is given with --max-size; what is there stays";
        Err(Error::fetch(url, what, hint))
    }

    fn give_back(&self, bytes: u64) {
        self.used.fetch_sub(bytes, Ordering::Relaxed);
    }
}

/// Fetches a file.
pub(super) fn file(
    client: &Client,
    wanted: &Wanted<'_>,
    tries: Tries,
    budget: &Budget,
    observer: &dyn Observer,
) -> std::result::Result<u64, Lack> {
    let mut part = Part::of(wanted.target, wanted.url);
    budget.take(wanted.url, part.len())?;
    let mut failures = 0;
    let mut furthest = part.len();
    loop {
        observer.check()?;
        let run = Run {
            client,
            wanted,
            budget,
            observer,
        };
        let spliced = part.len() > 0;
        let tried = run.attempt(&mut part);
        let (why, wait) = match tried.and_then(|()| run.verify(&mut part, spliced)) {
            Ok(()) => {
                let bytes = part.len();
                part.finish()?;
                return Ok(bytes);
            }
            Err(Trouble::Missing) => return Err(Lack::Missing),
            Err(Trouble::Final(e)) => return Err(e.into()),
            Err(Trouble::Stale) => {
                run.forget(&mut part);
                ("the rest is not there".into(), None)
            }
            Err(Trouble::Passing(why, wait)) => (why, wait),
            // A server that never answered is tried once more; one that did may come back.
            Err(Trouble::Unreachable(why))
                if failures
                    >= tries
                        .retries
                        .min(if client.reached() { u32::MAX } else { 1 }) =>
            {
                return Err(unreachable(client, wanted, &part, &why).into());
            }
            Err(Trouble::Unreachable(why)) => (why, None),
        };
        if part.len() > furthest {
            furthest = part.len();
            failures = 0;
        }
        failures += 1;
        if failures > tries.retries {
            return Err(gave_up(wanted, &part, &why, tries.retries).into());
        }
        let again = format!("{why}; try {failures} of {}", tries.retries);
        run.tell(part.len(), part.said().and_then(|s| s.total), &again);
        let pause = tries.pause.saturating_mul(1 << (failures - 1).min(16));
        sleep(wait.unwrap_or(pause.min(LONGEST_PAUSE)), observer)?;
    }
}

/// What one try needs.
struct Run<'a> {
    client: &'a Client,
    wanted: &'a Wanted<'a>,
    budget: &'a Budget,
    observer: &'a dyn Observer,
}

impl Run<'_> {
    /// Fetches what is missing.
    fn attempt(&self, part: &mut Part) -> std::result::Result<(), Trouble> {
        let url = self.wanted.url;
        if let Some(said) = part.said() {
            match said.total {
                Some(total) if total == part.len() => return Ok(()),
                Some(total) if total < part.len() => self.forget(part),
                // Without a validator only a checksum tells whether both pieces are of the same file.
                _ if said.validator().is_none() && self.wanted.sha256.is_none() => {
                    self.forget(part);
                }
                _ => {}
            }
        }
        let onward = part.said().map(|said| Onward {
            from: part.len(),
            validator: said.validator(),
        });
        let mut reply = self.client.get(url, onward)?;
        let total = match &reply.range {
            Some(range) => range.total,
            None => reply.length,
        };
        if let Some(range) = &reply.range {
            if range.from != part.len() || !same(part.said(), &reply, total) {
                return Err(Trouble::Stale);
            }
        } else {
            self.forget(part);
        }
        self.expect(total)?;
        let rest = total.unwrap_or(0).saturating_sub(part.len());
        self.budget.check(url, rest).map_err(Trouble::Final)?;
        self.receive(&mut reply, part, total)?;
        match total {
            Some(total) if part.len() < total => Err(Trouble::Passing("cut off".into(), None)),
            Some(total) if part.len() > total => {
                self.forget(part);
                Err(Trouble::Passing(
                    format!("longer than its {}", size(total)),
                    None,
                ))
            }
            _ => Ok(()),
        }
    }

    /// A length that is known before is the length.
    fn expect(&self, found: Option<u64>) -> std::result::Result<(), Trouble> {
        match (self.wanted.bytes, found) {
            (Some(known), Some(found)) if known != found => Err(Trouble::Final(Error::fetch(
                self.wanted.url,
                format!("{found} bytes, where {known} are known"),
                "the file may have changed at its source; --no-checksum takes it as it is",
            ))),
            _ => Ok(()),
        }
    }

    /// Writes the answer to the part as it comes. The first bytes are looked at before any is written.
    fn receive(
        &self,
        reply: &mut Reply,
        part: &mut Part,
        total: Option<u64>,
    ) -> std::result::Result<(), Trouble> {
        let mut bytes = vec![0; 1 << 16];
        let mut head = Vec::new();
        let mut begun = part.len() > 0;
        let mut told = Instant::now();
        self.tell(part.len(), total, "");
        loop {
            if self.observer.cancelled() {
                return Err(Trouble::Final(Error::Cancelled));
            }
            let n = reply.read(&mut bytes)?;
            let new = if begun {
                &bytes[..n]
            } else {
                head.extend_from_slice(&bytes[..n]);
                if n > 0 && head.len() < ENOUGH {
                    continue;
                }
                self.look(&head, reply, total, part)?;
                begun = true;
                &head[..]
            };
            let taken = self.budget.take(self.wanted.url, new.len() as u64);
            taken.map_err(Trouble::Final)?;
            part.append(new).map_err(Trouble::Final)?;
            if n == 0 {
                return Ok(());
            }
            if told.elapsed() >= BEAT {
                told = Instant::now();
                self.tell(part.len(), total, "");
            }
        }
    }

    /// Begins the part, if the first bytes are those of the kind that is wanted.
    fn look(
        &self,
        head: &[u8],
        reply: &Reply,
        total: Option<u64>,
        part: &mut Part,
    ) -> std::result::Result<(), Trouble> {
        // A stump is no reason to doubt the server.
        if head.len() < ENOUGH && total.is_some_and(|t| (head.len() as u64) < t) {
            return Err(Trouble::Passing("cut off".into(), None));
        }
        if let Some(found) = self.wanted.kind.refuse(head) {
            return Err(Trouble::Final(Error::fetch(
                self.wanted.url,
                found,
                "a login page of the network may stand before it: open the address in a browser",
            )));
        }
        let said = Said {
            url: self.wanted.url.to_owned(),
            etag: reply.etag.clone(),
            last_modified: reply.last_modified.clone(),
            total,
        };
        part.begin(said).map_err(Trouble::Final)
    }

    /// Whether the whole part is what was wanted; drops it where it is not. One that was `spliced` of several answers may be
    /// right when it comes in one.
    fn verify(&self, part: &mut Part, spliced: bool) -> std::result::Result<(), Trouble> {
        self.expect(Some(part.len()))
            .inspect_err(|_| self.forget(part))?;
        let (kind, mut brackets) = (self.wanted.kind, Brackets::default());
        let each = &mut |bytes: &[u8]| {
            if kind == Kind::Json {
                brackets.take(bytes);
            }
        };
        let (sha256, tail) = part.digest(ENOUGH, each).map_err(Trouble::Final)?;
        if let Some(why) = kind.unfinished(&tail).or_else(|| brackets.unfinished()) {
            self.forget(part);
            return Err(Trouble::Passing(why.into(), None));
        }
        match self.wanted.sha256 {
            Some(known) if known != sha256 && spliced => {
                self.forget(part);
                Err(Trouble::Passing(
                    "the pieces do not fit together".into(),
                    None,
                ))
            }
            Some(known) if known != sha256 => {
                self.forget(part);
                Err(Trouble::Final(Error::fetch(
                    self.wanted.url,
                    format!("its SHA-256 is {sha256}, where {known} is known; it was thrown away"),
                    "try again; where that stays so, the file has changed at its source, and --no-checksum takes it as it is",
                )))
            }
            _ => Ok(()),
        }
    }

    /// Drops the part.
    fn forget(&self, part: &mut Part) {
        self.budget.give_back(part.len());
        part.discard();
    }

    fn tell(&self, have: u64, total: Option<u64>, note: &str) {
        let name = self.wanted.target.file_name().unwrap_or_default();
        let of = total
            .map(|t| format!(" of {}", size(t)))
            .unwrap_or_default();
        let note = if note.is_empty() {
            String::new()
        } else {
            format!(" ({note})")
        };
        self.observer.progress(&Progress {
            what: format!("{}: {}{of}{note}", name.to_string_lossy(), size(have)),
            done: total.map_or(0.0, |t| have as f64 / t.max(1) as f64),
        });
    }
}

/// Whether a part that the server offers is one of the file that was begun.
fn same(said: Option<&Said>, reply: &Reply, total: Option<u64>) -> bool {
    let Some(said) = said else { return true };
    let agree = |a: &Option<String>, b: &Option<String>| match (a, b) {
        (Some(a), Some(b)) => a == b,
        _ => true,
    };
    agree(&said.etag, &reply.etag)
        && agree(&said.last_modified, &reply.last_modified)
        && (said.total.is_none() || total.is_none() || said.total == total)
}

/// Sleeps, unless the work should stop.
fn sleep(pause: Duration, observer: &dyn Observer) -> Result<()> {
    let end = Instant::now() + pause;
    loop {
        observer.check()?;
        let left = end.saturating_duration_since(Instant::now());
        if left.is_zero() {
            return Ok(());
        }
        std::thread::sleep(left.min(BEAT));
    }
}

/// What can be done without this program's network.
pub(super) fn by_hand(wanted: &Wanted<'_>) -> String {
    format!(
        "fetched by other means, the file belongs to {}",
        wanted.target.display()
    )
}

fn unreachable(client: &Client, wanted: &Wanted<'_>, part: &Part, why: &str) -> Error {
    let what = format!("cannot reach {} ({why})", client.host());
    let hint = format!(
        "check the network or its proxy (HTTPS_PROXY), or name a mirror with --base-url; {}; {}",
        there(wanted, part),
        by_hand(wanted)
    );
    Error::fetch(wanted.url, what, hint)
}

fn gave_up(wanted: &Wanted<'_>, part: &Part, why: &str, retries: u32) -> Error {
    let what = format!("{why}, also after {retries} more tries");
    Error::fetch(wanted.url, what, there(wanted, part))
}

/// How much is there, and what the same command does with it.
fn there(wanted: &Wanted<'_>, part: &Part) -> String {
    let Some(said) = part.said() else {
        return "nothing is there yet, the same command tries again".into();
    };
    let have = match said.total {
        Some(total) => format!("{} of {} are there", size(part.len()), size(total)),
        None => format!("{} are there", size(part.len())),
    };
    if said.validator().is_some() || wanted.sha256.is_some() {
        format!("{have}, the same command goes on from there")
    } else {
        format!("{have}, but the server does not say of what: the same command starts again")
    }
}
