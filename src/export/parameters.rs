//! Item parameters from any file that has them: ours, py-irt's, and the published pickle.

use std::collections::HashSet;
use std::path::Path;

use super::pyirt::malformed;
use super::{AnchorsFile, MOST_DIMS, ModelFile, Published, check_prior, pyirt};
use crate::data::read::{self, python};
use crate::error::{Error, Result};
use crate::experiment::{Imported, ImportedPart, ImportedSet, Scope, brief};
use crate::irt::{Convention, GivenPrior, ItemParameters, Prior};

const KNOWN: &str = "give a model file (`tinyscope fit DATA --out FILE`), an anchors file, py-irt's best_parameters.json or \
     tinyBenchmarks.pkl";

/// Reads item parameters: a model or anchors file of ours, py-irt's JSON (`convention` where neither the file nor its shape
/// tells it), or tinyBenchmarks.pkl; gzip too. A file of py-irt lacks covariances (they are 0) and a prior (empirical Bayes,
/// started at the file's abilities); the pickle, in whose ids only positions count, lacks the abilities too.
///
/// # Errors
/// With the place, where the file is none of these or its parts do not fit together; a `convention` that contradicts the
/// file's, or for a file that is not py-irt's.
pub fn read_parameters(path: &Path, convention: Option<Convention>) -> Result<Imported> {
    #[derive(serde::Deserialize)]
    struct Kind {
        tinyscope: Option<String>,
        matrix: Option<serde::de::IgnoredAny>,
    }
    let own = |found: Imported| match convention {
        None => Ok(found),
        Some(c) => Err(Error::input(
            path,
            format!(
                "no file of py-irt's, so it is in no convention {}",
                c.name()
            ),
            "leave --convention out: the file names its own",
        )),
    };
    let Some(text) = read::json_text(path)? else {
        return own(published(path)?);
    };
    let mut bytes = text.into_bytes();
    python::mend(&mut false, &mut bytes, true);
    let kind: Kind = serde_json::from_slice(&bytes).map_err(|e| malformed(path, &e, KNOWN))?;
    if kind.matrix.is_some() {
        return Err(Error::input(path, "a manifest, no item parameters", KNOWN));
    }
    // What was valid UTF-8 still is: only ASCII was put in.
    let text = || String::from_utf8_lossy(&bytes);
    match kind.tinyscope.as_deref() {
        None => pyirt::read(path, &bytes, convention),
        Some("model") => own(model(path, ModelFile::parse(path, &text())?)?),
        Some("anchors") => {
            let file = AnchorsFile::parse(path, &text())?;
            let note = format!(
                "item parameters of {} instead of a fit: the anchors file of {}",
                path.display(),
                brief(&file.benchmark)
            );
            own(imported(
                path,
                note,
                file.simulated,
                anchors(path, file, false)?,
            ))
        }
        Some(other) => Err(Error::input(
            path,
            format!("a tinyscope file of the kind {:?}", brief(other)),
            KNOWN,
        )),
    }
}

fn imported(path: &Path, note: String, simulated: bool, sets: Vec<ImportedSet>) -> Imported {
    let mut notes = vec![note];
    if simulated {
        notes.push(format!("{}: fitted on simulated responses", path.display()));
    }
    Imported {
        path: path.to_owned(),
        convention: None,
        notes,
        sets,
    }
}

fn published(path: &Path) -> Result<Imported> {
    let files = match Published::read(path)? {
        Some(Published::Benchmarks(files)) => files,
        Some(_) => {
            return Err(Error::input(
                path,
                "only anchors or lambdas, no item parameters",
                KNOWN,
            ));
        }
        None => return Err(Error::input(path, "no item parameters in it", KNOWN)),
    };
    let mut sets = Vec::new();
    for file in files {
        sets.extend(anchors(path, file, true)?);
    }
    let note = format!(
        "item parameters of {} instead of a fit: as published, convention fork",
        path.display()
    );
    Ok(imported(path, note, false, sets))
}

/// What the files have of a scenario.
struct Part {
    name: String,
    ids: Vec<String>,
    items: ItemParameters,
    prior: Prior,
    b: Option<f64>,
    threshold: Option<f64>,
    models: Vec<String>,
}

