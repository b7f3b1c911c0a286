//! Strings of protocol 0.

/// Text with `\uXXXX` and `\UXXXXXXXX`, every other byte a character of Latin-1.
pub(super) fn unicode(line: &[u8]) -> Option<String> {
    let mut text = String::with_capacity(line.len());
    let mut rest = line;
    while let [first, after @ ..] = rest {
        let digits = match (first, after.first()) {
            (b'\\', Some(b'u')) => 4,
            (b'\\', Some(b'U')) => 8,
            _ => {
                text.push(char::from(*first));
                rest = after;
                continue;
            }
        };
        text.push(char::from_u32(hex(after.get(1..=digits)?)?)?);
        rest = &after[digits + 1..];
    }
    Some(text)
}

/// `'...'` or `"..."` with Python 2's escapes.
pub(super) fn quoted(line: &[u8]) -> Option<Vec<u8>> {
    let inner = match line {
        [first @ (b'\'' | b'"'), inner @ .., last] if first == last => inner,
        _ => return None,
    };
    let mut bytes = Vec::with_capacity(inner.len());
    let mut rest = inner;
    while let [first, after @ ..] = rest {
        rest = after;
        if *first != b'\\' {
            bytes.push(*first);
            continue;
        }
        let [escape, after @ ..] = rest else {
            return None;
        };
        rest = after;
        bytes.push(match escape {
            b'n' => b'\n',
            b't' => b'\t',
            b'r' => b'\r',
            b'\\' | b'\'' | b'"' => *escape,
            b'x' => {
                let code = hex(after.get(..2)?)?;
                rest = &after[2..];
                u8::try_from(code).ok()?
            }
            _ => return None,
        });
    }
    Some(bytes)
}

fn hex(digits: &[u8]) -> Option<u32> {
    digits
        .iter()
        .try_fold(0u32, |sum, d| Some(sum << 4 | char::from(*d).to_digit(16)?))
}
