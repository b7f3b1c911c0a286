//! How estimates hold for test models that are unlike those that train: newer, of other organisations, stronger.

use super::LEVEL;
use super::metrics::Metrics;
use super::settings::Settings;
use super::trial::{Judged, Trial};
use crate::anchors::SelectionKind;
use crate::data::{Benchmark, SplitKind, split};
use crate::error::{Error, Result};
use crate::estimate::Estimator;
use crate::progress::{Observer, Part as Stretch};

/// The splits compared; the first is what the others are held against.
pub const SPLITS: [SplitKind; 4] = [
    SplitKind::Iid,
    SplitKind::Date,
    SplitKind::Org,
    SplitKind::Top,
];

/// One split, selection and estimator on one scenario, over seeds.
#[derive(Debug, Clone, PartialEq)]
pub struct ShiftRow {
    /// Index of the scenario; `None` for the mean over scenarios.
    pub scenario: Option<usize>,
    /// How the items were chosen.
    pub selection: SelectionKind,
    /// The estimator.
    pub estimator: Estimator,
    /// Which models test.
    pub split: SplitKind,
    /// Mean over seeds of the mean absolute error.
    pub mae: f64,
    /// Mean over seeds of the mean error: above 0 the models are overrated.
    pub bias: f64,
    /// Mean over seeds of the largest absolute error.
    pub max_error: f64,
    /// Mean over the seeds where it is defined of Spearman's rho, within the test models. Where these are of like strength,
    /// as in `top`, it is smaller for that alone.
    pub spearman: Option<f64>,
    /// Share of the test models of all seeds whose true score lies in the interval of [`LEVEL`]; for `stacked` only.
    pub coverage: Option<f64>,
    /// Test models, of all seeds together.
    pub models: usize,
    /// Number of seeds.
    pub seeds: usize,
    /// Its MAE over that of `iid`; `None` for `iid` itself, and where that is 0.
    pub ratio: Option<f64>,
}

/// The comparison.
#[derive(Debug, Clone, PartialEq)]
pub struct Shift {
    /// By scenario (the mean over them last), selection, method and split.
    pub rows: Vec<ShiftRow>,
    /// Splits that these data cannot make, and why.
    pub skipped: Vec<(SplitKind, String)>,
    /// What the user should know.
    pub warnings: Vec<String>,
}

/// What a warning takes: an error so many times iid's ...
const WORSE: f64 = 1.5;
/// ... and larger by so much of the score, below which it does no harm.
const HARM: f64 = 0.005;
/// A mean error of so much, and at least half the MAE, is one-sided.
const ONE_SIDED: f64 = 0.01;

impl ShiftRow {
    /// In plain words what is wrong with estimates under this split; `None` where they hold. `iid` is the row of the same
    /// scenario, selection and method under that split.
    ///
    /// Said are: a MAE of 1.5 times iid's or more that is larger by half a point at least; a bias of one point or more that
    /// is half the MAE at least and half a point more than iid's; coverage below the level by more than .05 and two standard
    /// errors of one seed's test models.
    pub fn trouble(&self, iid: &Self) -> Option<String> {
        let who = match self.split {
            SplitKind::Date => "newer models",
            SplitKind::Org => "models of other organisations",
            SplitKind::Top => "stronger models",
            SplitKind::Iid | SplitKind::File(_) => return None,
        };
        let points = |x: f64| format!("{:.1} points", 100.0 * x.abs());
        let mut said = Vec::new();
        if let Some(ratio) = self.ratio.filter(|r| *r >= WORSE)
            && self.mae - iid.mae >= HARM
        {
            said.push(format!("MAE {ratio:.1} times iid's ({})", points(self.mae)));
        }
        let one_sided = self.bias.abs() >= ONE_SIDED && self.bias.abs() >= 0.5 * self.mae;
        if one_sided && (self.bias - iid.bias).abs() >= HARM {
            let way = if self.bias < 0.0 { "under" } else { "over" };
            said.push(format!("{who} are {way}rated by {}", points(self.bias)));
        }
        if let Some(c) = self.coverage {
            // Seeds share models: their answers count once.
            let models = self.models as f64 / self.seeds.max(1) as f64;
            let error = (LEVEL * (1.0 - LEVEL) / models.max(1.0)).sqrt();
            if c < LEVEL - 0.05 && c < LEVEL - 2.0 * error {
                said.push(format!(
                    "the {:.0} % intervals of {who} hold {:.0} %",
                    100.0 * LEVEL,
                    100.0 * c
                ));
            }
        }
        (!said.is_empty()).then(|| said.join("; "))
    }
}

impl Shift {
    /// Of one split the row with the smallest MAE of a scenario (`None`: the mean over scenarios).
    pub fn best(&self, scenario: Option<usize>, split: &SplitKind) -> Option<&ShiftRow> {
        let rows = self.rows.iter();
        rows.filter(|r| r.scenario == scenario && r.split == *split)
            .min_by(|a, b| a.mae.total_cmp(&b.mae))
    }

