//! Numbers and names as the screen writes them: scores and errors in percent, correlations and
//! weights without a leading zero.

use unicode_width::{UnicodeWidthChar, UnicodeWidthStr};

/// A share in percent with so many digits; a dash where there is none.
pub(crate) fn percent(share: f64, digits: usize) -> String {
    if share.is_finite() {
        format!("{:.digits$}", share * 100.0)
    } else {
        "-".into()
    }
}

/// A difference of shares in percent with its sign.
pub(crate) fn signed(share: f64, digits: usize) -> String {
    if !share.is_finite() {
        return "-".into();
    }
    let text = format!("{:+.digits$}", share * 100.0);
    // "-0.0" is only rounding.
    if text
        .trim_start_matches(['+', '-'])
        .chars()
        .all(|c| c == '0' || c == '.')
    {
        text.trim_start_matches(['+', '-']).to_string()
    } else {
        text
    }
}

/// A number near [0, 1] as .43, -.12 or 1.00.
pub(crate) fn unit(value: f64, digits: usize) -> String {
    if !value.is_finite() {
        return "-".into();
    }
    let text = format!("{value:.digits$}");
    if let Some(rest) = text.strip_prefix("0.") {
        format!(".{rest}")
    } else if let Some(rest) = text.strip_prefix("-0.") {
        if rest.chars().all(|c| c == '0') {
            format!(".{rest}")
        } else {
            format!("-.{rest}")
        }
    } else {
        text
    }
}

/// The beginning of `text` in at most `width` columns; an ellipsis where something is cut.
pub(crate) fn fit(text: &str, width: usize) -> String {
    if text.width() <= width {
        return text.to_string();
    }
    let mut out = String::new();
    let mut used = 0;
    for c in text.chars() {
        let w = c.width().unwrap_or(0);
        if used + w + 1 > width {
            break;
        }
        out.push(c);
        used += w;
    }
    if width > 0 {
        out.push('…');
    }
    out
}

/// The end of `text` in at most `width` columns, for names whose ends tell them apart.
pub(crate) fn fit_end(text: &str, width: usize) -> String {
    if text.width() <= width {
        return text.to_string();
    }
    let mut out = Vec::new();
    let mut used = 1;
    for c in text.chars().rev() {
        used += c.width().unwrap_or(0);
        if used > width {
            break;
        }
        out.push(c);
    }
    if width > 0 {
        out.push('…');
    }
    out.into_iter().rev().collect()
}

/// Both ends of `text` in at most `width` columns: names of models differ at either.
pub(crate) fn fit_middle(text: &str, width: usize) -> String {
    if text.width() <= width || width < 8 {
        return fit(text, width);
    }
    let tail = fit_end(text, width / 3 + 1);
    let head = fit(text, width - tail.width() + 1);
    format!("{}{tail}", head.trim_end_matches('…'))
}

/// `text` filled up to `width` columns with spaces on the right.
pub(crate) fn left(text: &str, width: usize) -> String {
    let text = fit(text, width);
    let gap = width.saturating_sub(text.width());
    text + &" ".repeat(gap)
}

/// `text` filled up to `width` columns with spaces on the left.
pub(crate) fn right(text: &str, width: usize) -> String {
    let text = fit(text, width);
    let gap = width.saturating_sub(text.width());
    " ".repeat(gap) + &text
}

/// A text in lines of at most `width` columns, broken between words where that is possible.
pub(crate) fn wrap(text: &str, width: usize) -> Vec<String> {
    let mut lines = Vec::new();
    let mut line = String::new();
    for word in text.split_whitespace() {
        let mut rest = word;
        loop {
            let gap = usize::from(!line.is_empty());
            if line.width() + gap + rest.width() <= width {
                if gap > 0 {
                    line.push(' ');
                }
                line.push_str(rest);
                break;
            }
            if !line.is_empty() {
                lines.push(std::mem::take(&mut line));
                continue;
            }
            // One word is longer than a line.
            let mut end = 0;
            let mut used = 0;
            for (at, c) in rest.char_indices() {
                used += c.width().unwrap_or(0);
                if used > width && end > 0 {
                    break;
                }
                end = at + c.len_utf8();
            }
            lines.push(rest[..end].to_string());
            rest = &rest[end..];
            if rest.is_empty() {
                break;
            }
        }
    }
    if !line.is_empty() || lines.is_empty() {
        lines.push(line);
    }
    lines
}

