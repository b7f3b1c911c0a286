//! Texts of items, from the `doc` of a sample: only what is shown is kept.

use std::fmt;

use serde::de::{Deserialize, Deserializer, IgnoredAny, MapAccess, Visitor};
use serde_json::{Map, Value};

use crate::data::ItemText;

/// Where tasks have what is asked; the first that is there counts.
const QUESTIONS: &[&str] = &[
    "question",
    "query",
    "prompt",
    "goal",
    "problem",
    "sentence",
    "ctx",
    "input",
    "instruction",
    "Question",
    "question_stem",
    "premise",
    "text",
    "context",
];
const OPTIONS: &[&str] = &["choices", "endings", "options"];
const ANSWERS: &[&str] = &["answer", "target", "answerKey", "gold", "label"];
const CATEGORIES: &[&str] = &["subject", "category"];

/// Longer texts are cut: some tasks ask about whole books.
const LONGEST: usize = 20_000;

/// The fields of a document that texts are made of.
pub(super) struct Doc(Map<String, Value>);

impl<'de> Deserialize<'de> for Doc {
    fn deserialize<D: Deserializer<'de>>(from: D) -> Result<Self, D::Error> {
        struct Fields;
        impl<'de> Visitor<'de> for Fields {
            type Value = Doc;

            fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                f.write_str("a document")
            }

            fn visit_map<A: MapAccess<'de>>(self, mut map: A) -> Result<Doc, A::Error> {
                let mut fields = Map::new();
                let all = [QUESTIONS, OPTIONS, ANSWERS, CATEGORIES];
                while let Some(key) = map.next_key::<String>()? {
                    if all.iter().any(|keys| keys.contains(&key.as_str())) {
                        fields.insert(key, map.next_value()?);
                    } else {
                        map.next_value::<IgnoredAny>()?;
                    }
                }
                Ok(Doc(fields))
            }

            fn visit_str<E>(self, text: &str) -> Result<Doc, E> {
                let mut fields = Map::new();
                fields.insert("question".into(), text.into());
                Ok(Doc(fields))
            }

            fn visit_unit<E>(self) -> Result<Doc, E> {
                Ok(Doc(Map::new()))
            }
        }
        from.deserialize_any(Fields)
    }
}

impl Doc {
    /// The text, where there is one. `target` is the right answer as the sample gives it beside the document.
    pub(super) fn text(&self, target: Option<Value>) -> Option<ItemText> {
        let asked = QUESTIONS.iter().find_map(|key| match self.0.get(*key)? {
            Value::String(text) if !text.trim().is_empty() => Some(cut(text)),
            // OpenBookQA's older form.
            Value::Object(question) => question.get("stem").and_then(Value::as_str).map(cut),
            _ => None,
        })?;
        let options = OPTIONS
            .iter()
            .find_map(|key| match self.0.get(*key)? {
                Value::Array(options) => Some(options),
                Value::Object(choices) => choices.get("text")?.as_array(),
                _ => None,
            })
            .map(|options| options.iter().filter_map(plain).collect::<Vec<_>>())
            .unwrap_or_default();
        let own = ANSWERS.iter().find_map(|key| self.0.get(*key));
        let answer = [own, target.as_ref()].into_iter().flatten().find_map(|a| {
            let place = a.as_u64().and_then(|i| usize::try_from(i).ok());
            match place.and_then(|i| options.get(i)) {
                Some(option) => Some(option.clone()),
                None => plain(a),
            }
        });
        let category = CATEGORIES
            .iter()
            .find_map(|key| self.0.get(*key)?.as_str().map(cut));
        Some(ItemText {
            text: asked,
            options,
            answer,
            category,
        })
    }
}

/// A text or number as text.
fn plain(value: &Value) -> Option<String> {
    match value {
        Value::String(text) if !text.is_empty() => Some(cut(text)),
        Value::Number(number) => Some(number.to_string()),
        Value::Bool(truth) => Some(truth.to_string()),
        _ => None,
    }
}

fn cut(text: &str) -> String {
    match text.char_indices().nth(LONGEST) {
        Some((end, _)) => format!("{}…", &text[..end]),
        None => text.to_owned(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn documents_of_known_tasks_give_question_options_and_answer() {
        for (doc, target, text, options, answer) in [
            (
                r#"{"question": "Q?", "subject": "law", "choices": ["x", "y"], "answer": 1, "image": [[0]]}"#,
                "1",
                "Q?",
                &["x", "y"][..],
                Some("y"),
            ),
            (
                r#"{"question": "Q?", "choices": {"text": ["x", "y"], "label": ["A", "B"]}, "answerKey": "B"}"#,
                "1",
                "Q?",
                &["x", "y"],
                Some("B"),
            ),
            (
                r#"{"query": "He", "endings": ["runs"], "ctx": "no"}"#,
                "\" runs\"",
                "He",
                &["runs"],
                Some(" runs"),
            ),
            (r#"{"sentence": "A _ b"}"#, "null", "A _ b", &[], None),
            (
                r#"{"goal": "Sit", "sol1": "a"}"#,
                "0",
                "Sit",
                &[],
                Some("0"),
            ),
        ] {
            let doc: Doc = serde_json::from_str(doc).unwrap();
            let found = doc.text(serde_json::from_str(target).unwrap()).unwrap();
            assert_eq!(
                (found.text.as_str(), found.answer.as_deref()),
                (text, answer)
            );
            assert_eq!(found.options, options);
        }
        let none: Doc = serde_json::from_str(r#"{"id": 3}"#).unwrap();
        assert_eq!(none.text(None), None);
    }
}
