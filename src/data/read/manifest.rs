//! The native format: a manifest `NAME.json` that describes the matrix `NAME.csv.gz`, and tables without one.

use std::cell::RefCell;
use std::collections::{BTreeMap, HashMap};
use std::path::{Path, PathBuf};
use std::rc::Rc;

use jiff::civil::Date;
use serde::{Deserialize, Serialize};
use serde_json::{Map, Value};
use sha2::{Digest, Sha256};

use super::json::{self, without_place};
use super::jsonlines::first_keys;
use super::{ReadOptions, Reading, Source, Table, separated};
use crate::data::join::Naming;
use crate::data::{Aggregate, Benchmark, ItemText, ItemTexts, Scenario, SubScenario};
use crate::error::{Error, Result, nearest};
use crate::progress::Silent;

/// A manifest as it stands in its file. Keys that are not known here are ignored.
#[derive(Debug, Clone, Serialize, Deserialize)]
pub struct Manifest {
    /// Name of the benchmark.
    pub benchmark: String,
    /// File of the matrix, beside the manifest.
    pub matrix: String,
    /// How the matrix is written; found in its first line where absent.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub form: Option<Form>,
    /// SHA-256 of the matrix as text, unpacked: a pair of two writings is refused.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub matrix_sha256: Option<String>,
    /// Number of models, checked against the matrix.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub models: Option<usize>,
    /// Number of items, checked against the matrix.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub items: Option<usize>,
    /// True when the responses were simulated.
    #[serde(default)]
    pub simulated: bool,
    /// What a score is.
    #[serde(default)]
    pub metric: String,
    /// How every scenario is averaged, or one by one.
    #[serde(default = "macro_by_default")]
    pub aggregate: Aggregates,
    /// Who published the responses.
    #[serde(default)]
    pub source: String,
    /// Terms of use.
    #[serde(default)]
    pub licence: String,
    /// Remarks.
    #[serde(default)]
    pub notes: String,
    /// Scenario -> sub-scenario -> \[first, end) column, in order.
    pub scenarios: Map<String, Value>,
    /// Model -> release date (YYYY-MM-DD).
    #[serde(default, skip_serializing_if = "BTreeMap::is_empty")]
    pub released: BTreeMap<String, String>,
    /// Model -> organisation.
    #[serde(default, skip_serializing_if = "BTreeMap::is_empty")]
    pub organisations: BTreeMap<String, String>,
    /// File of item texts (JSON lines, gzip or not), beside the manifest.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub item_text: Option<String>,
}

/// How a matrix is written.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Form {
    /// `model,item,item...` with commas, a row a model, scores in \[0, 1\] and names to the letter, whatever they look like
    /// and whatever is said about other tables.
    Wide,
}

/// One aggregate for all scenarios, or one each.
#[derive(Debug, Clone, Serialize, Deserialize)]
#[serde(untagged)]
pub enum Aggregates {
    /// The same for every scenario.
    All(Aggregate),
    /// By scenario name; macro where absent.
    Each(BTreeMap<String, Aggregate>),
}

fn macro_by_default() -> Aggregates {
    Aggregates::All(Aggregate::Macro)
}

impl Aggregates {
    /// The shortest way to say the aggregates of these scenarios.
    pub(crate) fn of_scenarios(scenarios: &[Scenario]) -> Self {
        match scenarios {
            [first, rest @ ..] if rest.iter().any(|s| s.aggregate != first.aggregate) => {
                Self::Each(
                    scenarios
                        .iter()
                        .map(|s| (s.name.clone(), s.aggregate))
                        .collect(),
                )
            }
            [first, ..] => Self::All(first.aggregate),
            [] => macro_by_default(),
        }
    }

    fn of(&self, scenario: &str) -> Aggregate {
        match self {
            Self::All(a) => *a,
            Self::Each(each) => each.get(scenario).copied().unwrap_or(Aggregate::Macro),
        }
    }
}

const REMEDY: &str = "a manifest has `benchmark`, `matrix` (a file name) and `scenarios` {scenario: {sub-scenario: [first, end]}}";

