//! `tinyscope adapt`: a new model asked one item at a time.

mod answers;
mod ask;
mod session;

use std::collections::HashSet;
use std::io::{self, BufReader, Write};
use std::path::Path;

use serde_json::{Value, json};
use tinyscope::Error;
use tinyscope::anchors::Rule;
use tinyscope::data::{Benchmark, ItemTexts, read, split_or_all};
use tinyscope::error::nearest;
use tinyscope::experiment::{Adaptive, Fitted, Folds, LEVEL, Stop, fit_benchmark, train_adaptive};
use tinyscope::export::AnchorsFile;
use tinyscope::progress::{Observer, Part};

use self::answers::Answers;
use self::ask::Asker;
use self::session::{Ended, Found, Ready, Session};
use super::table::Table;
use super::{Bar, Failure, benchmark, heading, json, threads, warn};
use crate::cli::Adapt;

pub(crate) fn run(args: &Adapt, out: &mut dyn Write) -> Result<(), Failure> {
    threads(args.model.threads)?;
    let prepared = prepare(args)?;
    keep_apart(args)?;
    let mut answers = Answers::open(args.answers.as_deref())?;
    let mut notes = prepared.warnings(&answers);
    warn(&notes);
    let mut asker = match &args.ask {
        Some(shell) => Asker::Command {
            shell,
            timeout: args.timeout,
        },
        None => Asker::Lines(Box::new(BufReader::new(io::stdin()))),
    };
    let mut errors = io::stderr();
    // With --json, standard output is for the result alone.
    let talk: &mut dyn Write = if args.json { &mut errors } else { &mut *out };
    heading(talk, &prepared.benchmark, prepared.simulated)?;
    let stop = Stop {
        n: args.n,
        half_width: args.half_width,
    };
    let mut found: Vec<Found> = Vec::new();
    for ready in &prepared.scenarios {
        let session = Session::new(ready, &prepared.texts, stop);
        let one = session.run(&mut answers, &mut asker, talk)?;
        let ended = one.ended;
        found.push(one);
        if ended == Ended::Quit {
            break;
        }
    }
    if let Some(Found {
        ended: Ended::Quit, ..
    }) = found.last()
    {
        notes.push(format!("stopped early: {}", answers.how_to_go_on()));
        warn(&notes[notes.len() - 1..]);
    }
    if args.json {
        json(out, &result(&prepared, &found, &notes))?;
    } else {
        writeln!(out)?;
        table(&prepared, &found, out)?;
    }
    Ok(())
}

/// What is asked, from an anchors file or a fit.
struct Prepared {
    benchmark: String,
    simulated: bool,
    rule: Rule,
    scenarios: Vec<Ready>,
    /// Ids of the items of all scenarios, those not asked for too.
    known: HashSet<String>,
    texts: ItemTexts,
    notes: Vec<String>,
}

impl Prepared {
    fn calibrated(&self) -> bool {
        let mut each = self.scenarios.iter();
        each.all(|s| !s.adaptive.calibration.stages.is_empty())
    }

    fn warnings(&self, answers: &Answers) -> Vec<String> {
        let mut notes = self.notes.clone();
        if !self.calibrated() {
            notes.push(
                "nothing was learned of adaptive tests: intervals are the model's own and too narrow; \
                 `tinyscope anchors DATA --adaptive --out FILE` learns, and so does `tinyscope adapt DATA`"
                    .into(),
            );
        }
        let unknown = answers.iter().filter(|(id, _)| !self.known.contains(*id));
        match unknown.count() {
            0 => {}
            count => notes.push(format!(
                "{count} answers are of items that the benchmark lacks: kept, but not used"
            )),
        }
        notes
    }
}

fn prepare(args: &Adapt) -> Result<Prepared, Failure> {
    let path = &args.data;
    let rule = args.rule.map(crate::cli::RuleArg::rule);
    let text = match read::demo_name(path) {
        None if path.is_file() => read::own_text(path, &args.reading.options(&args.more))?,
        _ => None,
    };
    match text {
        Some(text) => Ok(from_file(path, &text, args.model.scenarios(), rule)?),
        None => from_data(args, rule.unwrap_or_default()),
    }
}

fn from_file(
    path: &Path,
    text: &str,
    names: &[String],
    rule: Option<Rule>,
) -> tinyscope::Result<Prepared> {
    let file = AnchorsFile::parse(path, text)?;
    let all = || file.scenarios.iter().map(|s| s.name.as_str());
    if let Some(name) = names.iter().find(|n| !all().any(|s| s == n.as_str())) {
        let hint = match nearest(name, all()) {
            Some(near) => format!("did you mean {near:?}?"),
            None => format!("there are: {}", all().collect::<Vec<_>>().join(", ")),
        };
        return Err(Error::setting(
            format!("no scenario is named {name:?}"),
            hint,
        ));
    }
    let asked = file
        .scenarios
        .iter()
        .filter(|s| names.is_empty() || names.contains(&s.name));
    let scenarios: Vec<Ready> = asked
        .map(|s| {
            Ok(Ready {
                name: s.name.clone(),
                items: s.items.clone(),
                adaptive: s.adaptive(rule)?,
            })
        })
        .collect::<tinyscope::Result<_>>()?;
    Ok(Prepared {
        benchmark: file.benchmark.clone(),
        simulated: file.simulated,
        rule: rule_of(&scenarios),
        known: file
            .scenarios
            .iter()
            .flat_map(|s| s.items.iter().cloned())
            .collect(),
        scenarios,
        texts: ItemTexts::default(),
        notes: Vec::new(),
    })
}

