//! A server on loopback that answers as it is told to, faults included.

use std::io::{Read, Write};
use std::net::{TcpListener, TcpStream};
use std::sync::{Arc, Mutex};
use std::thread;
use std::time::Duration;

/// What was asked.
#[derive(Debug, Clone)]
pub(crate) struct Asked {
    pub(crate) path: String,
    headers: Vec<(String, String)>,
}

impl Asked {
    pub(crate) fn header(&self, name: &str) -> Option<&str> {
        let found = self.headers.iter().find(|(n, _)| n == name);
        found.map(|(_, value)| value.as_str())
    }

    /// Where the range that is asked for begins.
    pub(crate) fn from(&self) -> Option<usize> {
        let range = self.header("range")?;
        range
            .strip_prefix("bytes=")?
            .strip_suffix('-')?
            .parse()
            .ok()
    }
}

/// What is answered.
#[derive(Debug, Clone)]
pub(crate) struct Answer {
    status: u16,
    headers: Vec<(String, String)>,
    body: Vec<u8>,
    length: Length,
    /// The connection ends after so many bytes of the body.
    cut: Option<usize>,
    /// Nothing more comes after so many bytes of the body.
    stall: Option<usize>,
    /// So many bytes at once, and the pause after each of them.
    pace: Option<(usize, Duration)>,
}

#[derive(Debug, Clone, Copy, PartialEq)]
enum Length {
    Told,
    Chunked,
}

impl Answer {
    pub(crate) fn ok(body: impl Into<Vec<u8>>) -> Self {
        Self::status(200, body)
    }

    pub(crate) fn status(status: u16, body: impl Into<Vec<u8>>) -> Self {
        Self {
            status,
            headers: Vec::new(),
            body: body.into(),
            length: Length::Told,
            cut: None,
            stall: None,
            pace: None,
        }
    }

    pub(crate) fn missing() -> Self {
        Self::status(404, "not found")
    }

    /// As a server does that knows ranges: the whole file, or the rest where the entity tag is still the same.
    pub(crate) fn ranged(asked: &Asked, body: &[u8], etag: &str) -> Self {
        let same = asked.header("if-range").is_none_or(|v| v == etag);
        match asked.from().filter(|_| same) {
            Some(from) if from >= body.len() => Self::status(416, ""),
            Some(from) => Self::part(body, from, body.len()).header("ETag", etag),
            None => Self::ok(body).header("ETag", etag),
        }
    }

    /// The rest of a file from `from`, said to be `total` long.
    pub(crate) fn part(body: &[u8], from: usize, total: usize) -> Self {
        let range = format!("bytes {from}-{}/{total}", total - 1);
        Self::status(206, &body[from..]).header("Content-Range", &range)
    }

    pub(crate) fn header(mut self, name: &str, value: &str) -> Self {
        self.headers.push((name.into(), value.into()));
        self
    }

    pub(crate) fn chunked(mut self) -> Self {
        self.length = Length::Chunked;
        self
    }

    pub(crate) fn cut(mut self, after: usize) -> Self {
        self.cut = Some(after);
        self
    }

    pub(crate) fn stall(mut self, after: usize) -> Self {
        self.stall = Some(after);
        self
    }

    pub(crate) fn pace(mut self, bytes: usize, pause: Duration) -> Self {
        self.pace = Some((bytes, pause));
        self
    }

    fn send(&self, stream: &mut TcpStream) -> std::io::Result<()> {
        let mut head = format!("HTTP/1.1 {} Said\r\nConnection: close\r\n", self.status);
        for (name, value) in &self.headers {
            head += &format!("{name}: {value}\r\n");
        }
        head += &match self.length {
            Length::Told => format!("Content-Length: {}\r\n\r\n", self.body.len()),
            Length::Chunked => "Transfer-Encoding: chunked\r\n\r\n".into(),
        };
        stream.write_all(head.as_bytes())?;
        let end = self.cut.or(self.stall).unwrap_or(self.body.len());
        let (step, pause) = self.pace.unwrap_or((1 << 16, Duration::ZERO));
        for piece in self.body[..end.min(self.body.len())].chunks(step) {
            if self.length == Length::Chunked {
                stream.write_all(format!("{:x}\r\n", piece.len()).as_bytes())?;
            }
            stream.write_all(piece)?;
            if self.length == Length::Chunked {
                stream.write_all(b"\r\n")?;
            }
            stream.flush()?;
            thread::sleep(pause);
        }
        if self.stall.is_some() {
            // Until the other side has had enough.
            let _ = stream.read(&mut [0; 1]);
        } else if self.cut.is_none() && self.length == Length::Chunked {
            stream.write_all(b"0\r\n\r\n")?;
        }
        Ok(())
    }
}

/// Answers until the test ends.
pub(crate) struct Server {
    pub(crate) base: String,
    log: Arc<Mutex<Vec<Asked>>>,
}

impl Server {
    /// `answer` is given what is asked and how many requests came before.
    pub(crate) fn start(answer: impl Fn(&Asked, usize) -> Answer + Send + Sync + 'static) -> Self {
        let listener = TcpListener::bind("127.0.0.1:0").expect("a port");
        let base = format!("http://{}", listener.local_addr().expect("an address"));
        let log = Arc::new(Mutex::new(Vec::new()));
        let (seen, answer) = (Arc::clone(&log), Arc::new(answer));
        thread::spawn(move || {
            for stream in listener.incoming().flatten() {
                let (seen, answer) = (Arc::clone(&seen), Arc::clone(&answer));
                thread::spawn(move || {
                    let mut stream = stream;
                    let Some(asked) = read(&mut stream) else {
                        return;
                    };
                    let before = {
                        let mut seen = seen.lock().expect("the log");
                        seen.push(asked.clone());
                        seen.len() - 1
                    };
                    let _ = answer(&asked, before).send(&mut stream);
                });
            }
        });
        Self { base, log }
    }

    /// What was asked so far.
    pub(crate) fn asked(&self) -> Vec<Asked> {
        self.log.lock().expect("the log").clone()
    }
}

fn read(stream: &mut TcpStream) -> Option<Asked> {
    let mut head = Vec::new();
    let mut byte = [0];
    while !head.ends_with(b"\r\n\r\n") {
        if stream.read(&mut byte).ok()? == 0 {
            return None;
        }
        head.push(byte[0]);
    }
    let head = String::from_utf8(head).ok()?;
    let mut lines = head.lines();
    let path = lines.next()?.split(' ').nth(1)?.to_owned();
    let headers = lines
        .filter_map(|line| line.split_once(": "))
        .map(|(name, value)| (name.to_lowercase(), value.to_owned()))
        .collect();
    Some(Asked { path, headers })
}
