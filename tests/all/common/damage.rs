//! Damage to valid files, for tests that no input makes a reader panic, hang or take memory without bound.

#![allow(dead_code)]

use proptest::prelude::*;
use proptest::sample::Index;

/// One change of a file.
#[derive(Debug, Clone)]
pub(crate) enum Damage {
    /// Another byte.
    Flip(Place, u8),
    /// A stretch is gone.
    Cut(Place, Place),
    /// Everything after is gone.
    End(Place),
    /// A stretch stands twice.
    Twice(Place, Place),
    /// Two stretches side by side change places.
    Swap(Place, Place, Place),
    /// A token in between.
    Insert(Place, &'static Odd),
    /// A token instead of a stretch, or of the value that stands there.
    Replace(Place, Option<Place>, &'static Odd),
}

/// Where: any byte, or the next one that separates values, where a change often leaves a file that can be parsed.
#[derive(Debug, Clone)]
pub(crate) struct Place {
    at: Index,
    between: bool,
}

/// What no reader expects: a text, so many times.
#[derive(Debug)]
pub(crate) struct Odd(&'static [u8], usize);

const ODD: &[Odd] = &[
    // Nesting below and above what parsers bear, closed and open.
    Odd(b"[", 4),
    Odd(b"[", 100),
    Odd(b"[", 5000),
    Odd(b"{\"a\":", 100),
    Odd(b"{\"a\":", 5000),
    Odd(b"]", 3),
    Odd(b"[[[[]]]]", 1),
    Odd(b"{}", 1),
    Odd(b"null", 1),
    Odd(b"true", 1),
    Odd(b"0", 1),
    Odd(b"1", 1),
    Odd(b"-1", 1),
    Odd(b"0.5", 1),
    Odd(b"NaN", 1),
    Odd(b"-Infinity", 1),
    Odd(b"inf", 1),
    Odd(b"1e999", 1),
    Odd(b"-1e999", 1),
    Odd(b"1e-999", 1),
    Odd(b"-0.0", 1),
    Odd(b"18446744073709551615", 1),
    Odd(b"18446744073709551616", 1),
    Odd(b"9", 400),
    Odd(b"0x10", 1),
    Odd(b"\"\"", 1),
    Odd(b"\"x\"", 1),
    Odd(b"\"", 1),
    Odd(b"\\", 1),
    Odd(b"'", 1),
    // Names: long (beyond what is looked at first), no letter, half a pair, no UTF-8.
    Odd(b"long", 20_000),
    Odd(b" ", 300),
    Odd(b"../", 20),
    Odd(b"/", 1),
    Odd(b"\\ud800", 1),
    Odd(b"\\udc00\\ud800", 1),
    Odd(b"\\u0000", 1),
    Odd(b"\\u001b[2J", 1),
    Odd(b"\xed\xa0\x80", 1),
    Odd(b"\xff\xfe", 1),
    Odd(b"\xef\xbb\xbf", 1),
    Odd("\u{2028}".as_bytes(), 1),
    Odd("\u{202e}".as_bytes(), 1),
    Odd("e\u{301}".as_bytes(), 1),
    // Control characters, separators of lines and cells.
    Odd(b"\0", 1),
    Odd(b"\x1b", 1),
    Odd(b"\x7f", 1),
    Odd(b"\r", 1),
    Odd(b"\n", 1),
    Odd(b"\r\n\r\n", 1),
    Odd(b"\n", 1000),
    Odd(b",", 1),
    Odd(b",", 1000),
    Odd(b";", 1),
    Odd(b"\t", 1),
    Odd(b":", 1),
    Odd(b"model,item,score", 1),
    Odd(b"#", 1),
    // The first bytes of other formats.
    Odd(b"\x1f\x8b", 1),
    Odd(b"\x80\x04", 1),
    Odd(b"(dp0\n", 1),
];

/// One to four changes, in order.
pub(crate) fn damages() -> impl Strategy<Value = Vec<Damage>> {
    let odd = || prop::sample::select(ODD.iter().collect::<Vec<&'static Odd>>());
    let one = prop_oneof![
        2 => (place(), any::<u8>()).prop_map(|(at, b)| Damage::Flip(at, b)),
        2 => (place(), place()).prop_map(|(a, b)| Damage::Cut(a, b)),
        1 => place().prop_map(Damage::End),
        2 => (place(), place()).prop_map(|(a, b)| Damage::Twice(a, b)),
        2 => (place(), place(), place()).prop_map(|(a, b, c)| Damage::Swap(a, b, c)),
        4 => (place(), odd()).prop_map(|(at, odd)| Damage::Insert(at, odd)),
        4 => (place(), prop::option::weighted(0.3, place()), odd())
            .prop_map(|(a, b, odd)| Damage::Replace(a, b, odd)),
    ];
    prop::collection::vec(one, 1..5)
}

fn place() -> impl Strategy<Value = Place> {
    (any::<Index>(), prop::bool::weighted(0.7)).prop_map(|(at, between)| Place { at, between })
}

impl Place {
    fn of(&self, bytes: &[u8]) -> usize {
        let at = self.at.index(bytes.len() + 1);
        let separates = |b: &u8| b"{}[],;:\t\n\" ".contains(b);
        match bytes[at..].iter().position(separates) {
            Some(further) if self.between => at + further,
            _ => at,
        }
    }
}

/// The value that stands at a place or after it: a string, a number, a cell.
fn value(bytes: &[u8], at: usize) -> std::ops::Range<usize> {
    let rest = &bytes[at..];
    let skip = rest.iter().take_while(|b| b"{}[],;: \t\n".contains(b));
    let skip = skip.count();
    let rest = &rest[skip..];
    let len = match rest.first() {
        Some(b'"') => rest[1..].iter().position(|&b| b == b'"').map(|n| n + 2),
        _ => rest.iter().position(|b| b"{}[],;:\t\n".contains(b)),
    };
    at + skip..at + skip + len.unwrap_or(rest.len())
}

/// The file with these changes; positions are of the file as it then is.
pub(crate) fn damaged(valid: &[u8], damages: &[Damage]) -> Vec<u8> {
    let mut bytes = valid.to_vec();
    for damage in damages {
        let stretch = |a: &Place, b: &Place| {
            let (a, b) = (a.of(&bytes), b.of(&bytes));
            a.min(b)..a.max(b)
        };
        match damage {
            Damage::Flip(at, byte) => {
                let at = at.of(&bytes);
                if let Some(b) = bytes.get_mut(at) {
                    *b = *byte;
                }
            }
            Damage::Cut(a, b) => drop(bytes.drain(stretch(a, b))),
            Damage::End(at) => bytes.truncate(at.of(&bytes)),
            Damage::Twice(a, b) => {
                let stretch = stretch(a, b);
                let copy = bytes[stretch.clone()].to_vec();
                bytes.splice(stretch.end..stretch.end, copy);
            }
            Damage::Swap(a, b, c) => {
                let mut at = [a.of(&bytes), b.of(&bytes), c.of(&bytes)];
                at.sort_unstable();
                bytes[at[0]..at[2]].rotate_left(at[1] - at[0]);
            }
            Damage::Insert(at, odd) => {
                let at = at.of(&bytes);
                bytes.splice(at..at, odd.0.repeat(odd.1));
            }
            Damage::Replace(a, Some(b), odd) => {
                let stretch = stretch(a, b);
                bytes.splice(stretch, odd.0.repeat(odd.1));
            }
            Damage::Replace(at, None, odd) => {
                let value = value(&bytes, at.of(&bytes));
                bytes.splice(value, odd.0.repeat(odd.1));
            }
        }
    }
    bytes
}