fn rule_of(scenarios: &[Ready]) -> Rule {
    scenarios
        .first()
        .map_or(Rule::default(), |s| s.adaptive.calibration.rule)
}

fn from_data(args: &Adapt, rule: Rule) -> Result<Prepared, Failure> {
    let reading = args.reading.options(&args.more);
    let benchmark = benchmark(&args.data, &reading, &Bar::new())?;
    let settings = args.model.settings(&benchmark)?;
    let split = split_or_all(&benchmark, args.model.split.as_ref(), settings.seed)?;
    let bar = Bar::new();
    let fitted = fit_benchmark(
        &benchmark,
        &split,
        &settings,
        &Part::new(&bar, "", 0.0, 0.3),
    )?;
    let rest = Part::new(&bar, "", 0.3, 1.0);
    let trained = train_for_tests(&benchmark, &fitted, rule, args.n, &rest)?;
    drop(bar);
    let ids = benchmark.matrix.items();
    let scenarios = fitted.scenarios.iter().zip(trained).map(|(s, adaptive)| {
        let scenario = &benchmark.scenarios[s.index];
        Ready {
            name: scenario.name.clone(),
            items: scenario.columns.iter().map(|&c| ids[c].clone()).collect(),
            adaptive,
        }
    });
    Ok(Prepared {
        benchmark: benchmark.name.clone(),
        simulated: benchmark.simulated,
        rule,
        scenarios: scenarios.collect(),
        known: ids.iter().cloned().collect(),
        texts: benchmark.texts.clone(),
        notes: [benchmark.warnings.clone(), fitted.warnings.clone()].concat(),
    })
}

/// What adaptive tests of up to `n` answers need beside the fit.
fn train_for_tests(
    benchmark: &Benchmark,
    fitted: &Fitted,
    rule: Rule,
    n: usize,
    observer: &dyn Observer,
) -> tinyscope::Result<Vec<Adaptive>> {
    let folds = Folds::fit(benchmark, fitted, &Part::new(observer, "", 0.0, 0.4))?;
    let rest = Part::new(observer, "", 0.4, 1.0);
    train_adaptive(benchmark, fitted, &folds, rule, n, LEVEL, &rest)
}

/// The answers are not written over what is read.
fn keep_apart(args: &Adapt) -> tinyscope::Result<()> {
    let target = args.answers.as_ref().and_then(|p| p.canonicalize().ok());
    let sources = std::iter::once(&args.data).chain(&args.more.more);
    let mut read = sources.flat_map(|source| read::files(source));
    match target {
        Some(target) if read.any(|f| f.canonicalize().is_ok_and(|f| f == target)) => {
            Err(Error::setting(
                format!("--answers {} is what is read", target.display()),
                "name another file",
            ))
        }
        _ => Ok(()),
    }
}

fn result(prepared: &Prepared, found: &[Found], notes: &[String]) -> Value {
    let scenarios: Vec<Value> = found
        .iter()
        .map(|f| {
            let answers: Vec<Value> = f
                .asked
                .iter()
                .map(|(id, y)| json!({"item": id, "score": y}))
                .collect();
            json!({
                "name": f.name, "estimate": f.interval.estimate, "low": f.interval.low, "high": f.interval.high,
                "half_width": f.half_width, "n": f.asked.len(), "items": f.items, "ended": f.ended.name(),
                "random_items": f.random_items(), "answers": answers,
            })
        })
        .collect();
    json!({
        "benchmark": prepared.benchmark, "simulated": prepared.simulated, "rule": prepared.rule.name(),
        "level": LEVEL, "calibrated": prepared.calibrated(), "warnings": notes, "scenarios": scenarios,
        "overall": {"estimate": overall(prepared, found)},
    })
}

/// The mean over scenarios, where all were asked.
fn overall(prepared: &Prepared, found: &[Found]) -> Option<f64> {
    let sum: f64 = found.iter().map(|f| f.interval.estimate).sum();
    (found.len() == prepared.scenarios.len()).then(|| sum / found.len().max(1) as f64)
}

fn table(prepared: &Prepared, found: &[Found], out: &mut dyn Write) -> io::Result<()> {
    let headings = [
        "scenario",
        "ended by",
        "estimate",
        "from",
        "to",
        "answers",
        "of items",
        "random items",
    ];
    let mut table = Table::new(2, &headings);
    for f in found {
        let score = |x: f64| format!("{x:.4}");
        table.row([
            f.name.clone(),
            f.ended.name().into(),
            score(f.interval.estimate),
            score(f.interval.low),
            score(f.interval.high),
            f.asked.len().to_string(),
            f.items.to_string(),
            f.random_items().to_string(),
        ]);
    }
    write!(out, "{}", table.text())?;
    if let Some(mean) = overall(prepared, found).filter(|_| found.len() > 1) {
        writeln!(
            out,
            "\nmean score over the {} scenarios: {mean:.4}",
            found.len()
        )?;
    }
    let what = if prepared.calibrated() {
        "90 % interval"
    } else {
        "90 % interval by the model alone"
    };
    writeln!(
        out,
        "\nfrom, to: {what}; random items: how many right-or-wrong ones give as narrow a one"
    )
}
