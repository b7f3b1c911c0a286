//! The bytes of a file, unpacked where it is gzip.

use std::fs::File;
use std::io::{self, BufRead, BufReader, Cursor, Read};
use std::path::Path;

use flate2::bufread::MultiGzDecoder;

use crate::error::{Error, Result};

/// Bytes to read, with a first stretch already seen.
pub(crate) struct Source {
    head: Vec<u8>,
    rest: Box<dyn Read>,
}

const HEAD: usize = 64 * 1024;

/// Opens a file; gzip is recognised by its first bytes, a UTF-8 byte-order mark is taken off.
pub(crate) fn open(path: &Path) -> Result<Source> {
    if path.is_dir() {
        return Err(Error::input(
            path,
            "a folder, not a file",
            "name the file in it",
        ));
    }
    let failed = |e| Error::io(path, "reading", e);
    let file = File::open(path).map_err(failed)?;
    Source::new(BufReader::with_capacity(HEAD, file)).map_err(failed)
}

impl Source {
    /// Bytes in memory (a bundled demo).
    #[allow(dead_code)]
    pub(crate) fn bytes(bytes: &'static [u8]) -> io::Result<Self> {
        Self::new(Cursor::new(bytes))
    }

    fn new(mut raw: impl BufRead + 'static) -> io::Result<Self> {
        let mut rest: Box<dyn Read> = if raw.fill_buf()?.starts_with(&[0x1f, 0x8b]) {
            Box::new(MultiGzDecoder::new(raw))
        } else {
            Box::new(raw)
        };
        let mut head = Vec::with_capacity(HEAD);
        rest.by_ref().take(HEAD as u64).read_to_end(&mut head)?;
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
            Err(e) => e.error_len().is_none() && self.head.len() >= HEAD - 3,
        };
        utf8 && !self
            .head
            .iter()
            .any(|&b| b < 0x20 && !matches!(b, b'\t' | b'\n' | b'\r' | 0x0c))
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
            Err(e) => Err(Error::io(path, "reading", e)),
        }
    }

    /// All of it, as a stream.
    pub(crate) fn reader(self) -> impl Read {
        Cursor::new(self.head).chain(self.rest)
    }
}
