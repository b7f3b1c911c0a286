//! Python pickles, read without Python: what they hold is built by a small machine of our own that knows numbers, strings,
//! lists, tuples, dicts, sets and numpy arrays, and nothing else. A name that is not on its list is refused and nothing is
//! ever executed.

mod construct;
mod escapes;
mod leaderboard;
mod machine;
mod numpy;
#[cfg(test)]
mod tests;
mod view;

use std::io::Read;
use std::path::Path;

use super::source::unreadable;
use super::{ReadOptions, Reading, Source};
use crate::error::{Error, Result};
use crate::progress::Silent;

pub(super) use leaderboard::benchmark;
pub(crate) use leaderboard::{of_pickle, scenario_of};
pub(crate) use view::View;

/// Largest pickle, unpacked: it is held in memory whole.
const LARGEST: u64 = 2 << 30;

/// A value: numbers as they are, everything else by its place among the nodes.
#[derive(Debug, Clone, Copy, PartialEq)]
enum Value {
    None,
    Bool(bool),
    Int(i64),
    Float(f64),
    Node(u32),
}

/// Bytes of the file, or bytes that a constructor made.
#[derive(Debug)]
enum Bytes {
    InFile { first: usize, end: usize },
    Made(Vec<u8>),
}

/// What values refer to. Lists may hold themselves: nothing here walks down the nodes by recursion.
#[derive(Debug)]
enum Node {
    /// Always UTF-8.
    Text(Bytes),
    Bytes(Bytes),
    List(Vec<Value>),
    Tuple(Vec<Value>),
    Set(Vec<Value>),
    Dict(Vec<(Value, Value)>),
    Constructor(construct::Constructor),
    DType(numpy::DType),
    Array(Box<numpy::Array>),
}

/// A pickle as read.
#[derive(Debug)]
pub(crate) struct Pickle {
    data: Vec<u8>,
    nodes: Vec<Node>,
    root: Value,
}

/// True when a file that begins so is a pickle: protocols 2 to 5 by their first opcode, 0 and 1 by an outer dict or list.
pub(crate) fn is_pickle(head: &[u8]) -> bool {
    let numbered = |rest: &[u8]| {
        let digits = rest.iter().take_while(|b| b.is_ascii_digit()).count();
        digits > 0 && rest.get(digits) == Some(&b'\n')
    };
    match head {
        [0x80, version, ..] => *version <= 5,
        [b'(', b'd' | b'l', b'p', rest @ ..] => numbered(rest),
        [b'}' | b']', b'q', _, ..] => true,
        _ => false,
    }
}

/// Reads a pickle.
///
/// # Errors
/// With the byte where it stands: a name that is not on the list, an opcode that is not known, a stack that does not fit, a
/// length beyond the end of the file, more nesting or values than the limits.
pub(crate) fn load(path: &Path, source: Source<'_>) -> Result<Pickle> {
    let mut data = Vec::new();
    source
        .reader()
        .take(LARGEST + 1)
        .read_to_end(&mut data)
        .map_err(|e| unreadable(path, "", e))?;
    if data.len() as u64 > LARGEST {
        return Err(Error::input(
            path,
            format!("more than {} GiB unpacked", LARGEST >> 30),
            "keep the responses only, or write them as CSV",
        ));
    }
    of_bytes(path, data)
}

/// Reads a pickle that is in memory.
fn of_bytes(path: &Path, data: Vec<u8>) -> Result<Pickle> {
    let (nodes, root) = machine::run(path, &data)?;
    Ok(Pickle { data, nodes, root })
}

impl Pickle {
    /// The outermost value.
    pub(crate) fn root(&self) -> View<'_> {
        View::new(self, self.root)
    }

    fn node(&self, value: Value) -> Option<&Node> {
        match value {
            Value::Node(at) => self.nodes.get(at as usize),
            _ => None,
        }
    }

    fn bytes<'a>(&'a self, bytes: &'a Bytes) -> &'a [u8] {
        bytes.of(&self.data)
    }
}

impl Bytes {
    fn of<'a>(&'a self, data: &'a [u8]) -> &'a [u8] {
        match self {
            Self::InFile { first, end } => data.get(*first..*end).unwrap_or(&[]),
            Self::Made(bytes) => bytes,
        }
    }
}

/// The pickle at `path`; `None` where the file is none.
///
/// # Errors
/// [`Error::Io`]; a pickle that cannot be read.
pub(crate) fn pickle(path: &Path) -> Result<Option<Pickle>> {
    let options = ReadOptions::default();
    let reading = Reading::new(&options, &Silent, &[]);
    let source = reading.open(path)?;
    if !is_pickle(source.head()) {
        return Ok(None);
    }
    load(path, source).map(Some)
}

/// A file that is a pickle, but not of anything that this reads.
pub(crate) fn unknown(path: &Path, root: View<'_>) -> Error {
    Error::input(
        path,
        format!(
            "a pickle of {}, none of the structures that this reads",
            root.describe()
        ),
        "a pickle of responses is {\"models\": [...], \"data\": {sub-benchmark: {\"correctness\": items x models}}}; \
         published anchors are tinyBenchmarks.pkl, anchor.pickle or lambds.pickle",
    )
}
