//! Texts of items: question, options, answer, category.

use std::collections::HashMap;

/// What is known of one item beside its responses.
#[derive(Debug, Clone, PartialEq, Eq, serde::Serialize, serde::Deserialize)]
pub struct ItemText {
    /// The question or instruction.
    pub text: String,
    /// Answer options, in order.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub options: Vec<String>,
    /// The right answer, as the source gives it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub answer: Option<String>,
    /// The source's category.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub category: Option<String>,
}

impl ItemText {
    /// The text with its options in alphabetical order, in small letters, without white space and punctuation that tell
    /// nothing: two items with the same are near duplicates. Signs within numbers, words and formulas stay (`1.5` is not
    /// `15`, `2 - 2` not `2 + 2`). Empty where no letter, digit or sign is left.
    pub fn normalised(&self) -> String {
        let mut out = plain(&self.text);
        let mut options: Vec<String> = self.options.iter().map(|o| plain(o)).collect();
        options.sort();
        for option in options {
            // No text holds it any more.
            out.push('\n');
            out.push_str(&option);
        }
        if out.trim().is_empty() {
            out.clear();
        }
        out
    }
}

/// Small letters; runs of white space are one space, and `.,;:!?` and quotes are nothing unless a letter or digit follows.
fn plain(text: &str) -> String {
    let mut out = String::with_capacity(text.len());
    let mut letters = text.chars().peekable();
    while let Some(c) = letters.next() {
        let c = match c {
            '\u{2018}' | '\u{2019}' => '\'',
            '\u{201c}' | '\u{201d}' => '"',
            c => c,
        };
        let goes_on = letters.peek().is_some_and(|c| c.is_alphanumeric());
        let within = goes_on && out.ends_with(char::is_alphanumeric);
        if c.is_whitespace() {
            if !out.is_empty() && !out.ends_with(' ') {
                out.push(' ');
            }
        } else if within || !".,;:!?\"'`".contains(c) {
            out.extend(c.to_lowercase());
        }
    }
    out.truncate(out.trim_end().len());
    out
}

/// Item texts by item id.
#[derive(Debug, Clone, Default, serde::Serialize, serde::Deserialize)]
pub struct ItemTexts(#[serde(with = "super::kept::texts")] HashMap<String, ItemText>);

impl ItemTexts {
    /// The text of an item, where there is one.
    pub fn get(&self, id: &str) -> Option<&ItemText> {
        self.0.get(id)
    }

    /// Number of items with a text.
    pub fn len(&self) -> usize {
        self.0.len()
    }

    /// True when no item has a text.
    pub fn is_empty(&self) -> bool {
        self.0.is_empty()
    }

    /// Adds or replaces a text.
    pub fn insert(&mut self, id: String, text: ItemText) {
        self.0.insert(id, text);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn texts_differ_in_what_they_say_only() {
        let item = |text: &str, options: &[&str]| ItemText {
            text: text.into(),
            options: options.iter().map(|o| (*o).to_owned()).collect(),
            answer: None,
            category: None,
        };
        let same = |a: ItemText, b: ItemText| a.normalised() == b.normalised();
        assert!(same(
            item(" What is  \"2 + 2\"?", &["4.", "5"]),
            item("what is 2 + 2", &["5", "4"])
        ));
        assert!(same(
            item("It's \u{201c}so\u{201d}.\n", &[]),
            item("it\u{2019}s so", &[])
        ));
        for (a, b) in [
            ("1.5", "15"),
            ("2 - 2", "2 + 2"),
            ("a b", "ab"),
            ("-1", "1"),
        ] {
            assert!(!same(item(a, &[]), item(b, &[])), "{a} {b}");
        }
        // The same question with other options is another item.
        assert!(!same(
            item("Which?", &["a", "b"]),
            item("Which?", &["a", "c"])
        ));
        assert_eq!(item(" ?! ", &[]).normalised(), "");
        assert_ne!(item("\u{4f60}\u{597d}", &[]).normalised(), "");
    }
}
