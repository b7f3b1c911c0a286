//! JSON records as evaluation programs write them: one a line or in an array, cut off at the end where the program was
//! stopped. Records are read one at a time; what a reader does not need is skipped and never held.

use std::fmt;
use std::io::{BufRead, BufReader, Cursor, Read};
use std::path::Path;

use serde::de::{
    DeserializeOwned, DeserializeSeed, Deserializer, Error as _, IgnoredAny, MapAccess, SeqAccess,
    Visitor,
};

use super::json::{self, without_place};
use super::python::{Mended, mend};
use super::source::unreadable;
use super::{Reading, Source};
use crate::error::{Error, Place, Result};

/// Longer lines are not held but parsed as they come.
const LONGEST_HELD: u64 = 8 << 20;
const CHUNK: usize = 256 * 1024;

/// Whoever takes the records of a file.
pub(super) trait Sink {
    /// A record.
    type Record;
    /// What to do about a record that cannot be read.
    const HINT: &'static str;

    /// Reads one record.
    fn read<'de, D: Deserializer<'de>>(
        &self,
        from: D,
    ) -> std::result::Result<Self::Record, D::Error>;

    /// Takes a record that was read.
    fn take(&mut self, record: Self::Record, at: At) -> Result<()>;
}

/// Where a record stands, counted from 1.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum At {
    /// A line of the file.
    Line(u64),
    /// A record of an array.
    Record(u64),
}

impl fmt::Display for At {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Line(n) => write!(f, "line {n}"),
            Self::Record(n) => write!(f, "record {n}"),
        }
    }
}

impl At {
    /// An error at this place.
    pub(super) fn error(self, path: &Path, what: impl fmt::Display, hint: &str) -> Error {
        match self {
            Self::Line(n) => Error::at_line(path, n, what.to_string(), hint),
            Self::Record(n) => Error::input(path, format!("record {n}: {what}"), hint),
        }
    }
}

/// Gives every record of a file to `sink`; the place of a last record that was cut off, where there is one.
///
/// # Errors
/// With line or record: what is no such record; damaged gzip; what `sink` finds.
pub(super) fn each<S: Sink>(
    path: &Path,
    source: Source<'_>,
    depth: usize,
    sink: &mut S,
) -> Result<Option<At>> {
    if source.first_byte() == Some(b'[') {
        return array(path, source, depth, sink);
    }
    let mut reader = BufReader::with_capacity(CHUNK, source.reader());
    let mut line = Vec::new();
    for number in 1.. {
        line.clear();
        let held = reader.by_ref().take(LONGEST_HELD);
        // Only a line feed ends a record, whatever else Unicode calls a line.
        let n = { held }.read_until(b'\n', &mut line);
        if n.map_err(|e| damaged(path, At::Line(number), e))? == 0 {
            break;
        }
        let at = At::Line(number);
        let whole = line.ends_with(b"\n");
        let record = if !whole && line.len() as u64 == LONGEST_HELD {
            long(sink, depth, &line, &mut reader)
        } else if line.trim_ascii().is_empty() {
            continue;
        } else {
            short(sink, depth, &mut line).map_err(|e| (e, whole))
        };
        match record {
            Ok(record) => sink.take(record, at)?,
            Err((e, _)) if e.is_io() => return Err(damaged(path, at, e.into())),
            Err((e, false)) if e.is_eof() => return Ok(Some(at)),
            Err((e, _)) => {
                return Err(Error::Input {
                    place: Place {
                        column: (e.line() > 0).then_some(e.column() as u64),
                        line: Some(number),
                        file: path.to_owned(),
                    },
                    what: format!("not a record: {}", without_place(&e)),
                    hint: S::HINT.into(),
                });
            }
        }
    }
    Ok(None)
}

fn damaged(path: &Path, at: At, e: std::io::Error) -> Error {
    let hint = match e.kind() {
        // A limit; the message names the option.
        std::io::ErrorKind::FileTooLarge => "",
        _ => "the file may be cut off or damaged",
    };
    at.error(path, format_args!("unreadable: {e}"), hint)
}

