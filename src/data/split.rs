//! Training and test models: by chance, by date, by organisation, by score, or from a file.

use std::collections::HashMap;
use std::fs;
use std::path::{Path, PathBuf};

use rand::seq::SliceRandom;

use super::Benchmark;
use super::diagnostics::{count, list};
use crate::error::{Error, Result, nearest};
use crate::random::{Stream, rng};

/// How models are divided into training and test models.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum SplitKind {
    /// A seeded random quarter is test.
    Iid,
    /// The newest quarter by release date is test; undated models train.
    Date,
    /// Whole organisations, in seeded order, up to a quarter of the models are test.
    Org,
    /// The quarter with the highest true overall score is test: models stronger than any that trains. Models without an
    /// overall score train.
    Top,
    /// JSON lists of test model names; list k for seed k.
    File(PathBuf),
}

impl std::fmt::Display for SplitKind {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        match self {
            Self::Iid => f.write_str("iid"),
            Self::Date => f.write_str("date"),
            Self::Org => f.write_str("org"),
            Self::Top => f.write_str("top"),
            Self::File(path) => write!(f, "file:{}", path.display()),
        }
    }
}

/// Rows of the matrix that train and that test; both in row order, disjoint.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Split {
    /// Everything is fitted on these.
    pub train: Vec<usize>,
    /// Estimates are judged on these; empty when all models train.
    pub test: Vec<usize>,
    /// What the user should know about it.
    pub warnings: Vec<String>,
}

impl Split {
    /// All models with an answer train, none tests.
    pub fn all_train(benchmark: &Benchmark) -> Self {
        Self {
            train: answering(benchmark),
            test: Vec::new(),
            warnings: Vec::new(),
        }
    }
}

fn answering(benchmark: &Benchmark) -> Vec<usize> {
    let m = &benchmark.matrix;
    let columns: Vec<usize> = benchmark
        .scenarios
        .iter()
        .flat_map(|s| s.columns.iter().copied())
        .collect();
    let mut row = vec![0.0; columns.len()];
    (0..m.n_models())
        .filter(|&l| {
            m.gather(l, &columns, &mut row);
            row.iter().any(|y| !y.is_nan())
        })
        .collect()
}

/// Divides the models that answered anything. The same benchmark, kind and seed give the same split.
///
/// # Errors
/// Fewer than three models with answers, too few dates, organisations or overall scores, an unreadable split file or one that names
/// unknown models or has no list for the seed.
pub fn split(benchmark: &Benchmark, kind: &SplitKind, seed: u64) -> Result<Split> {
    let models = answering(benchmark);
    if models.len() < 3 {
        return Err(Error::setting(
            format!(
                "{} with answers: a split needs at least 2 training models and 1 test model",
                count(models.len(), "model")
            ),
            "add responses of more models",
        ));
    }
    let quarter = (models.len() / 4).max(1);
    let mut warnings = Vec::new();
    let test = match kind {
        SplitKind::Iid => {
            let mut order = models.clone();
            order.shuffle(&mut rng(seed, Stream::Split));
            order.truncate(quarter);
            order
        }
        SplitKind::Date => by_date(benchmark, &models, quarter, &mut warnings)?,
        SplitKind::Org => by_organisation(benchmark, &models, quarter, seed)?,
        SplitKind::Top => by_score(benchmark, &models, quarter, &mut warnings)?,
        SplitKind::File(path) => from_file(benchmark, path, seed, &models, &mut warnings)?,
    };
    let mut is_test = vec![false; benchmark.matrix.n_models()];
    test.iter().for_each(|&l| is_test[l] = true);
    let (test, train): (Vec<usize>, Vec<usize>) = models.iter().partition(|&&l| is_test[l]);
    if test.is_empty() || train.len() < 2 {
        return Err(Error::setting(
            format!(
                "the split leaves {} and {}; it needs at least 2 and 1",
                count(train.len(), "training model"),
                count(test.len(), "test model")
            ),
            "choose another --split",
        ));
    }
    Ok(Split {
        train,
        test,
        warnings,
    })
}

fn by_date(
    benchmark: &Benchmark,
    models: &[usize],
    quarter: usize,
    warnings: &mut Vec<String>,
) -> Result<Vec<usize>> {
    let names = benchmark.matrix.models();
    let mut dated: Vec<_> = models
        .iter()
        .filter_map(|&l| benchmark.released.get(&names[l]).map(|date| (date, l)))
        .collect();
    if dated.len() < quarter {
        return Err(Error::setting(
            format!(
                "a split by date needs release dates of at least {quarter} models, {} known",
                if dated.len() == 1 {
                    "1 is".into()
                } else {
                    format!("{} are", dated.len())
                }
            ),
            "add `released` {model: date} to the manifest, or choose another --split",
        ));
    }
    let undated = models.len() - dated.len();
    if undated > 0 {
        warnings.push(format!(
            "{} without a release date train",
            count(undated, "model")
        ));
    }
    // Newest first; the sort is stable, so that of equal dates the earlier in the file is taken.
    dated.sort_by_key(|&(date, _)| std::cmp::Reverse(*date));
    Ok(dated.iter().take(quarter).map(|&(_, l)| l).collect())
}

