//! What a sceptic asks of a response matrix before believing a fit.

use std::collections::HashMap;

use super::{Benchmark, ItemText};

/// Findings on a benchmark's responses; lists hold matrix rows (models) or columns (items).
#[derive(Debug, Clone, Default, PartialEq, serde::Serialize)]
pub struct Diagnostics {
    /// Number of missing entries.
    pub missing_cells: usize,
    /// Models that answered nothing at all; they are left out of fits and metrics.
    pub models_without_answers: Vec<usize>,
    /// Models that answered some items of a scenario but not all of them.
    pub incomplete_models: Vec<usize>,
    /// For each scenario (an index) that some models lack altogether: those models, of the ones that answered anything.
    pub lacking: Vec<(usize, Vec<usize>)>,
    /// Items that nobody answered.
    pub items_without_answers: Vec<usize>,
    /// Items on which every answering model has the same score (two models at least).
    pub constant_items: Vec<usize>,
    /// Groups of models with the same scores everywhere (missing entries too).
    pub duplicate_models: Vec<Vec<usize>>,
    /// Groups of items, not constant, with the same scores for every model.
    pub duplicate_items: Vec<Vec<usize>>,
    /// Groups of items whose texts (with their options, in any order) are the same but for case, white space and
    /// punctuation.
    pub duplicate_texts: Vec<Vec<usize>>,
    /// How many of these groups reach over several scenarios or sub-scenarios.
    pub texts_across: usize,
    /// Models with score 1 on every item they answered that is not constant.
    pub all_right: Vec<usize>,
    /// Models with score 0 on every item they answered that is not constant.
    pub all_wrong: Vec<usize>,
}

impl Diagnostics {
    /// Looks at every entry of every scenario, a few times.
    pub fn of(benchmark: &Benchmark) -> Self {
        Self::within(
            benchmark,
            &(0..benchmark.scenarios.len()).collect::<Vec<_>>(),
        )
    }

    /// The same for some scenarios only (indices): nothing is said of the others.
    pub fn within(benchmark: &Benchmark, scenarios: &[usize]) -> Self {
        let m = &benchmark.matrix;
        let mut columns: Vec<usize> = scenarios
            .iter()
            .flat_map(|&s| benchmark.scenarios[s].columns.iter().copied())
            .collect();
        columns.sort_unstable();
        let mut d = Self::default();
        let mut first = vec![f64::NAN; columns.len()];
        let mut varies = vec![false; columns.len()];
        let mut answers = vec![0usize; columns.len()];
        let mut item_hash = vec![0u64; columns.len()];
        let mut model_hash = Vec::with_capacity(m.n_models());
        for l in 0..m.n_models() {
            let row = benchmark.scores(l, &columns);
            let mut hash = 0;
            let mut answered = 0;
            for (i, &y) in row.iter().enumerate() {
                let code = y.to_bits() | u64::from(y.is_nan());
                hash = mix(hash, code);
                item_hash[i] = mix(item_hash[i], code);
                if y.is_nan() {
                    continue;
                }
                answered += 1;
                answers[i] += 1;
                if first[i].is_nan() {
                    first[i] = y;
                } else if first[i] != y {
                    varies[i] = true;
                }
            }
            model_hash.push(hash);
            d.missing_cells += columns.len() - answered;
            if answered == 0 {
                d.models_without_answers.push(l);
            } else {
                d.find_gaps(benchmark, scenarios, l);
            }
        }
        for (i, &column) in columns.iter().enumerate() {
            if answers[i] == 0 {
                d.items_without_answers.push(column);
            } else if !varies[i] && answers[i] > 1 {
                d.constant_items.push(column);
            }
        }
        d.find_extremes(benchmark, &columns, &varies);
        d.duplicate_models = groups(
            (0..m.n_models()).filter(|l| !d.models_without_answers.contains(l)),
            |l| model_hash[l],
            |a, b| {
                let (a, b) = (benchmark.scores(a, &columns), benchmark.scores(b, &columns));
                a.iter()
                    .zip(&b)
                    .all(|(x, y)| x == y || (x.is_nan() && y.is_nan()))
            },
        );
        d.duplicate_items = groups(
            (0..columns.len()).filter(|&i| varies[i]),
            |i| item_hash[i],
            |a, b| (0..m.n_models()).all(|l| m.get(l, columns[a]) == m.get(l, columns[b])),
        );
        for i in d.duplicate_items.iter_mut().flatten() {
            *i = columns[*i];
        }
        d.find_texts(benchmark, scenarios);
        d
    }

