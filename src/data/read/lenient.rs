//! JSON as programs write it: bare `NaN` and `Infinity` become `null`, outside strings only.

use std::io::{self, Read};

/// The words that are no JSON, and what stands for them.
const WORDS: [&[u8]; 3] = [b"-Infinity", b"Infinity", b"NaN"];

/// Rewrites what it reads; nothing is held back but a few bytes.
pub(super) struct Lenient<R> {
    inner: R,
    /// Bytes that are read but not yet rewritten.
    pending: Vec<u8>,
    /// Bytes that are rewritten but not yet given out, from `given` on.
    ready: Vec<u8>,
    given: usize,
    in_string: bool,
    escaped: bool,
    ended: bool,
}

const CHUNK: usize = 64 * 1024;

impl<R: Read> Lenient<R> {
    /// Over a reader of JSON.
    pub(super) fn new(inner: R) -> Self {
        Self {
            inner,
            pending: Vec::new(),
            ready: Vec::new(),
            given: 0,
            in_string: false,
            escaped: false,
            ended: false,
        }
    }

    fn refill(&mut self) -> io::Result<()> {
        self.ready.clear();
        self.given = 0;
        let start = self.pending.len();
        self.pending.resize(start + CHUNK, 0);
        let n = loop {
            match self.inner.read(&mut self.pending[start..]) {
                Err(e) if e.kind() == io::ErrorKind::Interrupted => {}
                other => break other?,
            }
        };
        self.pending.truncate(start + n);
        self.ended = n == 0;
        let mut at = 0;
        while at < self.pending.len() {
            let byte = self.pending[at];
            if self.in_string {
                match byte {
                    _ if self.escaped => self.escaped = false,
                    b'\\' => self.escaped = true,
                    b'"' => self.in_string = false,
                    _ => {}
                }
            } else if byte == b'"' {
                self.in_string = true;
            } else if matches!(byte, b'N' | b'I' | b'-') {
                let rest = &self.pending[at..];
                if let Some(word) = WORDS.into_iter().find(|w| rest.starts_with(w)) {
                    self.ready.extend_from_slice(b"null");
                    at += word.len();
                    continue;
                }
                // The word may go on in the next stretch.
                if !self.ended && WORDS.into_iter().any(|w| w.starts_with(rest)) {
                    break;
                }
            }
            self.ready.push(byte);
            at += 1;
        }
        self.pending.drain(..at);
        Ok(())
    }
}

impl<R: Read> Read for Lenient<R> {
    fn read(&mut self, out: &mut [u8]) -> io::Result<usize> {
        while self.given == self.ready.len() && !(self.ended && self.pending.is_empty()) {
            self.refill()?;
        }
        let n = out.len().min(self.ready.len() - self.given);
        out[..n].copy_from_slice(&self.ready[self.given..self.given + n]);
        self.given += n;
        Ok(n)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Gives a byte at a time: words are cut everywhere.
    struct Slow<'a>(&'a [u8]);

    impl Read for Slow<'_> {
        fn read(&mut self, out: &mut [u8]) -> io::Result<usize> {
            let n = self.0.len().min(1).min(out.len());
            out[..n].copy_from_slice(&self.0[..n]);
            self.0 = &self.0[n..];
            Ok(n)
        }
    }

    fn rewritten(text: &str) -> String {
        let mut out = String::new();
        Lenient::new(Slow(text.as_bytes()))
            .read_to_string(&mut out)
            .unwrap();
        let mut whole = String::new();
        Lenient::new(text.as_bytes())
            .read_to_string(&mut whole)
            .unwrap();
        assert_eq!(out, whole);
        out
    }

    #[test]
    fn only_bare_words_are_rewritten() {
        assert_eq!(
            rewritten("[NaN, -Infinity,Infinity, -1]"),
            "[null, null,null, -1]"
        );
        assert_eq!(rewritten("{\"NaN\\\"NaN\": NaN}"), "{\"NaN\\\"NaN\": null}");
        assert_eq!(rewritten("[-, N"), "[-, N");
        assert_eq!(rewritten(""), "");
    }
}