fn by_score(
    benchmark: &Benchmark,
    models: &[usize],
    quarter: usize,
    warnings: &mut Vec<String>,
) -> Result<Vec<usize>> {
    let mut scored: Vec<(f64, usize)> = models
        .iter()
        .filter_map(|&l| Some((benchmark.overall_score(l)?, l)))
        .collect();
    if scored.len() < quarter {
        return Err(Error::setting(
            format!(
                "a split by score needs at least {} with an answer in every scenario, there are {}",
                count(quarter, "model"),
                scored.len()
            ),
            "choose another --split",
        ));
    }
    let unscored = models.len() - scored.len();
    if unscored > 0 {
        warnings.push(format!(
            "{} without an overall score train",
            count(unscored, "model")
        ));
    }
    // Best first; the sort is stable, so that of equal scores the earlier in the file is taken.
    scored.sort_by(|a, b| b.0.total_cmp(&a.0));
    Ok(scored.iter().take(quarter).map(|&(_, l)| l).collect())
}

fn by_organisation(
    benchmark: &Benchmark,
    models: &[usize],
    quarter: usize,
    seed: u64,
) -> Result<Vec<usize>> {
    let mut members: Vec<(String, Vec<usize>)> = Vec::new();
    let mut index = HashMap::new();
    for &l in models {
        let org = benchmark.organisation(&benchmark.matrix.models()[l]);
        let at = *index.entry(org.clone()).or_insert(members.len());
        if at == members.len() {
            members.push((org, Vec::new()));
        }
        members[at].1.push(l);
    }
    if members.len() * 10 > models.len() * 9 {
        return Err(Error::setting(
            format!(
                "a split by organisation is no use: {} models have {} organisations",
                models.len(),
                members.len()
            ),
            "add `organisations` {model: name} to the manifest, or choose another --split",
        ));
    }
    members.shuffle(&mut rng(seed, Stream::Split));
    let mut test: Vec<usize> = Vec::new();
    for (_, group) in &members {
        if test.len() + group.len() <= quarter {
            test.extend(group);
        }
    }
    if test.is_empty() {
        return Err(Error::setting(
            format!(
                "every organisation has more than a quarter of the {} models",
                models.len()
            ),
            "choose another --split",
        ));
    }
    Ok(test)
}

fn from_file(
    benchmark: &Benchmark,
    path: &Path,
    seed: u64,
    models: &[usize],
    warnings: &mut Vec<String>,
) -> Result<Vec<usize>> {
    let text = fs::read_to_string(path).map_err(|e| Error::io(path, "reading the split", e))?;
    let lists: Vec<Vec<String>> = serde_json::from_str(&text).map_err(|e| {
        Error::at_line(
            path,
            e.line() as u64,
            format!("not a list of lists of model names: {e}"),
            "write [[\"model\", ...], ...]: list k holds the test models of seed k",
        )
    })?;
    let names = lists.get(seed as usize).ok_or_else(|| {
        Error::input(
            path,
            format!(
                "{} of test models, none for seed {seed} (list k is for seed k, from 0)",
                count(lists.len(), "list")
            ),
            "ask for fewer seeds or add lists",
        )
    })?;
    let all = benchmark.matrix.models();
    let row: HashMap<&str, usize> = all
        .iter()
        .enumerate()
        .map(|(l, n)| (n.as_str(), l))
        .collect();
    let mut test = Vec::with_capacity(names.len());
    let mut silent = Vec::new();
    for name in names {
        let &l = row.get(name.as_str()).ok_or_else(|| {
            let near = nearest(name, all.iter().map(String::as_str));
            Error::input(
                path,
                format!("list {seed} names {name:?}, which is no model of this benchmark"),
                near.map_or(String::new(), |n| format!("did you mean {n:?}?")),
            )
        })?;
        if models.contains(&l) {
            test.push(l);
        } else {
            silent.push(name.as_str());
        }
    }
    if !silent.is_empty() {
        warnings.push(format!(
            "test models of the split file without answers, left out: {}",
            list(silent.into_iter())
        ));
    }
    Ok(test)
}

/// The split that `kind` asks for, or all models training where none was asked for.
///
/// # Errors
/// As [`split`].
pub fn split_or_all(benchmark: &Benchmark, kind: Option<&SplitKind>, seed: u64) -> Result<Split> {
    match kind {
        Some(kind) => split(benchmark, kind, seed),
        None => Ok(Split::all_train(benchmark)),
    }
}