pub(super) fn read(path: &Path, source: Source<'_>, reading: &Reading<'_>) -> Result<Benchmark> {
    let manifest = parse(path, source, reading.limits.depth)?;
    let matrix = path.with_file_name(&manifest.matrix);
    let table = table(path, &manifest, &matrix, part(&matrix, reading)?, reading)?;
    let texts = match &manifest.item_text {
        Some(name) => {
            let path = path.with_file_name(name);
            item_texts(&path, part(&path, reading)?, reading.limits.depth)?
        }
        None => ItemTexts::default(),
    };
    assemble(path, manifest, table, texts)
}

/// The matrix, checked against its sum where the manifest at `path` has one.
fn table(
    path: &Path,
    manifest: &Manifest,
    matrix: &Path,
    source: Source<'_>,
    reading: &Reading<'_>,
) -> Result<Table> {
    let sum = Rc::new(RefCell::new(Sha256::new()));
    let source = match manifest.matrix_sha256 {
        Some(_) => source.summed(Rc::clone(&sum)),
        None => source,
    };
    let table = match manifest.form {
        Some(Form::Wide) => separated::read_wide(matrix, source, reading)?,
        None => separated::read(matrix, source, reading)?,
    };
    let sum = hex(&sum.borrow_mut().finalize_reset());
    match &manifest.matrix_sha256 {
        Some(said) if !said.eq_ignore_ascii_case(&sum) => Err(Error::input(
            path,
            format!("{} is not the matrix that this describes", manifest.matrix),
            "write both again, or take `matrix_sha256` out where the matrix was changed by hand",
        )),
        _ => Ok(table),
    }
}

/// A checksum as text.
pub(crate) fn hex(sum: &[u8]) -> String {
    sum.iter().map(|b| format!("{b:02x}")).collect()
}

/// Opens a file that a manifest names: devices and pipes may have no end, and no user named them.
fn part<'r>(path: &Path, reading: &'r Reading<'_>) -> Result<Source<'r>> {
    if std::fs::metadata(path).is_ok_and(|found| !found.is_file()) {
        let hint = "name the files of the matrix and the item texts in the manifest";
        return Err(Error::input(path, "not a file", hint));
    }
    reading.open(path)
}

/// A manifest with its matrix, both already open; no item texts.
pub(super) fn joined(origin: &Path, manifest: Source<'_>, matrix: Source<'_>) -> Result<Benchmark> {
    let manifest = parse(origin, manifest, json::DEPTH)?;
    let options = ReadOptions::default();
    let reading = Reading::new(&options, &Silent, &[]);
    let table = table(origin, &manifest, origin, matrix, &reading)?;
    assemble(origin, manifest, table, ItemTexts::default())
}

/// The benchmark of the manifest at `path` when its matrix is `matrix`; `None` when the file describes something else.
pub(super) fn read_for(
    path: &Path,
    matrix: &Path,
    reading: &Reading<'_>,
) -> Result<Option<Benchmark>> {
    match parse(path, reading.open(path)?, reading.limits.depth) {
        Ok(manifest) if path.with_file_name(&manifest.matrix) == matrix => {
            read(path, reading.open(path)?, reading).map(Some)
        }
        _ => Ok(None),
    }
}

/// The files that a manifest names; none where it is no manifest.
pub(super) fn parts(path: &Path) -> Vec<PathBuf> {
    if !path.is_file() {
        return Vec::new();
    }
    let options = ReadOptions::default();
    let reading = Reading::new(&options, &Silent, &[]);
    let Ok(source) = reading.open(path) else {
        return Vec::new();
    };
    // Anything else may be large: it is not read to find that out.
    if !first_keys(source.head()).iter().any(|k| k == "matrix") {
        return Vec::new();
    }
    let Ok(manifest) = parse(path, source, json::DEEPEST) else {
        return Vec::new();
    };
    [Some(manifest.matrix), manifest.item_text]
        .into_iter()
        .flatten()
        .map(|name| path.with_file_name(name))
        .collect()
}

fn parse(path: &Path, source: Source<'_>, depth: usize) -> Result<Manifest> {
    let text = source.text(path)?;
    json::text(&text, depth).map_err(|e| Error::Input {
        place: json::place(path, &e),
        what: format!("not a manifest: {}", without_place(&e)),
        hint: REMEDY.into(),
    })
}