    /// The row of the same scenario, selection and method under the iid split.
    pub fn iid(&self, row: &ShiftRow) -> Option<&ShiftRow> {
        self.rows.iter().find(|r| {
            r.split == SplitKind::Iid
                && (r.scenario, r.selection, r.estimator)
                    == (row.scenario, row.selection, row.estimator)
        })
    }
}

/// Sums over the seeds of one row.
#[derive(Default)]
struct Sums {
    mae: f64,
    bias: f64,
    max: f64,
    seeds: f64,
    spearman: (f64, f64),
    covered: (usize, usize),
    models: usize,
}

type Key = (Option<usize>, SelectionKind, Estimator, usize);

/// Runs [`SPLITS`] with `settings.n` items a scenario on `seeds` seeds from `settings.seed` on; `settings.split` does not
/// count. Of a split that no seed decides (date, top) only the choice of items differs between seeds; it is fitted once.
/// `top` is by the overall score of the whole benchmark, whatever scenarios are asked for.
///
/// # Errors
/// No seeds; what keeps the iid split from being made or fitted (of the others it is told in [`Shift::skipped`]);
/// cancellation.
pub fn shift(
    benchmark: &Benchmark,
    settings: &Settings,
    seeds: usize,
    observer: &dyn Observer,
) -> Result<Shift> {
    if seeds == 0 {
        return Err(Error::setting("no seeds", "ask for one at least"));
    }
    let mut found: Vec<(Key, Sums)> = Vec::new();
    let mut out = Shift {
        rows: Vec::new(),
        skipped: Vec::new(),
        warnings: Vec::new(),
    };
    for (at, kind) in SPLITS.iter().enumerate() {
        let stretch = Stretch::new(
            observer,
            kind.to_string(),
            at as f64 / SPLITS.len() as f64,
            (at + 1) as f64 / SPLITS.len() as f64,
        );
        let settings = Settings {
            split: kind.clone(),
            ..settings.clone()
        };
        match one_split(benchmark, &settings, seeds, &stretch, &mut out.warnings) {
            Ok(judged) => {
                for (selection, judged) in judged {
                    add(&mut found, at, selection, &judged);
                }
            }
            Err(Error::Setting { what, .. }) if *kind != SplitKind::Iid => {
                out.skipped.push((kind.clone(), what));
            }
            Err(e) => return Err(e),
        }
    }
    found.sort_by_key(|((scenario, selection, method, split), _)| {
        (scenario.is_none(), *scenario, *selection, *method, *split)
    });
    let mut iid: Option<(Key, f64)> = None;
    for (key, sums) in found {
        let (scenario, selection, method, at) = key;
        let mae = sums.mae / sums.seeds;
        if at == 0 {
            iid = Some((key, mae));
        }
        let same = |(of, _): &(Key, f64)| (of.0, of.1, of.2) == (scenario, selection, method);
        let base = iid.filter(|i| at > 0 && same(i) && i.1 > 0.0);
        out.rows.push(ShiftRow {
            scenario,
            selection,
            estimator: method,
            split: SPLITS[at].clone(),
            mae,
            bias: sums.bias / sums.seeds,
            max_error: sums.max / sums.seeds,
            spearman: (sums.spearman.1 > 0.0).then(|| sums.spearman.0 / sums.spearman.1),
            coverage: (sums.covered.1 > 0).then(|| sums.covered.0 as f64 / sums.covered.1 as f64),
            models: sums.models,
            seeds: sums.seeds as usize,
            ratio: base.map(|(_, iid)| mae / iid),
        });
    }
    Ok(out)
}

/// Every seed's test models under every selection.
fn one_split(
    benchmark: &Benchmark,
    settings: &Settings,
    seeds: usize,
    observer: &dyn Observer,
    warnings: &mut Vec<String>,
) -> Result<Vec<(SelectionKind, Vec<Judged>)>> {
    let mut out = Vec::new();
    let mut trial: Option<Trial<'_>> = None;
    for k in 0..seeds {
        let settings = Settings {
            seed: settings.seed + k as u64,
            ..settings.clone()
        };
        let at = |x: f64| (k as f64 + x) / seeds as f64;
        let divided = split(benchmark, &settings.split, settings.seed)?;
        let known = trial.take().filter(|t| t.fitted.split == divided);
        let fitted = match known {
            Some(known) => known,
            None => {
                let label = format!("seed {}", settings.seed);
                let stretch = Stretch::new(observer, label, at(0.0), at(0.6));
                Trial::fit(benchmark, &divided, &settings, &stretch)?
            }
        };
        for w in &fitted.fitted.warnings {
            let w = format!("{}: {w}", settings.split);
            if !warnings.contains(&w) {
                warnings.push(w);
            }
        }
        for &kind in &settings.selections {
            out.push((kind, fitted.judge(kind, &settings, true, observer)?));
        }
        trial = Some(fitted);
    }
    Ok(out)
}

