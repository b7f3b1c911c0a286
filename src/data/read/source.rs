//! The bytes of a file, unpacked where it is gzip.

use std::cell::{Cell, RefCell};
use std::io::{self, BufRead, Cursor, Read};
use std::path::Path;
use std::rc::Rc;

use flate2::bufread::MultiGzDecoder;
use sha2::{Digest, Sha256};

use crate::error::{Error, Result};

/// Bytes to read, with a first stretch already seen.
pub(crate) struct Source<'a> {
    head: Vec<u8>,
    rest: Box<dyn Read + 'a>,
}

/// Unpacked text up to this size may be as dense as it likes.
const DENSE: u64 = 64 << 20;

/// How many packed bytes were read so far, and the most bytes that one of them may unpack to.
pub(super) type Packed = (Rc<Cell<u64>>, u64);

impl<'a> Source<'a> {
    /// Length of the first stretch.
    pub(super) const HEAD: usize = 64 * 1024;

    /// Bytes in memory (a bundled demo).
    pub(crate) fn bytes(bytes: &'static [u8]) -> io::Result<Self> {
        Self::new(Cursor::new(bytes), None)
    }

    /// Unpacks where the bytes are gzip, within the limit of `packed` where there is one.
    pub(super) fn new(mut raw: impl BufRead + 'a, packed: Option<Packed>) -> io::Result<Self> {
        let mut rest: Box<dyn Read + 'a> = if raw.fill_buf()?.starts_with(&[0x1f, 0x8b]) {
            let unpacked = MultiGzDecoder::new(raw);
            match packed {
                Some(packed) => Box::new(Unpacked {
                    unpacked,
                    packed,
                    given: 0,
                }),
                None => Box::new(unpacked),
            }
        } else {
            Box::new(raw)
        };
        let mut head = Vec::with_capacity(Self::HEAD);
        rest.by_ref()
            .take(Self::HEAD as u64)
            .read_to_end(&mut head)?;
        if head.starts_with(&[0xef, 0xbb, 0xbf]) {
            head.drain(..3);
        }
        Ok(Self { head, rest })
    }

    /// The first byte that is not white space.
    pub(crate) fn first_byte(&self) -> Option<u8> {
        self.head.iter().copied().find(|b| !b.is_ascii_whitespace())
    }

    /// The first stretch of the file (up to 64 KiB).
    pub(crate) fn head(&self) -> &[u8] {
        &self.head
    }

    /// True when the first stretch has no control characters that text does not have, and is UTF-8.
    pub(crate) fn looks_like_text(&self) -> bool {
        let utf8 = match std::str::from_utf8(&self.head) {
            Ok(_) => true,
            // Cut inside a character at the end of the stretch.
            Err(e) => e.error_len().is_none() && self.head.len() >= Self::HEAD - 3,
        };
        utf8 && !self
            .head
            .iter()
            .any(|&b| b < 0x20 && !matches!(b, b'\t' | b'\n' | b'\r' | 0x0c))
    }

    /// The same bytes, unpacked and without a byte-order mark, which are summed up as they are read.
    pub(super) fn summed(self, sum: Rc<RefCell<Sha256>>) -> Self {
        sum.borrow_mut().update(&self.head);
        Self {
            head: self.head,
            rest: Box::new(Summed {
                reader: self.rest,
                sum,
            }),
        }
    }

    /// All of it, as text.
    pub(crate) fn text(self, path: &Path) -> Result<String> {
        let mut text = String::new();
        match self.reader().read_to_string(&mut text) {
            Ok(_) => Ok(text),
            Err(e) if e.kind() == io::ErrorKind::InvalidData => Err(Error::input(
                path,
                "the text is not UTF-8",
                "save the file as UTF-8",
            )),
            Err(e) => Err(unreadable(path, "", e)),
        }
    }

    /// All of it, as a stream.
    pub(crate) fn reader(self) -> impl Read + 'a {
        Cursor::new(self.head).chain(self.rest)
    }
}

/// A stream that sums up what is read of it.
struct Summed<R> {
    reader: R,
    sum: Rc<RefCell<Sha256>>,
}

impl<R: Read> Read for Summed<R> {
    fn read(&mut self, out: &mut [u8]) -> io::Result<usize> {
        let n = self.reader.read(out)?;
        self.sum.borrow_mut().update(&out[..n]);
        Ok(n)
    }
}

/// Gzip that may not unpack to more than so many times its size: a small file could fill the memory otherwise.
struct Unpacked<R> {
    unpacked: R,
    packed: Packed,
    given: u64,
}

impl<R: Read> Read for Unpacked<R> {
    fn read(&mut self, out: &mut [u8]) -> io::Result<usize> {
        let n = self.unpacked.read(out)?;
        self.given += n as u64;
        let (packed, most) = (self.packed.0.get().max(1), self.packed.1);
        if self.given > DENSE && self.given / packed > most {
            return Err(io::Error::new(
                io::ErrorKind::FileTooLarge,
                format!(
                    "it unpacks to more than {most} times its size (--max-ratio raises the limit)"
                ),
            ));
        }
        Ok(n)
    }
}

/// The error of a file that cannot be read on; `after` says how far it came ("after line 3"), or nothing.
pub(super) fn unreadable(path: &Path, after: &str, e: io::Error) -> Error {
    let after = if after.is_empty() {
        String::new()
    } else {
        format!(" {after}")
    };
    match e.kind() {
        io::ErrorKind::FileTooLarge => Error::input(path, format!("unreadable{after}: {e}"), ""),
        io::ErrorKind::InvalidInput | io::ErrorKind::InvalidData | io::ErrorKind::UnexpectedEof => {
            Error::input(
                path,
                format!("unreadable{after}: {e}"),
                "the file may be cut off or damaged",
            )
        }
        _ => Error::io(path, "reading", e),
    }
}