/// Joins a manifest with its matrix and texts, and checks one against the other.
pub(crate) fn assemble(
    path: &Path,
    manifest: Manifest,
    table: Table,
    texts: ItemTexts,
) -> Result<Benchmark> {
    let Table {
        matrix,
        mut warnings,
    } = table;
    for (what, said, found) in [
        ("models", manifest.models, matrix.n_models()),
        ("items", manifest.items, matrix.n_items()),
    ] {
        if said.is_some_and(|n| n != found) {
            return Err(Error::input(
                path,
                format!(
                    "`{what}` says {}, but {} has {found}",
                    said.unwrap_or(0),
                    manifest.matrix
                ),
                "the two files do not belong together, or one is cut off",
            ));
        }
    }
    let scenarios = scenarios(path, &manifest, matrix.n_items())?;
    let used: usize = scenarios.iter().map(Scenario::n_items).sum();
    if used < matrix.n_items() {
        warnings.push(format!(
            "{} of {} items are in no scenario and left out",
            matrix.n_items() - used,
            matrix.n_items()
        ));
    }
    let mut released = BTreeMap::new();
    for (model, date) in &manifest.released {
        let date: Date = date.parse().map_err(|e| {
            Error::input(
                path,
                format!("`released` of {model:?} is {date:?}: {e}"),
                "write dates as YYYY-MM-DD",
            )
        })?;
        released.insert(model.clone(), date);
    }
    for (key, names) in [
        ("released", manifest.released.keys().collect::<Vec<_>>()),
        ("organisations", manifest.organisations.keys().collect()),
    ] {
        let known: std::collections::HashSet<&String> = matrix.models().iter().collect();
        for name in names.into_iter().filter(|n| !known.contains(n)) {
            let near = nearest(name, matrix.models().iter().map(String::as_str));
            warnings.push(format!(
                "`{key}` names {name:?}, which is no model of the matrix{}",
                near.map_or(String::new(), |n| format!(" (did you mean {n:?}?)"))
            ));
        }
    }
    Ok(Benchmark {
        name: manifest.benchmark,
        origin: path.to_owned(),
        simulated: manifest.simulated,
        source: manifest.source,
        licence: manifest.licence,
        metric: manifest.metric,
        notes: manifest.notes,
        matrix,
        scenarios,
        released,
        organisations: manifest.organisations,
        texts,
        warnings,
    })
}

fn scenarios(path: &Path, manifest: &Manifest, n_items: usize) -> Result<Vec<Scenario>> {
    let wrong = |what: String| Error::input(path, what, REMEDY);
    let mut taken = vec![None; n_items];
    let mut out = Vec::new();
    for (name, subs) in &manifest.scenarios {
        let subs = subs.as_object().ok_or_else(|| {
            wrong(format!(
                "scenario {name:?} is not an object of sub-scenarios"
            ))
        })?;
        let mut scenario = Scenario {
            name: name.clone(),
            aggregate: manifest.aggregate.of(name),
            columns: Vec::new(),
            subscenarios: Vec::new(),
        };
        for (sub, range) in subs {
            let [first, end] = serde_json::from_value::<[usize; 2]>(range.clone())
                .ok()
                .filter(|[first, end]| first < end && *end <= n_items)
                .ok_or_else(|| {
                    wrong(format!(
                        "sub-scenario {name:?} / {sub:?} is {range}: not a [first, end) range of the {n_items} columns"
                    ))
                })?;
            for (column, taken) in taken.iter_mut().enumerate().take(end).skip(first) {
                if let Some(other) = taken.replace(name) {
                    return Err(wrong(format!(
                        "column {column} is in scenario {other:?} and again in {name:?} / {sub:?}"
                    )));
                }
            }
            let at = scenario.columns.len();
            scenario.columns.extend(first..end);
            scenario.subscenarios.push(SubScenario {
                name: sub.clone(),
                items: at..scenario.columns.len(),
            });
        }
        if scenario.columns.is_empty() {
            return Err(wrong(format!("scenario {name:?} has no sub-scenario")));
        }
        out.push(scenario);
    }
    if out.is_empty() {
        return Err(wrong("no scenarios".into()));
    }
    Ok(out)
}

