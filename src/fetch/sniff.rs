//! Is this what was asked for? The first and last bytes of a download tell data from the page of a portal.

use crate::data::read::pickle::is_pickle;

/// What a file should hold.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Kind {
    /// Python's pickle.
    Pickle,
    /// A JSON array or object.
    Json,
    /// A table of text.
    Csv,
}

/// How many bytes are enough to tell.
pub(super) const ENOUGH: usize = 512;

impl Kind {
    /// Why a file that begins with `head` is not of this kind.
    pub(super) fn refuse(self, head: &[u8]) -> Option<&'static str> {
        let text = head.strip_prefix(b"\xef\xbb\xbf").unwrap_or(head);
        let first = text.iter().position(|b| !b.is_ascii_whitespace());
        let text = &text[first.unwrap_or(text.len())..];
        if text.starts_with(b"<") {
            return Some("a web page instead of data");
        }
        if text.starts_with(b"version https://git-lfs") {
            return Some("a pointer of Git LFS instead of data");
        }
        match (self, text) {
            (_, []) => Some("an empty file"),
            (Kind::Pickle, _) if !is_pickle(head) => Some("no pickle"),
            (Kind::Json, [first, ..]) if !matches!(first, b'[' | b'{') => Some("no JSON"),
            (Kind::Csv, _) if head.contains(&0) => Some("no text"),
            _ => None,
        }
    }

    /// Why a file that ends with `tail` was cut off.
    pub(super) fn unfinished(self, tail: &[u8]) -> Option<&'static str> {
        let last = tail.iter().rev().find(|b| !b.is_ascii_whitespace());
        match (self, last) {
            (Kind::Pickle, _) if tail.last() != Some(&b'.') => Some("the pickle does not end"),
            (Kind::Json, last) if !matches!(last, Some(b']' | b'}')) => {
                Some("the JSON does not end")
            }
            _ => None,
        }
    }
}

/// Deeper nesting is none of data, and is not held.
const DEEPEST: usize = 10_000;

/// The brackets of JSON, outside its texts: a file that was cut off at one ends like a whole one.
#[derive(Debug, Default)]
pub(super) struct Brackets {
    open: Vec<u8>,
    in_text: bool,
    escaped: bool,
    wrong: bool,
}

impl Brackets {
    /// Takes the next bytes.
    pub(super) fn take(&mut self, bytes: &[u8]) {
        for &b in bytes {
            match (self.in_text, b) {
                (true, _) if self.escaped => self.escaped = false,
                (true, b'\\') => self.escaped = true,
                (_, b'"') => self.in_text = !self.in_text,
                (false, b'[' | b'{') if self.open.len() >= DEEPEST => self.wrong = true,
                // A closing bracket is two after its opening one.
                (false, b'[' | b'{') => self.open.push(b + 2),
                (false, b']' | b'}') => self.wrong |= self.open.pop() != Some(b),
                _ => {}
            }
        }
    }

    /// Why the bytes are not whole.
    pub(super) fn unfinished(&self) -> Option<&'static str> {
        let whole = self.open.is_empty() && !self.in_text && !self.wrong;
        (!whole).then_some("the JSON does not end")
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn data_pass_and_pages_pointers_and_stumps_do_not() {
        for (kind, head) in [
            (Kind::Pickle, &b"\x80\x04\x95"[..]),
            (Kind::Json, b"\n [1"),
            (Kind::Json, b"\xef\xbb\xbf{"),
            (Kind::Csv, b",win_rate\n"),
        ] {
            assert_eq!(kind.refuse(head), None, "{kind:?}");
            assert!(kind.refuse(b"\r\n<!DOCTYPE html>").is_some());
            assert!(
                kind.refuse(b"version https://git-lfs.github.com/spec/v1")
                    .is_some()
            );
            assert!(kind.refuse(b" \n").is_some());
        }
        assert!(Kind::Pickle.refuse(b"{}").is_some() && Kind::Json.refuse(b"\x80\x04").is_some());
        assert_eq!(Kind::Json.unfinished(b"1]\n"), None);
        assert!(Kind::Json.unfinished(b"[1, ").is_some());
        assert!(Kind::Pickle.unfinished(b".x").is_some() && Kind::Csv.unfinished(b"1,2").is_none());
    }
    #[test]
    fn brackets_close_in_their_order_and_texts_hold_none() {
        for (text, whole) in [
            (r#"[{"a": "]\"}{"}, 1]"#, true),
            (r#"[{"a": 1}"#, false),
            (r#"[{"a": 1]}"#, false),
            (r#"{"a": "}"#, false),
            ("[1]]", false),
        ] {
            let mut all = Brackets::default();
            all.take(text.as_bytes());
            let mut pieces = Brackets::default();
            text.bytes().for_each(|b| pieces.take(&[b]));
            assert_eq!(all.unfinished().is_none(), whole, "{text}");
            assert_eq!(pieces.unfinished().is_none(), whole, "{text}");
        }
        let mut deep = Brackets::default();
        deep.take("[".repeat(20_000).as_bytes());
        deep.take("]".repeat(20_000).as_bytes());
        assert!(deep.unfinished().is_some());
    }
}