    fn find_gaps(&mut self, benchmark: &Benchmark, scenarios: &[usize], model: usize) {
        let mut incomplete = false;
        for &s in scenarios {
            let scenario = &benchmark.scenarios[s];
            let row = benchmark.scores(model, &scenario.columns);
            let missing = row.iter().filter(|y| y.is_nan()).count();
            if missing == scenario.n_items() {
                match self.lacking.iter_mut().find(|(of, _)| *of == s) {
                    Some((_, models)) => models.push(model),
                    None => self.lacking.push((s, vec![model])),
                }
            } else {
                incomplete |= missing > 0;
            }
        }
        if incomplete {
            self.incomplete_models.push(model);
        }
    }

    fn find_texts(&mut self, benchmark: &Benchmark, scenarios: &[usize]) {
        if benchmark.texts.is_empty() {
            return;
        }
        // Column, and its scenario and sub-scenario.
        let mut with: Vec<(usize, (usize, usize))> = Vec::new();
        let mut texts: Vec<String> = Vec::new();
        for &s in scenarios {
            let scenario = &benchmark.scenarios[s];
            for (&column, part) in scenario.columns.iter().zip(scenario.subscenario_of()) {
                let text = benchmark.texts.get(&benchmark.matrix.items()[column]);
                if let Some(text) = text.map(ItemText::normalised).filter(|t| !t.is_empty()) {
                    with.push((column, (s, part)));
                    texts.push(text);
                }
            }
        }
        let hash = |at: usize| {
            let bytes = texts[at].bytes();
            bytes.fold(0, |hash, b| mix(hash, u64::from(b)))
        };
        let found = groups(0..texts.len(), hash, |a, b| texts[a] == texts[b]);
        let across = |g: &&Vec<usize>| g.iter().any(|&i| with[i].1 != with[g[0]].1);
        self.texts_across = found.iter().filter(across).count();
        self.duplicate_texts = found
            .into_iter()
            .map(|g| g.into_iter().map(|i| with[i].0).collect())
            .collect();
    }

    fn find_extremes(&mut self, benchmark: &Benchmark, columns: &[usize], varies: &[bool]) {
        let m = &benchmark.matrix;
        for l in 0..m.n_models() {
            let (mut right, mut wrong, mut seen) = (true, true, false);
            for (&y, _) in benchmark
                .scores(l, columns)
                .iter()
                .zip(varies)
                .filter(|(y, v)| **v && !y.is_nan())
            {
                seen = true;
                right &= y == 1.0;
                wrong &= y == 0.0;
            }
            if seen && right {
                self.all_right.push(l);
            } else if seen && wrong {
                self.all_wrong.push(l);
            }
        }
    }

