//! What Python's `json` writes that is no JSON: bare NaN and Infinity, and halves of surrogate pairs.

use std::io::{self, Read};

use serde::de::Error as _;
use serde::{Deserialize, Deserializer};

/// As long as the longest sequence that is looked at as a whole: two escaped halves of a pair.
const AHEAD: usize = 12;
const CHUNK: usize = 64 * 1024;

/// Makes JSON of a stretch, in place and without a change of length: outside strings NaN becomes an empty string and an
/// infinity null (both missing), inside them half a pair becomes U+FFFD. `in_string` goes from stretch to stretch. Returns
/// how far it came (short of the end by up to [`AHEAD`] bytes where more follows) and whether it changed anything.
pub(crate) fn mend(in_string: &mut bool, bytes: &mut [u8], last: bool) -> (usize, bool) {
    let (mut at, mut changed) = (0, false);
    while at < bytes.len() && (last || at + AHEAD <= bytes.len()) {
        let rest = &mut bytes[at..];
        at += match (*in_string, rest[0]) {
            (_, b'"') => {
                *in_string = !*in_string;
                1
            }
            (true, b'\\') => match surrogate(rest) {
                Some(half) if half < 0xdc00 => {
                    let low = rest.get(6..).and_then(surrogate);
                    if low.is_some_and(|low| low >= 0xdc00) {
                        12
                    } else {
                        rest[2..6].copy_from_slice(b"fffd");
                        changed = true;
                        6
                    }
                }
                Some(_) => {
                    rest[2..6].copy_from_slice(b"fffd");
                    changed = true;
                    6
                }
                None => 2,
            },
            (false, b'N' | b'I' | b'-') => {
                let known = [
                    (&b"NaN"[..], &b"\"\" "[..]),
                    (b"Infinity", b"null    "),
                    (b"-Infinity", b"null     "),
                ];
                match known.iter().find(|(bare, _)| rest.starts_with(bare)) {
                    Some((bare, json)) => {
                        rest[..bare.len()].copy_from_slice(json);
                        changed = true;
                        bare.len()
                    }
                    None => 1,
                }
            }
            _ => 1,
        };
    }
    (at.min(bytes.len()), changed)
}

/// The half of a pair that an escape at the start of `text` stands for.
fn surrogate(text: &[u8]) -> Option<u16> {
    let digits = text.strip_prefix(b"\\u")?.get(..4)?;
    let code = u16::from_str_radix(std::str::from_utf8(digits).ok()?, 16).ok()?;
    (0xd800..0xe000).contains(&code).then_some(code)
}

/// A number, or missing: null, or what [`mend`] makes of NaN.
pub(super) fn number<'de, D: Deserializer<'de>>(
    deserializer: D,
) -> std::result::Result<Option<f64>, D::Error> {
    #[derive(Deserialize)]
    #[serde(untagged)]
    enum Cell {
        Number(f64),
        Text(String),
    }
    match Option::<Cell>::deserialize(deserializer)? {
        Some(Cell::Number(x)) => Ok(Some(x)),
        Some(Cell::Text(text)) if !text.is_empty() => {
            Err(D::Error::custom(format!("{text:?} is no number")))
        }
        Some(Cell::Text(_)) | None => Ok(None),
    }
}

/// A stream with [`mend`] applied.
pub(super) struct Mended<R> {
    reader: R,
    buffer: Vec<u8>,
    given: usize,
    ready: usize,
    in_string: bool,
    ended: bool,
}

impl<R: Read> Mended<R> {
    pub(super) fn new(reader: R) -> Self {
        Self {
            reader,
            buffer: Vec::new(),
            given: 0,
            ready: 0,
            in_string: false,
            ended: false,
        }
    }

    fn fill(&mut self) -> io::Result<()> {
        self.buffer.drain(..self.ready);
        self.given = 0;
        self.ready = 0;
        while self.ready == 0 && !(self.ended && self.buffer.is_empty()) {
            if !self.ended {
                let n = self
                    .reader
                    .by_ref()
                    .take(CHUNK as u64)
                    .read_to_end(&mut self.buffer)?;
                self.ended = n == 0;
            }
            let (ready, _) = mend(&mut self.in_string, &mut self.buffer, self.ended);
            self.ready = ready;
        }
        Ok(())
    }
}

impl<R: Read> Read for Mended<R> {
    fn read(&mut self, out: &mut [u8]) -> io::Result<usize> {
        if self.given == self.ready {
            self.fill()?;
        }
        let n = out.len().min(self.ready - self.given);
        out[..n].copy_from_slice(&self.buffer[self.given..self.given + n]);
        self.given += n;
        Ok(n)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn bare_numbers_and_half_pairs_are_mended_across_chunks_and_nothing_else_is_touched() {
        let record = r#"{"a": NaN, "NaN \" -Infinity": [-Infinity, -1, Infinity], "s": "\ud83d x \ud83d\ude00 \\ud83d"}"#;
        let mended = r#"{"a": "" , "NaN \" -Infinity": [null     , -1, null    ], "s": "\ufffd x \ud83d\ude00 \\ud83d"}"#;
        let mut bytes = record.as_bytes().to_vec();
        assert_eq!(mend(&mut false, &mut bytes, true), (record.len(), true));
        assert_eq!(String::from_utf8(bytes).unwrap(), mended);
        let many = record.repeat(3000);
        let mut out = String::new();
        Mended::new(many.as_bytes())
            .read_to_string(&mut out)
            .unwrap();
        assert_eq!(out, mended.repeat(3000));
    }
}