fn model(path: &Path, file: ModelFile) -> Result<Imported> {
    if file.version != 1 {
        return Err(Error::input(
            path,
            format!("a model file of version {}, this reads 1", file.version),
            "write one with `tinyscope fit DATA --out FILE`",
        ));
    }
    let joint = file.scope == Scope::Joint.name();
    let mut parts = Vec::with_capacity(file.scenarios.len());
    for s in file.scenarios {
        let items = s.parameters.parameters(s.items.len());
        let items = items.map_err(|what| in_scenario(path, &s.name, what))?;
        parts.push(Part {
            name: s.name,
            ids: s.items,
            items,
            prior: s.ability_prior,
            b: s.b,
            threshold: s.threshold,
            models: s.models,
        });
    }
    let note = format!(
        "item parameters of {} instead of a fit: the model file of {} ({}, seed {})",
        path.display(),
        brief(&file.benchmark),
        brief(&file.split),
        file.seed
    );
    let sets = sets(path, joint, parts, false)?;
    Ok(imported(path, note, file.simulated, sets))
}

fn anchors(path: &Path, file: AnchorsFile, published: bool) -> Result<Vec<ImportedSet>> {
    let joint = file.scope == Scope::Joint.name();
    let mut parts = Vec::with_capacity(file.scenarios.len());
    for s in file.scenarios {
        let items = s.parameters.parameters(s.items.len());
        let items = items.map_err(|what| in_scenario(path, &s.name, what))?;
        parts.push(Part {
            name: s.name,
            ids: s.items,
            items,
            prior: s.prior,
            b: s.b,
            threshold: s.threshold,
            models: Vec::new(),
        });
    }
    sets(path, joint, parts, published)
}

fn in_scenario(path: &Path, name: &str, what: String) -> Error {
    Error::input(
        path,
        format!("scenario {:?}: {what}", brief(name)),
        "the file may be cut off or of another kind",
    )
}

/// One set of all parts, or one a part; checked.
fn sets(path: &Path, joint: bool, parts: Vec<Part>, published: bool) -> Result<Vec<ImportedSet>> {
    let whole = |what: &str| Error::input(path, what, "write the file again");
    if parts.is_empty() {
        return Err(whole("no scenario in it"));
    }
    for part in &parts {
        part.check()
            .map_err(|what| in_scenario(path, &part.name, what))?;
    }
    let binarised = parts.iter().filter(|p| p.threshold.is_some()).count();
    if binarised % parts.len() != 0 {
        return Err(whole("some scenarios were binarised and others not"));
    }
    let groups: Vec<Vec<Part>> = if joint {
        vec![parts]
    } else {
        parts.into_iter().map(|p| vec![p]).collect()
    };
    let mut out = Vec::with_capacity(groups.len());
    for group in groups {
        let first = &group[0];
        if group
            .iter()
            .any(|p| p.prior != first.prior || p.items.convention() != first.items.convention())
        {
            return Err(whole(
                "theta is joint, but its scenarios differ in prior or convention",
            ));
        }
        let prior = if published {
            GivenPrior::Start(first.prior.clone())
        } else {
            GivenPrior::Fitted(first.prior.clone())
        };
        let models = first.models.clone();
        let (mut ids, mut each, mut scenarios) = (Vec::new(), Vec::new(), Vec::new());
        for part in group {
            let from = ids.len();
            ids.extend(part.ids);
            each.push(part.items);
            scenarios.push(ImportedPart {
                scenario: part.name,
                items: from..ids.len(),
                b: part.b,
                threshold: part.threshold,
            });
        }
        // The pickle's scenarios may share items, each with the same parameters.
        let distinct: HashSet<&str> = ids.iter().map(String::as_str).collect();
        if distinct.len() < ids.len() && !published {
            return Err(whole("an item stands in it twice"));
        }
        let Some(items) = ItemParameters::concat(&each) else {
            continue;
        };
        out.push(ImportedSet {
            items,
            ids,
            positional: published,
            parts: scenarios,
            prior,
            models,
        });
    }
    Ok(out)
}

impl Part {
    fn check(&self) -> std::result::Result<(), String> {
        let d = self.items.dims();
        if self.ids.is_empty() {
            return Err("no items".into());
        }
        if d > MOST_DIMS {
            return Err(format!("D is {d}; 1 to {MOST_DIMS} can be used"));
        }
        check_prior(&self.prior, d)?;
        if !self.b.is_none_or(|b| (0.0..=1.0).contains(&b)) {
            return Err("b is an error of scores, in [0, 1]".into());
        }
        if !self.threshold.is_none_or(|c| (0.0..=1.0).contains(&c)) {
            return Err("the threshold is none of scores, in [0, 1]".into());
        }
        Ok(())
    }
}