fn add(found: &mut Vec<(Key, Sums)>, split: usize, selection: SelectionKind, judged: &[Judged]) {
    for scenario in judged {
        for (k, method) in Estimator::ALL.into_iter().enumerate() {
            let m = Metrics::of(&scenario.pairs(k));
            let (Some(mae), Some(bias), Some(max)) = (m.mae, m.bias, m.max_error) else {
                continue;
            };
            let key = (scenario.scenario, selection, method, split);
            let at = found.iter().position(|(k, _)| *k == key);
            let at = at.unwrap_or_else(|| {
                found.push((key, Sums::default()));
                found.len() - 1
            });
            let sums = &mut found[at].1;
            sums.mae += mae;
            sums.bias += bias;
            sums.max += max;
            sums.seeds += 1.0;
            sums.models += m.models;
            if let Some(rho) = m.spearman {
                sums.spearman.0 += rho;
                sums.spearman.1 += 1.0;
            }
            if k + 1 == Estimator::ALL.len() {
                for model in &scenario.models {
                    if let Some(i) = model.interval {
                        sums.covered.0 += usize::from(i.covers(model.truth));
                        sums.covered.1 += 1;
                    }
                }
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::experiment::cases::{benchmark, few};
    use crate::progress::Silent;

    fn row(split: SplitKind, mae: f64, bias: f64, coverage: f64) -> ShiftRow {
        ShiftRow {
            scenario: Some(0),
            selection: SelectionKind::Random,
            estimator: Estimator::ALL[6],
            split,
            mae,
            bias,
            max_error: mae,
            spearman: None,
            coverage: Some(coverage),
            models: 100,
            seeds: 1,
            ratio: Some(mae / 0.02),
        }
    }

    #[test]
    fn trouble_is_said_in_plain_words_and_only_where_there_is_some() {
        let iid = row(SplitKind::Iid, 0.02, 0.001, 0.91);
        let top = row(SplitKind::Top, 0.046, -0.031, 0.6)
            .trouble(&iid)
            .unwrap();
        assert_eq!(
            top,
            "MAE 2.3 times iid's (4.6 points); stronger models are underrated by 3.1 points; \
             the 90 % intervals of stronger models hold 60 %"
        );
        let over = row(SplitKind::Date, 0.025, 0.02, 0.88)
            .trouble(&iid)
            .unwrap();
        assert_eq!(over, "newer models are overrated by 2.0 points");
        assert_eq!(row(SplitKind::Org, 0.028, 0.009, 0.86).trouble(&iid), None);
        assert_eq!(row(SplitKind::Iid, 0.9, 0.9, 0.1).trouble(&iid), None);
    }

    #[test]
    fn splits_that_cannot_be_made_are_said_and_the_others_compared() {
        let b = benchmark();
        let settings = Settings { n: 12, ..few() };
        let found = shift(&b, &settings, 2, &Silent).unwrap();
        // No dates, and every model its own organisation.
        let skipped: Vec<&SplitKind> = found.skipped.iter().map(|(kind, _)| kind).collect();
        assert_eq!(skipped, [&SplitKind::Date, &SplitKind::Org]);
        assert!(found.skipped[0].1.contains("release dates"));
        assert_eq!(found.rows.len(), 3 * 3 * 7 * 2);
        for r in &found.rows {
            assert_eq!(r.models, 20);
            assert_eq!(r.ratio.is_some(), r.split == SplitKind::Top);
            let stacked = r.estimator == Estimator::Stacked;
            assert_eq!(r.coverage.is_some(), stacked);
            assert!(r.bias.abs() <= r.mae + 1e-12 && r.mae <= r.max_error);
            let iid = found.iid(r).unwrap();
            assert_eq!((iid.scenario, iid.estimator), (r.scenario, r.estimator));
            if let Some(ratio) = r.ratio {
                assert!((ratio - r.mae / iid.mae).abs() < 1e-12);
            }
        }
        assert_eq!(found, shift(&b, &settings, 2, &Silent).unwrap());
        assert!(shift(&b, &settings, 0, &Silent).is_err());
    }

    #[test]
    fn dates_and_organisations_are_used_where_there_are_any() {
        let mut b = benchmark();
        for (l, name) in b.matrix.models().to_vec().into_iter().enumerate() {
            let date = format!("2024-{:02}-01", l % 12 + 1);
            b.released.insert(name.clone(), date.parse().unwrap());
            b.organisations.insert(name, format!("org{}", l % 8));
        }
        let settings = Settings {
            n: 12,
            scenarios: vec![0],
            selections: vec![SelectionKind::Random],
            ..few()
        };
        let found = shift(&b, &settings, 1, &Silent).unwrap();
        assert!(found.skipped.is_empty());
        assert_eq!(found.rows.len(), 7 * 4);
    }
}