/// Reads item texts: JSON lines with `id`, `text` and optionally `options`, `answer`, `category`.
pub(crate) fn item_texts(path: &Path, source: Source<'_>, depth: usize) -> Result<ItemTexts> {
    #[derive(Deserialize)]
    struct Line {
        id: String,
        #[serde(flatten)]
        text: ItemText,
    }
    let mut texts = ItemTexts::default();
    let content = source.text(path)?;
    // Not `lines()` of any Unicode kind: only a line feed ends a record.
    for (number, line) in content.split('\n').enumerate() {
        if line.trim().is_empty() {
            continue;
        }
        let line: Line = json::text(line, depth).map_err(|e| {
            Error::at_line(
                path,
                number as u64 + 1,
                format!("not an item text: {}", without_place(&e)),
                "write {\"id\": ..., \"text\": ...} a line",
            )
        })?;
        texts.insert(line.id, line.text);
    }
    Ok(texts)
}

/// A benchmark from a table alone: scenarios by the prefixes `scenario[/sub]/id` of the item ids where all have one, else
/// a single scenario named like the file, which is told. Sub-scenarios count equally.
pub(super) fn without(path: &Path, table: Table) -> (Benchmark, Naming) {
    let name = path
        .file_name()
        .map(|n| n.to_string_lossy().into_owned())
        .unwrap_or_default();
    let stem = name.strip_suffix(".gz").unwrap_or(&name);
    let stem = stem.rsplit_once('.').map_or(stem, |(stem, _)| stem);
    let ids = table.matrix.items();
    let split = |id: &str| -> Option<(String, String)> {
        let mut parts = id.splitn(3, '/');
        match (parts.next()?, parts.next()?, parts.next()) {
            (scenario, sub, Some(_)) => Some((scenario.into(), sub.into())),
            (scenario, _, None) => Some((scenario.into(), "all".into())),
        }
    };
    let (keys, naming): (Vec<(String, String)>, _) = match ids.iter().map(|id| split(id)).collect()
    {
        Some(keys) => (keys, Naming::Prefixed),
        None => (
            vec![(stem.to_owned(), "all".to_owned()); ids.len()],
            Naming::File,
        ),
    };
    let benchmark = Benchmark {
        name: stem.to_owned(),
        origin: PathBuf::from(path),
        simulated: false,
        source: String::new(),
        licence: String::new(),
        metric: String::new(),
        notes: String::new(),
        scenarios: by_key(&keys),
        matrix: table.matrix,
        released: BTreeMap::new(),
        organisations: BTreeMap::new(),
        texts: ItemTexts::default(),
        warnings: table.warnings,
    };
    (benchmark, naming)
}

/// Scenarios and sub-scenarios in order of their first item.
pub(super) fn by_key(keys: &[(String, String)]) -> Vec<Scenario> {
    let mut scenarios: Named<'_, Named<'_, Vec<usize>>> = Named::default();
    for (column, (scenario, sub)) in keys.iter().enumerate() {
        scenarios.of(scenario).of(sub).push(column);
    }
    let scenario = |(name, subs): (&str, Named<'_, Vec<usize>>)| {
        let (mut columns, mut subscenarios) = (Vec::new(), Vec::new());
        for (sub, items) in subs.all {
            let at = columns.len();
            columns.extend(items);
            subscenarios.push(SubScenario {
                name: sub.to_owned(),
                items: at..columns.len(),
            });
        }
        Scenario {
            name: name.to_owned(),
            aggregate: Aggregate::Macro,
            columns,
            subscenarios,
        }
    };
    scenarios.all.into_iter().map(scenario).collect()
}

/// Something for every name, in order of the names' first appearance.
#[derive(Default)]
struct Named<'a, T> {
    all: Vec<(&'a str, T)>,
    at: HashMap<&'a str, usize>,
}

impl<'a, T: Default> Named<'a, T> {
    fn of(&mut self, name: &'a str) -> &mut T {
        let next = self.all.len();
        let at = *self.at.entry(name).or_insert(next);
        if at == next {
            self.all.push((name, T::default()));
        }
        &mut self.all[at].1
    }
}