/// A line in memory: parsed as it stands, and once more where Python wrote what is no JSON.
fn short<S: Sink>(sink: &S, depth: usize, line: &mut [u8]) -> serde_json::Result<S::Record> {
    let within = |bytes: &[u8], depth: usize| {
        let mut from = json::of_slice(bytes, depth)?;
        let record = sink.read(&mut from)?;
        from.end().map(|()| record)
    };
    let parse = |bytes: &[u8]| json::as_deep_as_needed(depth, |depth| within(bytes, depth));
    parse(line).or_else(|e| {
        if mend(&mut false, line, true).1 {
            parse(line)
        } else {
            Err(e)
        }
    })
}

/// A line too long to hold, of which `start` was read; with an error, whether the line had an end.
fn long<S: Sink>(
    sink: &S,
    depth: usize,
    start: &[u8],
    reader: &mut impl BufRead,
) -> std::result::Result<S::Record, (serde_json::Error, bool)> {
    let mut rest = RestOfLine {
        reader,
        ended: false,
    };
    let all = Mended::new(Cursor::new(start).chain(&mut rest));
    let mut from = json::of_reader(all, depth);
    let record = sink
        .read(&mut from)
        .and_then(|record| from.end().map(|()| record));
    drop(from);
    let drained = std::io::copy(&mut rest, &mut std::io::sink());
    let ended = rest.ended;
    match drained {
        Err(e) => Err((serde_json::Error::io(e), ended)),
        Ok(_) => record.map_err(|e| (e, ended)),
    }
}

/// What is left of a line.
struct RestOfLine<'a, R> {
    reader: &'a mut R,
    ended: bool,
}

impl<R: BufRead> Read for RestOfLine<'_, R> {
    fn read(&mut self, out: &mut [u8]) -> std::io::Result<usize> {
        if self.ended || out.is_empty() {
            return Ok(0);
        }
        let there = self.reader.fill_buf()?;
        let n = there.len().min(out.len());
        let end = there[..n].iter().position(|&b| b == b'\n');
        let n = end.unwrap_or(n);
        out[..n].copy_from_slice(&there[..n]);
        self.ended = end.is_some();
        self.reader.consume(n + usize::from(self.ended));
        Ok(n)
    }
}

/// Records of an array, read as they come.
fn array<S: Sink>(
    path: &Path,
    source: Source<'_>,
    depth: usize,
    sink: &mut S,
) -> Result<Option<At>> {
    struct One<'s, S>(&'s S);
    impl<'de, S: Sink> DeserializeSeed<'de> for One<'_, S> {
        type Value = S::Record;

        fn deserialize<D: Deserializer<'de>>(
            self,
            from: D,
        ) -> std::result::Result<Self::Value, D::Error> {
            self.0.read(from)
        }
    }
    struct All<'s, S> {
        sink: &'s mut S,
        count: &'s mut u64,
        refused: &'s mut Option<Error>,
    }
    impl<'de, S: Sink> Visitor<'de> for All<'_, S> {
        type Value = ();

        fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
            f.write_str("an array of records")
        }

        fn visit_seq<A: SeqAccess<'de>>(self, mut seq: A) -> std::result::Result<(), A::Error> {
            while let Some(record) = seq.next_element_seed(One(&*self.sink))? {
                *self.count += 1;
                if let Err(e) = self.sink.take(record, At::Record(*self.count)) {
                    *self.refused = Some(e);
                    return Err(A::Error::custom("refused"));
                }
            }
            Ok(())
        }
    }
    let (mut count, mut refused) = (0, None);
    let mut from = json::of_reader(Mended::new(source.reader()), depth);
    let visitor = All {
        sink,
        count: &mut count,
        refused: &mut refused,
    };
    let read = (&mut from)
        .deserialize_seq(visitor)
        .and_then(|()| from.end());
    let at = At::Record(count + 1);
    match (refused, read) {
        (Some(e), _) => Err(e),
        (None, Ok(())) => Ok(None),
        (None, Err(e)) if e.is_io() => Err(damaged(path, at, e.into())),
        (None, Err(e)) if e.is_eof() => Ok(Some(at)),
        (None, Err(e)) => {
            let what = format!("not a record: {}", without_place(&e));
            Err(at.error(path, what, S::HINT))
        }
    }
}

