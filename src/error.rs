//! The one error of the library: what is wrong, where, and what to do about it.

use std::fmt;
use std::path::{Path, PathBuf};

/// `Result` with tinyscope's [`Error`].
pub type Result<T> = std::result::Result<T, Error>;

/// Everything that can go wrong in the library.
#[derive(Debug, thiserror::Error)]
pub enum Error {
    /// A file that cannot be read as what it claims to be.
    #[error("{place}: {}{}", Shown(.what), remedy(.hint))]
    Input {
        /// File, and the line, column or record where known.
        place: Place,
        /// What is wrong, with the names and values concerned.
        what: String,
        /// What to do about it; empty where nothing useful can be said.
        hint: String,
    },
    /// The operating system refused to read or write.
    #[error("{}: {what}: {source}", Shown(&.path.to_string_lossy()))]
    Io {
        /// The file or folder.
        path: PathBuf,
        /// What was being done.
        what: &'static str,
        /// The system's own reason.
        source: std::io::Error,
    },
    /// A request that these data cannot answer (n, D, split, scenario ...).
    #[error("{what}{}", remedy(.hint))]
    Setting {
        /// What cannot be done and why.
        what: String,
        /// What to do about it.
        hint: String,
    },
    /// A download that failed.
    #[error("{url}: {what}{}", remedy(.hint))]
    Fetch {
        /// What was asked for.
        url: String,
        /// What went wrong.
        what: String,
        /// What to do about it.
        hint: String,
    },
    /// Work that was cancelled through its [`crate::progress::Observer`].
    #[error("cancelled")]
    Cancelled,
}

fn remedy(hint: &str) -> String {
    if hint.is_empty() {
        String::new()
    } else {
        format!("; {}", Shown(hint))
    }
}

/// A text that may hold what a file holds, as a message shows it: control characters escaped, of a long one the start and
/// the end.
struct Shown<'a>(&'a str);

/// Characters that a [`Shown`] text keeps at its start and at its end.
const KEPT: (usize, usize) = (500, 200);

impl fmt::Display for Shown<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        use fmt::Write as _;
        let mut write = |text: &str| -> fmt::Result {
            text.chars().try_for_each(|c| match c {
                c if c.is_control() => write!(f, "{}", c.escape_default()),
                c => f.write_char(c),
            })
        };
        let place = |(at, _): (usize, char)| at;
        let start = self.0.char_indices().nth(KEPT.0).map(place);
        let end = self.0.char_indices().nth_back(KEPT.1).map(place);
        match (start, end) {
            (Some(start), Some(end)) if start < end => {
                write(&self.0[..start])?;
                write(" \u{2026} ")?;
                write(&self.0[end..])
            }
            _ => write(self.0),
        }
    }
}

impl Error {
    /// An error in `file`, at no particular line.
    pub fn input(file: &Path, what: impl Into<String>, hint: impl Into<String>) -> Self {
        Self::Input {
            place: Place::file(file),
            what: what.into(),
            hint: hint.into(),
        }
    }

    /// An error at a line of `file` (counted from 1).
    pub fn at_line(
        file: &Path,
        line: u64,
        what: impl Into<String>,
        hint: impl Into<String>,
    ) -> Self {
        Self::Input {
            place: Place {
                line: Some(line),
                ..Place::file(file)
            },
            what: what.into(),
            hint: hint.into(),
        }
    }

    /// A request that cannot be met.
    pub fn setting(what: impl Into<String>, hint: impl Into<String>) -> Self {
        Self::Setting {
            what: what.into(),
            hint: hint.into(),
        }
    }

    /// A failed download of `url`.
    pub fn fetch(url: &str, what: impl Into<String>, hint: impl Into<String>) -> Self {
        Self::Fetch {
            url: url.to_owned(),
            what: what.into(),
            hint: hint.into(),
        }
    }

    /// An operating-system error on `path`.
    pub fn io(path: &Path, what: &'static str, source: std::io::Error) -> Self {
        Self::Io {
            path: path.to_owned(),
            what,
            source,
        }
    }
}

