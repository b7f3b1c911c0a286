//! What stands in a pickle itself: bytes, numbers and strings.

use super::super::{Bytes, Node, Value, escapes};
use super::{CUT_OFF, Machine};
use crate::error::Result;

impl Machine<'_> {
    // Bytes of the file.

    /// The place of the next n bytes.
    pub(super) fn take(&mut self, n: u64) -> Result<std::ops::Range<usize>> {
        let left = self.data.len() - self.at;
        match usize::try_from(n) {
            Ok(n) if n <= left => {
                self.at += n;
                Ok(self.at - n..self.at)
            }
            _ => Err(self.wrong(
                format!("{n} bytes are needed and {left} are left in the file"),
                CUT_OFF,
            )),
        }
    }

    /// The next byte.
    pub(super) fn byte(&mut self) -> Result<u8> {
        let range = self.take(1)?;
        Ok(self.data[range.start])
    }

    /// A little-endian number of n bytes, at most 8.
    pub(super) fn unsigned(&mut self, n: usize) -> Result<u64> {
        let range = self.take(n as u64)?;
        let bytes = self.data[range].iter().rev();
        Ok(bytes.fold(0, |sum, b| sum << 8 | u64::from(*b)))
    }

    /// The place of the next line, without its end.
    pub(super) fn line(&mut self) -> Result<std::ops::Range<usize>> {
        let first = self.at;
        match self.data[first..].iter().position(|&b| b == b'\n') {
            Some(length) => {
                self.at = first + length + 1;
                Ok(first..first + length)
            }
            None => Err(self.wrong("the file ends inside a line", CUT_OFF)),
        }
    }

    /// A piece of the file for a message or a name; long ones are cut.
    pub(super) fn lossy(&self, range: std::ops::Range<usize>) -> String {
        let text = String::from_utf8_lossy(&self.data[range]);
        text.trim_end_matches('\r').chars().take(200).collect()
    }

    // Numbers.

    /// An unsigned integer of n bytes.
    pub(super) fn integer(&mut self, n: usize) -> Result<()> {
        let number = self.unsigned(n)?;
        self.push(Value::Int(number as i64))
    }

    /// A two's complement number of any length, as far as it fits 64 bits.
    pub(super) fn long(&mut self, length: usize) -> Result<()> {
        let n = self.unsigned(length)?;
        let range = self.take(n)?;
        let bytes = &self.data[range];
        let fill = if bytes.last().is_some_and(|b| b & 0x80 != 0) {
            0xff
        } else {
            0
        };
        let mut raw = [fill; 8];
        for (i, &b) in bytes.iter().enumerate() {
            match raw.get_mut(i) {
                Some(to) => *to = b,
                None if b == fill => {}
                None => return Err(self.wrong("an integer beyond 64 bits", "")),
            }
        }
        self.push(Value::Int(i64::from_le_bytes(raw)))
    }

    /// A number written out, in a line.
    pub(super) fn decimal(&mut self, opcode: u8) -> Result<()> {
        let line = self.line()?;
        let text = self.lossy(line);
        let text = text.trim();
        let value = match (opcode, text) {
            (b'I', "00") => Some(Value::Bool(false)),
            (b'I', "01") => Some(Value::Bool(true)),
            (b'F', text) => text.parse().ok().map(Value::Float),
            (_, text) => {
                let digits = text.strip_suffix('L').unwrap_or(text);
                digits.parse().ok().map(Value::Int)
            }
        };
        match value {
            Some(value) => self.push(value),
            None => Err(self.wrong(format!("{text:?} is no number of 64 bits"), CUT_OFF)),
        }
    }

    /// A place in the memo, written out in a line.
    pub(super) fn index(&mut self) -> Result<u64> {
        let line = self.line()?;
        let text = self.lossy(line);
        text.trim()
            .parse()
            .map_err(|_| self.wrong(format!("{text:?} is no place in the memo"), CUT_OFF))
    }

    // Strings.

    fn counted(&mut self, length: usize) -> Result<Bytes> {
        let n = self.unsigned(length)?;
        let range = self.take(n)?;
        Ok(Bytes::InFile {
            first: range.start,
            end: range.end,
        })
    }

    /// A string in UTF-8 behind its length.
    pub(super) fn text_of(&mut self, length: usize) -> Result<()> {
        let bytes = self.counted(length)?;
        if std::str::from_utf8(bytes.of(self.data)).is_err() {
            return Err(self.wrong("a string that is not UTF-8", CUT_OFF));
        }
        self.node_on_top(Node::Text(bytes))
    }

    /// Bytes behind their length.
    pub(super) fn bytes_of(&mut self, length: usize) -> Result<()> {
        let bytes = self.counted(length)?;
        self.node_on_top(Node::Bytes(bytes))
    }

    /// A string of Python 2, which may be text or bytes.
    pub(super) fn string_of(&mut self, length: usize) -> Result<()> {
        let bytes = self.counted(length)?;
        self.python2(bytes)
    }

    fn python2(&mut self, bytes: Bytes) -> Result<()> {
        let is_text = std::str::from_utf8(bytes.of(self.data)).is_ok();
        self.node_on_top(if is_text {
            Node::Text(bytes)
        } else {
            Node::Bytes(bytes)
        })
    }

    /// Protocol 0: `'text'` with Python 2's escapes, or text with `\uXXXX`.
    pub(super) fn escaped(&mut self, opcode: u8) -> Result<()> {
        let range = self.line()?;
        self.charge(4 * range.len())
            .map_err(|what| self.wrong(what, ""))?;
        let data = self.data;
        let line = data[range].trim_ascii_end();
        let made = if opcode == b'V' {
            escapes::unicode(line).map(String::into_bytes)
        } else {
            escapes::quoted(line)
        };
        match made {
            Some(text) if opcode == b'V' => self.node_on_top(Node::Text(Bytes::Made(text))),
            Some(bytes) => self.python2(Bytes::Made(bytes)),
            None => Err(self.wrong("a string whose escapes are none", CUT_OFF)),
        }
    }
}