/// A file that is one array of records, read whole; `kind` says of what ("annotations").
///
/// # Errors
/// With the line: what is no such array; damaged gzip.
pub(super) fn list<T: DeserializeOwned>(
    file: &Path,
    reading: &Reading<'_>,
    kind: &str,
    hint: &str,
) -> Result<Vec<T>> {
    let mut opened = Some(reading.open(file)?);
    let read = |depth| {
        let source = match opened.take() {
            Some(source) => source,
            None => reading.open(file).map_err(serde_json::Error::custom)?,
        };
        json::value(Mended::new(source.reader()), depth)
    };
    json::as_deep_as_needed(reading.limits.depth, read).map_err(|e| {
        if e.is_io() {
            return unreadable(file, "", e.into());
        }
        Error::Input {
            place: Place {
                column: None,
                ..json::place(file, &e)
            },
            what: format!("not a list of {kind}: {}", without_place(&e)),
            hint: hint.into(),
        }
    })
}

/// The value of one answer.
#[derive(Debug, Clone, PartialEq)]
pub(super) enum Cell {
    /// A number or truth value.
    Number(f64),
    /// Null, NaN, or a text that says so.
    Missing,
    /// Something else; texts as they stand.
    Other(String),
}

impl<'de> serde::Deserialize<'de> for Cell {
    fn deserialize<D: Deserializer<'de>>(from: D) -> std::result::Result<Self, D::Error> {
        struct Any;
        impl<'de> Visitor<'de> for Any {
            type Value = Cell;

            fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                f.write_str("a score")
            }
            fn visit_bool<E>(self, right: bool) -> std::result::Result<Cell, E> {
                Ok(Cell::Number(f64::from(right)))
            }
            fn visit_i64<E>(self, x: i64) -> std::result::Result<Cell, E> {
                Ok(Cell::Number(x as f64))
            }
            fn visit_u64<E>(self, x: u64) -> std::result::Result<Cell, E> {
                Ok(Cell::Number(x as f64))
            }
            fn visit_f64<E>(self, x: f64) -> std::result::Result<Cell, E> {
                Ok(Cell::Number(x))
            }
            fn visit_unit<E>(self) -> std::result::Result<Cell, E> {
                Ok(Cell::Missing)
            }
            fn visit_str<E>(self, text: &str) -> std::result::Result<Cell, E> {
                Ok(if super::separated::is_missing(text.trim().as_bytes()) {
                    Cell::Missing
                } else {
                    // Enough for a message.
                    Cell::Other(format!("{:?}", text.chars().take(40).collect::<String>()))
                })
            }
            fn visit_seq<A: SeqAccess<'de>>(
                self,
                mut seq: A,
            ) -> std::result::Result<Cell, A::Error> {
                while seq.next_element::<IgnoredAny>()?.is_some() {}
                Ok(Cell::Other("an array".into()))
            }
            fn visit_map<A: MapAccess<'de>>(
                self,
                mut map: A,
            ) -> std::result::Result<Cell, A::Error> {
                while map.next_entry::<IgnoredAny, IgnoredAny>()?.is_some() {}
                Ok(Cell::Other("an object".into()))
            }
        }
        from.deserialize_any(Any)
    }
}

/// The keys of the first object in a stretch of JSON, as far as the stretch goes; of the first in an array too.
pub(super) fn first_keys(head: &[u8]) -> Vec<String> {
    let mut keys = Vec::new();
    let start = match head.iter().position(|b| !b.is_ascii_whitespace()) {
        Some(at) if head[at] == b'[' => at + 1,
        Some(at) => at,
        None => return keys,
    };
    let (mut depth, mut at) = (0usize, start);
    while let Some(&b) = head.get(at) {
        at += 1;
        match b {
            b'{' | b'[' => depth += 1,
            b'}' | b']' if depth <= 1 => break,
            b'}' | b']' => depth -= 1,
            b'"' => {
                let from = at;
                while head.get(at).is_some_and(|&b| b != b'"') {
                    at += 1 + usize::from(head[at] == b'\\');
                }
                let text = head.get(from..at).unwrap_or(&[]);
                at += 1;
                let next = head.get(at..).unwrap_or(&[]).trim_ascii_start();
                if depth == 1 && next.first() == Some(&b':') {
                    keys.push(String::from_utf8_lossy(text).into_owned());
                }
            }
            _ => {}
        }
    }
    keys
}