    /// The findings as sentences that name models and items (the first few of many).
    pub fn warnings(&self, benchmark: &Benchmark) -> Vec<String> {
        let m = &benchmark.matrix;
        let models = |l: &[usize]| list(l.iter().map(|&l| m.models()[l].as_str()));
        let items = |i: &[usize]| list(i.iter().map(|&i| m.items()[i].as_str()));
        let mut out = Vec::new();
        if !self.models_without_answers.is_empty() {
            out.push(format!(
                "{} without any answer, left out of fits and metrics: {}",
                count(self.models_without_answers.len(), "model"),
                models(&self.models_without_answers)
            ));
        }
        for (s, lacking) in &self.lacking {
            out.push(format!(
                "{} without any answer in {}, and so without an overall score: {}",
                count(lacking.len(), "model"),
                benchmark.scenarios[*s].name,
                models(lacking)
            ));
        }
        if !self.incomplete_models.is_empty() {
            out.push(format!(
                "{} scored on the items answered, some are missing: {}",
                count(self.incomplete_models.len(), "model"),
                models(&self.incomplete_models)
            ));
        }
        if !self.items_without_answers.is_empty() {
            out.push(format!(
                "{} that nobody answered: {}",
                count(self.items_without_answers.len(), "item"),
                items(&self.items_without_answers)
            ));
        }
        if !self.constant_items.is_empty() {
            out.push(format!(
                "{} on which every model has the same score: {}",
                count(self.constant_items.len(), "constant item"),
                items(&self.constant_items)
            ));
        }
        if !self.all_right.is_empty() {
            out.push(format!(
                "{} right on every item that is not constant: {}",
                count(self.all_right.len(), "model"),
                models(&self.all_right)
            ));
        }
        if !self.all_wrong.is_empty() {
            out.push(format!(
                "{} wrong on every item that is not constant: {}",
                count(self.all_wrong.len(), "model"),
                models(&self.all_wrong)
            ));
        }
        for group in self.duplicate_models.iter().take(LISTED) {
            out.push(format!(
                "models with identical responses: {}",
                models(group)
            ));
        }
        if self.duplicate_models.len() > LISTED {
            out.push(format!(
                "{} more groups of models with identical responses",
                self.duplicate_models.len() - LISTED
            ));
        }
        if !self.duplicate_items.is_empty() {
            let several: usize = self.duplicate_items.iter().map(Vec::len).sum();
            out.push(format!(
                "{several} items share their responses with another item, in {}; the largest: {}",
                count(self.duplicate_items.len(), "group"),
                self.duplicate_items
                    .iter()
                    .max_by_key(|g| (g.len(), std::cmp::Reverse(g[0])))
                    .map(|g| items(g))
                    .unwrap_or_default()
            ));
        }
        if !self.duplicate_texts.is_empty() {
            let several: usize = self.duplicate_texts.iter().map(Vec::len).sum();
            let across = match self.texts_across {
                0 => String::new(),
                n => format!(", {n} of them over several scenarios or sub-scenarios"),
            };
            out.push(format!(
                "{several} items share their text with another item, in {}{across}; the largest: {}",
                count(self.duplicate_texts.len(), "group"),
                self.duplicate_texts
                    .iter()
                    .max_by_key(|g| (g.len(), std::cmp::Reverse(g[0])))
                    .map(|g| items(g))
                    .unwrap_or_default()
            ));
        }
        let active = m.n_models() - self.models_without_answers.len();
        if active < FEW_MODELS {
            out.push(format!(
                "only {}: IRT parameters from so few are unreliable",
                count(active, "model")
            ));
        }
        out
    }
}

/// How many names a warning lists.
const LISTED: usize = 5;

/// Below this number of models a warning says that a fit is unreliable: an item's discrimination then rests on a
/// handful of responses.
pub const FEW_MODELS: usize = 20;

/// "1 model", "3 models".
pub fn count(n: usize, noun: &str) -> String {
    format!("{n} {noun}{}", if n == 1 { "" } else { "s" })
}

/// The first few names, and how many more there are.
pub(crate) fn list<'a>(names: impl ExactSizeIterator<Item = &'a str>) -> String {
    let more = names.len().saturating_sub(LISTED);
    let mut text = names.take(LISTED).collect::<Vec<_>>().join(", ");
    if more > 0 {
        text.push_str(&format!(" and {more} more"));
    }
    text
}

fn mix(hash: u64, value: u64) -> u64 {
    (hash.rotate_left(5) ^ value).wrapping_mul(0x517c_c1b7_2722_0a95)
}

fn groups(
    members: impl Iterator<Item = usize>,
    hash: impl Fn(usize) -> u64,
    same: impl Fn(usize, usize) -> bool,
) -> Vec<Vec<usize>> {
    let mut by_hash: HashMap<u64, Vec<Vec<usize>>> = HashMap::new();
    for i in members {
        let found = by_hash.entry(hash(i)).or_default();
        match found.iter_mut().find(|g| same(g[0], i)) {
            Some(group) => group.push(i),
            None => found.push(vec![i]),
        }
    }
    let mut out: Vec<Vec<usize>> = by_hash
        .into_values()
        .flatten()
        .filter(|g| g.len() > 1)
        .collect();
    out.sort();
    out
}
