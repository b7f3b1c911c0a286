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

/// Item texts by item id.
#[derive(Debug, Clone, Default)]
pub struct ItemTexts(HashMap<String, ItemText>);

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
