//! JSON that nests no deeper than the limit. The parser's own limit guards the stack; where the user raises it, the bytes are
//! counted before the parser sees them.

use std::io::{self, BufReader, Read};
use std::path::Path;

use serde::Deserialize;
use serde::de::{DeserializeOwned, Error as _};
use serde_json::Deserializer;
use serde_json::de::{IoRead, SliceRead};

use crate::error::Place;

/// The limit of the parser itself, in the values that are read; what a reader skips may be deeper.
pub const DEPTH: usize = 128;
/// The deepest nesting that can be asked for: the stack holds it.
pub const DEEPEST: usize = 1_000;

const CHUNK: usize = 256 * 1024;

/// A parser of bytes in memory.
///
/// # Errors
/// Nesting deeper than `most`, where that is above [`DEPTH`].
pub(super) fn of_slice(
    bytes: &[u8],
    most: usize,
) -> serde_json::Result<Deserializer<SliceRead<'_>>> {
    let mut from = Deserializer::from_slice(bytes);
    if most > DEPTH {
        if let Some(at) = Depth::default().beyond(bytes, most) {
            let what = format!("{}, byte {}", too_deep(most), at + 1);
            return Err(serde_json::Error::custom(what));
        }
        from.disable_recursion_limit();
    }
    Ok(from)
}

/// A parser of a stream, read in large pieces.
pub(super) fn of_reader<R: Read>(
    reader: R,
    most: usize,
) -> Deserializer<IoRead<BufReader<Shallow<R>>>> {
    let guard = (most > DEPTH).then(Depth::default);
    let shallow = Shallow {
        reader,
        most,
        guard,
    };
    let mut from = Deserializer::from_reader(BufReader::with_capacity(CHUNK, shallow));
    if most > DEPTH {
        from.disable_recursion_limit();
    }
    from
}

/// The one value of a text.
pub(super) fn text<'de, T: Deserialize<'de>>(text: &'de str, most: usize) -> serde_json::Result<T> {
    as_deep_as_needed(most, |most| {
        let mut from = of_slice(text.as_bytes(), most)?;
        let value = T::deserialize(&mut from)?;
        from.end()?;
        Ok(value)
    })
}

/// Parses within the parser's own limit, and only where that is too little within the one that was raised: what a reader skips
/// is counted then, and raising the limit must not refuse what was read without.
pub(super) fn as_deep_as_needed<T>(
    most: usize,
    mut parse: impl FnMut(usize) -> serde_json::Result<T>,
) -> serde_json::Result<T> {
    match parse(DEPTH.min(most)) {
        Err(e) if most > DEPTH && without_place(&e) == too_deep(DEPTH) => parse(most),
        parsed => parsed,
    }
}

/// The one value of a stream.
pub(super) fn value<T: DeserializeOwned>(reader: impl Read, most: usize) -> serde_json::Result<T> {
    let mut from = of_reader(reader, most);
    let value = T::deserialize(&mut from)?;
    from.end()?;
    Ok(value)
}

/// Where in a file an error of the parser stands; the file as a whole where the parser did not begin.
pub(super) fn place(file: &Path, e: &serde_json::Error) -> Place {
    let known = e.line() > 0;
    Place {
        file: file.to_owned(),
        line: known.then_some(e.line() as u64),
        column: known.then_some(e.column() as u64),
    }
}

fn too_deep(most: usize) -> String {
    format!("nested deeper than {most} levels (--max-depth raises the limit)")
}

/// serde_json repeats the place at the end of its message; ours stands in front. Its word for too much nesting is ours.
pub(crate) fn without_place(e: &serde_json::Error) -> String {
    let text = e.to_string();
    let text = text.rfind(" at line ").map_or(&*text, |at| &text[..at]);
    if text == "recursion limit exceeded" {
        too_deep(DEPTH)
    } else {
        text.to_owned()
    }
}

/// How deep the brackets of JSON stand.
#[derive(Debug, Default)]
struct Depth {
    now: usize,
    in_string: bool,
    escaped: bool,
}

impl Depth {
    /// Counts on; where the depth is first above `most`.
    fn beyond(&mut self, bytes: &[u8], most: usize) -> Option<usize> {
        for (at, &b) in bytes.iter().enumerate() {
            match (self.in_string, b) {
                (true, _) if self.escaped => self.escaped = false,
                (true, b'\\') => self.escaped = true,
                (_, b'"') => self.in_string = !self.in_string,
                (false, b'[' | b'{') => self.now += 1,
                (false, b']' | b'}') => self.now = self.now.saturating_sub(1),
                _ => {}
            }
            if self.now > most {
                return Some(at);
            }
        }
        None
    }
}

/// A stream that ends with an error where it nests too deep.
pub(super) struct Shallow<R> {
    reader: R,
    most: usize,
    guard: Option<Depth>,
}

impl<R: Read> Read for Shallow<R> {
    fn read(&mut self, out: &mut [u8]) -> io::Result<usize> {
        let n = self.reader.read(out)?;
        let guard = self.guard.as_mut();
        if guard.is_none_or(|depth| depth.beyond(&out[..n], self.most).is_none()) {
            return Ok(n);
        }
        let kind = io::ErrorKind::FileTooLarge;
        Err(io::Error::new(kind, too_deep(self.most)))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::Value;

    #[test]
    fn a_raised_limit_refuses_nothing_that_the_default_reads() {
        #[derive(Deserialize)]
        struct Kept {
            kept: Value,
        }
        let nested = |n: usize| format!("{}{}", "[".repeat(n), "]".repeat(n));
        let both = |kept, skipped| {
            let text = format!(
                r#"{{"skipped": {}, "kept": {}}}"#,
                nested(skipped),
                nested(kept)
            );
            super::text::<Kept>(&text, 200).map(|found| found.kept)
        };
        assert!(both(10, 400).is_ok() && both(150, 150).is_ok());
        assert!(both(250, 10).is_err());
    }

    #[test]
    fn nesting_ends_with_the_option_that_raises_it_in_memory_and_in_streams() {
        let nested = |n: usize| format!("{}\"[\\\"[\"{}", "[".repeat(n), "]".repeat(n));
        for (n, most, fits) in [
            (120, DEPTH, true),
            (130, DEPTH, false),
            (130, 200, true),
            (200, 200, true),
            (201, 200, false),
            (DEEPEST, DEEPEST, true),
            (100_000, DEEPEST, false),
        ] {
            let text = nested(n);
            let slice =
                of_slice(text.as_bytes(), most).and_then(|mut from| Value::deserialize(&mut from));
            let stream = value::<Value>(text.as_bytes(), most);
            for read in [slice, stream] {
                assert_eq!(read.is_ok(), fits, "{n} of {most}");
                if let Err(e) = read {
                    let said = without_place(&e);
                    assert!(said.contains("--max-depth"), "{said}");
                    assert!(said.contains(&format!("{most} levels")), "{said}");
                }
            }
        }
    }
}
