//! The models of all sources, and the scores that count.

use std::collections::HashSet;
use std::path::PathBuf;

use super::Part;
use super::layout::Layout;
use super::names::Known;
use crate::data::read::{Names, Runs, own_names};
use crate::data::{MatrixBuilder, ResponseMatrix, count, list};

/// The joined models.
pub(super) struct Models {
    /// Their names, with the source that each comes from first.
    pub(super) names: Vec<(String, usize)>,
    /// By source: the joined model of each row.
    pub(super) rows: Vec<Vec<usize>>,
}

impl Models {
    /// In the order of the sources.
    pub(super) fn of(parts: &[Part], names: Names) -> Self {
        let mut known = Known::new(names);
        let (mut all, mut rows) = (Vec::new(), Vec::new());
        for (source, part) in parts.iter().enumerate() {
            let models = part.benchmark.matrix.models();
            let places = known.places(models.iter().map(String::as_str));
            let places = places.into_iter().zip(models).map(|(place, name)| {
                let place = place.unwrap_or_else(|| {
                    all.push((name.clone(), source));
                    all.len() - 1
                });
                known.set(name, place);
                place
            });
            rows.push(places.collect());
        }
        Self { names: all, rows }
    }

    /// The joined scores, and remarks on those that differ: the later source counts, or a run of its own is kept as
    /// `MODEL @SOURCE` below all others. By source and row: where its scores went.
    pub(super) fn scores(
        &self,
        parts: &[Part],
        layout: &Layout,
        runs: Runs,
        warnings: &mut Vec<String>,
    ) -> (ResponseMatrix, Vec<Vec<usize>>) {
        let labels = labels(parts);
        let mut of: Vec<Vec<(usize, usize)>> = vec![Vec::new(); self.names.len()];
        for (source, rows) in self.rows.iter().enumerate() {
            for (l, &row) in rows.iter().enumerate() {
                of[row].push((source, l));
            }
        }
        let mut matrix = MatrixBuilder::new(layout.ids());
        let mut went = self.rows.clone();
        let mut differing: Vec<Vec<String>> = vec![Vec::new(); parts.len()];
        let mut apart: Vec<(usize, usize)> = Vec::new();
        let mut scores = vec![f64::NAN; layout.n_items()];
        for ((name, _), of) in self.names.iter().zip(&of) {
            scores.fill(f64::NAN);
            for &(source, l) in of {
                let cells = layout.cells(source, &parts[source].benchmark, l);
                let differs = |(at, y): &(usize, f64)| !scores[*at].is_nan() && scores[*at] != *y;
                let n = cells.iter().filter(|c| differs(c)).count();
                if n > 0 && runs == Runs::Separate {
                    apart.push((source, l));
                    continue;
                }
                if n > 0 {
                    differing[source].push(format!("{name} ({})", count(n, "item")));
                }
                for (at, y) in cells {
                    scores[at] = y;
                }
            }
            matrix.push(name.clone(), &scores);
        }
        let mut taken: HashSet<String> = self.names.iter().map(|n| n.0.clone()).collect();
        apart.sort_unstable();
        for (source, l) in apart {
            scores.fill(f64::NAN);
            for (at, y) in layout.cells(source, &parts[source].benchmark, l) {
                scores[at] = y;
            }
            let name = &self.names[self.rows[source][l]].0;
            let name = unique(&format!("{name} @{}", labels[source]), &mut taken);
            went[source][l] = matrix.n_models();
            matrix.push(name, &scores);
        }
        for (part, differing) in parts.iter().zip(differing) {
            if !differing.is_empty() {
                warnings.push(format!(
                    "{}: other scores than in a source before it, the later ones count: {} (--runs separate keeps both)",
                    part.path.display(),
                    list(differing.iter().map(String::as_str))
                ));
            }
        }
        (matrix.finish(), went)
    }
}

/// The sources by their own names, numbered where these are equal.
fn labels(parts: &[Part]) -> Vec<String> {
    let paths: Vec<PathBuf> = parts.iter().map(|p| p.path.clone()).collect();
    own_names(&paths)
}

/// The name, numbered where it is taken; it is from then on.
pub(super) fn unique(name: &str, taken: &mut HashSet<String>) -> String {
    let mut unique = name.to_owned();
    for n in 2.. {
        if taken.insert(unique.clone()) {
            break;
        }
        unique = format!("{name} #{n}");
    }
    unique
}