/// A text without control characters; tabs and line ends become spaces and new lines.
pub(crate) fn clean(text: &str) -> String {
    text.chars()
        .filter_map(|c| match c {
            '\n' => Some('\n'),
            '\t' => Some(' '),
            '\u{2028}' | '\u{2029}' => Some('\n'),
            c if c.is_control() || is_bidi(c) => None,
            c => Some(c),
        })
        .collect()
}

/// A name without control characters, in one line; of an absurdly long one only both ends, because
/// the whole would be measured again in every frame.
pub(crate) fn brief(name: &str) -> String {
    const END: usize = 300;
    let one_line = |text: &str| clean(text).replace('\n', " ");
    if name.len() <= 2 * END {
        return one_line(name);
    }
    let mut head = END;
    while !name.is_char_boundary(head) {
        head -= 1;
    }
    let mut tail = name.len() - END;
    while !name.is_char_boundary(tail) {
        tail += 1;
    }
    format!("{}…{}", one_line(&name[..head]), one_line(&name[tail..]))
}

/// Marks that turn the direction of writing: they would turn the whole row of the screen.
fn is_bidi(c: char) -> bool {
    matches!(c, '\u{200e}' | '\u{200f}' | '\u{202a}'..='\u{202e}' | '\u{2066}'..='\u{2069}')
}

/// Seconds as people say them.
pub(crate) fn seconds(time: std::time::Duration) -> String {
    let s = time.as_secs_f64();
    if s < 90.0 {
        format!("{:.0} s", s.max(1.0))
    } else {
        format!("{:.0} min", s / 60.0)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn numbers_look_the_same_everywhere() {
        assert_eq!(percent(0.7132, 1), "71.3");
        assert_eq!(percent(f64::NAN, 1), "-");
        assert_eq!(signed(0.0123, 1), "+1.2");
        assert_eq!(signed(-0.00001, 1), "0.0");
        assert_eq!(unit(0.431, 2), ".43");
        assert_eq!(unit(-0.12, 2), "-.12");
        assert_eq!(unit(1.0, 2), "1.00");
        assert_eq!(unit(-0.001, 2), ".00");
    }

    #[test]
    fn texts_are_cut_by_columns_not_by_bytes() {
        assert_eq!(fit("abcdef", 4), "abc…");
        assert_eq!(fit("漢字漢字", 5), "漢字…");
        assert_eq!(fit_end("abcdef", 4), "…def");
        assert_eq!(fit_end("漢字漢字", 4), "…字");
        assert_eq!(fit_middle("claude-3-opus-20240229", 12), "claude-…0229");
        assert_eq!(right("1.5", 5), "  1.5");
        assert_eq!(left("é", 3), "é  ");
        assert_eq!(brief(&"漢".repeat(9999)).chars().count(), 201);
        assert_eq!(brief("a\nb"), "a b");
        assert_eq!(clean("a\u{202e}b"), "ab");
        assert_eq!(clean("a\tb\u{1b}[31m\u{2028}c"), "a b[31m\nc");
    }

    #[test]
    fn lines_break_between_words_and_long_words_inside() {
        assert_eq!(wrap("one two  three", 7), ["one two", "three"]);
        assert_eq!(wrap("abcdefgh ij", 4), ["abcd", "efgh", "ij"]);
        assert_eq!(wrap("漢字漢字", 5), ["漢字", "漢字"]);
        assert_eq!(wrap("", 5), [""]);
        assert_eq!(wrap("ab", 0).join(""), "ab");
    }
}