/// Where in a file something stands; lines and columns are counted from 1.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Place {
    /// The file, as it was named.
    pub file: PathBuf,
    /// Line, where known.
    pub line: Option<u64>,
    /// Column (a cell of a table, a character of a JSON text), where known.
    pub column: Option<u64>,
}

impl Place {
    /// The file as a whole.
    pub fn file(file: &Path) -> Self {
        Self {
            file: file.to_owned(),
            line: None,
            column: None,
        }
    }
}

impl fmt::Display for Place {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}", Shown(&self.file.to_string_lossy()))?;
        if let Some(line) = self.line {
            write!(f, ", line {line}")?;
        }
        if let Some(column) = self.column {
            write!(f, ", column {column}")?;
        }
        Ok(())
    }
}

/// The closest of `known` to `name`, for "did you mean": case, spaces and `/` against `__` or `_` do not count,
/// then an edit distance of at most a third of the name.
pub fn nearest<'a>(name: &str, known: impl IntoIterator<Item = &'a str>) -> Option<&'a str> {
    let letters = |s: &str| plain(s).chars().collect::<Vec<char>>();
    let wanted = letters(name);
    known
        .into_iter()
        .map(|k| (edit_distance(&wanted, &letters(k)), k))
        .filter(|(d, _)| *d <= wanted.len() / 3)
        .min_by_key(|(d, _)| *d)
        .map(|(_, k)| k)
}

/// A name without case, spaces and signs: `OpenAI/gpt-4` and `openai__gpt 4` are the same. Digits that something stands
/// between stay apart: `1.1` is not `11`.
pub(crate) fn plain(name: &str) -> String {
    let mut out = String::with_capacity(name.len());
    let mut apart = false;
    for c in name.chars() {
        if !c.is_alphanumeric() {
            apart = true;
            continue;
        }
        if apart && c.is_numeric() && out.ends_with(char::is_numeric) {
            out.push('.');
        }
        out.extend(c.to_lowercase());
        apart = false;
    }
    out
}

fn edit_distance(a: &[char], b: &[char]) -> usize {
    let mut row: Vec<usize> = (0..=b.len()).collect();
    for (i, ca) in a.iter().enumerate() {
        let mut diagonal = row[0];
        row[0] = i + 1;
        for (j, cb) in b.iter().enumerate() {
            let replaced = diagonal + usize::from(ca != cb);
            diagonal = row[j + 1];
            row[j + 1] = replaced.min(row[j] + 1).min(diagonal + 1);
        }
    }
    row[b.len()]
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn messages_name_place_and_remedy() {
        let e = Error::at_line(
            Path::new("a.csv"),
            3,
            "3 cells, 4 expected",
            "complete the row",
        );
        assert_eq!(
            e.to_string(),
            "a.csv, line 3: 3 cells, 4 expected; complete the row"
        );
    }

    #[test]
    fn messages_are_short_and_hold_no_control_characters() {
        let long = format!("\u{1b}[2J{} is no score", "\u{e4}".repeat(1_000_000));
        let said = Error::input(Path::new("a\0.csv"), long, "").to_string();
        assert!(said.starts_with("a\\u{0}.csv: \\u{1b}[2J\u{e4}"), "{said}");
        assert!(said.ends_with("\u{e4} is no score"), "{said}");
        assert!(said.chars().count() < 800, "{said}");
        let whole = "x".repeat(KEPT.0 + KEPT.1);
        assert_eq!(
            Error::input(Path::new("a"), &whole, "").to_string(),
            format!("a: {whole}")
        );
    }

    #[test]
    fn near_misses_are_found_and_far_ones_are_not() {
        let known = ["openai_gpt-4-0613", "meta_llama-2-7b"];
        assert_eq!(
            nearest("OpenAI/gpt-4-0613", known),
            Some("openai_gpt-4-0613")
        );
        assert_eq!(nearest("claude", known), None);
        assert_eq!(plain("OpenAI/GPT-4 - 0613"), plain("openai__gpt-4-0613"));
        assert_ne!(plain("q1.1"), plain("q11"));
    }
}
