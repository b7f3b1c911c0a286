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

/// A text without control characters; tabs and line ends become spaces and new lines.
pub(crate) fn clean(text: &str) -> String {
    text.chars()
        .filter_map(|c| match c {
            '\n' => Some('\n'),
            '\t' => Some(' '),
            '\u{2028}' | '\u{2029}' => Some('\n'),
            c if c.is_control() => None,
            c => Some(c),
        })
        .collect()
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
        assert_eq!(right("1.5", 5), "  1.5");
        assert_eq!(left("é", 3), "é  ");
        assert_eq!(clean("a\tb\u{1b}[31m\u{2028}c"), "a b[31m\nc");
    }
}
