//! Sample logs of lm-evaluation-harness for MMLU, made up: to measure and test reading at scale.
//!
//! `cargo run --release --example logs -- DIR [--models 200] [--items 14042] [--bytes-a-sample 2000] [--seed 0]` writes
//! `DIR/ORG__MODEL/samples_mmlu_SUBJECT_TIME.jsonl` for the 57 subjects and `results_TIME.json` beside them. The responses are
//! drawn from a plain IRT population with MMLU's shape and floor of guessing; questions and prompts are words by lot, the same
//! for every model. The same seed gives the same bytes.

#![allow(clippy::print_stdout)]

use std::fs::{self, File};
use std::io::{BufWriter, Write};
use std::path::{Path, PathBuf};
use std::process::ExitCode;
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::Instant;

use rand::RngExt;
use rayon::prelude::*;
use serde_json::json;
use tinyscope::data::Benchmark;
use tinyscope::progress::Silent;
use tinyscope::random::{Stream, rng};
use tinyscope::simulate::{Plain, Shape};

type Failed = Box<dyn std::error::Error + Send + Sync>;

/// When every run was written.
const TIME: &str = "2025-03-01T12-00-00.000000";
/// About so long are the responses and filtered responses of a sample.
const RESPONSES: usize = 240;
const WORDS: &str = "the of a which in is to for and that best following most likely true statement describes about between \
    energy market cell law theory patient value system function water state economic force price group history moral \
    memory government \u{3b1}-helix na\u{ef}ve na\u{ef}vet\u{e9} \"quoted\" x^2 \u{2248} pressure volume rate increase decrease";

/// What to write.
#[derive(Debug, Clone)]
pub struct Logs {
    /// Folders, one a model.
    pub models: usize,
    /// Samples a model, over all subjects; in proportion to the subjects' sizes.
    pub items: usize,
    /// About so long is a line.
    pub bytes_a_sample: usize,
    /// The same seed gives the same bytes.
    pub seed: u64,
}

impl Default for Logs {
    fn default() -> Self {
        Self {
            models: 200,
            items: 14_042,
            bytes_a_sample: 2000,
            seed: 0,
        }
    }
}

#[allow(dead_code)] // the tests that include this file have a main of their own
fn main() -> ExitCode {
    match run() {
        Ok(()) => ExitCode::SUCCESS,
        Err(e) => {
            eprintln!("{e}");
            ExitCode::FAILURE
        }
    }
}

fn run() -> Result<(), Failed> {
    let (mut logs, mut dir) = (Logs::default(), None);
    let mut args = std::env::args().skip(1);
    while let Some(arg) = args.next() {
        let mut number = || -> Result<u64, Failed> {
            let value = args.next().ok_or_else(|| format!("{arg} needs a number"))?;
            Ok(value
                .parse()
                .map_err(|_| format!("{arg} {value}: not a whole number"))?)
        };
        match arg.as_str() {
            "--models" => logs.models = number()? as usize,
            "--items" => logs.items = number()? as usize,
            "--bytes-a-sample" => logs.bytes_a_sample = number()? as usize,
            "--seed" => logs.seed = number()?,
            other if other.starts_with('-') => return Err(format!("{other} is no option").into()),
            _ => dir = Some(PathBuf::from(arg)),
        }
    }
    let dir = dir.ok_or("name a folder to write to")?;
    let start = Instant::now();
    let (truth, bytes) = logs.write(&dir)?;
    let seconds = start.elapsed().as_secs_f64();
    println!(
        "{}: {} models x {} items, {:.1} MB in {seconds:.1} s",
        dir.display(),
        truth.matrix.n_models(),
        truth.matrix.n_items(),
        bytes as f64 / 1e6,
    );
    Ok(())
}

impl Logs {
    /// Writes the logs; returns the responses behind them, subjects in the order of their names, and the bytes written.
    pub fn write(&self, dir: &Path) -> Result<(Benchmark, u64), Failed> {
        let sizes = Path::new(env!("CARGO_MANIFEST_DIR")).join("data/shapes/mmlu.json");
        let mut shape = Shape::read(&sizes)?;
        shape.models = self.models;
        let subjects = &mut shape.scenarios[0].subscenarios;
        scale(subjects, self.items);
        let subjects = subjects.clone();
        let population = Plain::default().population(&shape, self.seed)?;
        let truth = population.draw(&shape, self.seed, &Silent)?.benchmark;
        let mut documents = Vec::with_capacity(truth.matrix.n_items());
        for (subject, n) in &subjects {
            for id in 0..*n {
                documents.push(Document::new(self, subject, id, documents.len())?);
            }
        }
        let bytes = AtomicU64::new(0);
        (0..self.models).into_par_iter().try_for_each(|model| {
            let written = self.model(dir, &truth, model, &subjects, &documents)?;
            bytes.fetch_add(written, Ordering::Relaxed);
            Ok::<(), Failed>(())
        })?;
        Ok((truth, bytes.into_inner()))
    }

    /// Writes one model's folder.
    fn model(
        &self,
        dir: &Path,
        truth: &Benchmark,
        model: usize,
        subjects: &[(String, usize)],
        documents: &[Document],
    ) -> Result<u64, Failed> {
        let name = &truth.matrix.models()[model];
        let folder = dir.join(name.replace('/', "__"));
        fs::create_dir_all(&folder)?;
        let mut random = rng(self.seed, Stream::Simulate(1000 + model));
        let scores = truth.matrix.row(model);
        let (mut first, mut bytes) = (0, 0);
        let mut line = Vec::new();
        let mut results = serde_json::Map::new();
        for (subject, n) in subjects {
            let path = folder.join(format!("samples_mmlu_{subject}_{TIME}.jsonl"));
            let mut file = BufWriter::with_capacity(1 << 18, File::create(path)?);
            for (document, &score) in documents[first..first + n].iter().zip(&scores[first..]) {
                line.clear();
                let chosen = match score {
                    1.0 => document.right,
                    _ => (document.right + random.random_range(1..4)) % 4,
                };
                document.sample(chosen, score, &mut random, &mut line)?;
                bytes += line.len() as u64;
                file.write_all(&line)?;
            }
            file.flush()?;
            let right: f64 = scores[first..first + n].iter().sum();
            results.insert(
                format!("mmlu_{subject}"),
                json!({"alias": subject, "acc,none": right / *n as f64}),
            );
            first += n;
        }
        let results = json!({"results": results, "model_source": "hf", "model_name": name});
        let text = results.to_string();
        fs::write(folder.join(format!("results_{TIME}.json")), &text)?;
        Ok(bytes + text.len() as u64)
    }
}

/// Gives the subjects `items` items in proportion to their sizes, at least one each where that is possible.
fn scale(subjects: &mut Vec<(String, usize)>, items: usize) {
    subjects.truncate(items);
    let total: usize = subjects.iter().map(|s| s.1).sum();
    let (mut seen, mut given) = (0, 0);
    let count = subjects.len();
    for (k, (_, size)) in subjects.iter_mut().enumerate() {
        seen += *size;
        let upto = (items * seen / total.max(1)).clamp(given + 1, items - (count - 1 - k));
        *size = upto - given;
        given = upto;
    }
}

/// What is the same in every model's sample of a document.
struct Document {
    /// Up to the responses.
    start: Vec<u8>,
    /// After the filtered responses, up to the score.
    end: Vec<u8>,
    right: usize,
}

impl Document {
    fn new(logs: &Logs, subject: &str, id: usize, item: usize) -> Result<Self, Failed> {
        let mut random = rng(logs.seed, Stream::Simulate(1 << 24 | item));
        let vocabulary: Vec<&str> = WORDS.split_whitespace().collect();
        let mut text = |words: usize| -> String {
            let words = (0..words).map(|_| vocabulary[random.random_range(0..vocabulary.len())]);
            words.collect::<Vec<_>>().join(" ")
        };
        let question = format!("{}?", text(14));
        let choices: Vec<String> = (0..4).map(|_| text(3)).collect();
        let right = random.random_range(0..4);
        let mut hash = || -> String {
            let words = (0..4).map(|_| format!("{:016x}", random.random::<u64>()));
            words.collect()
        };
        let end = format!(
            ", \"filter\": \"none\", \"metrics\": [\"acc\"], \"doc_hash\": \"{}\", \"prompt_hash\": \"{}\", \"target_hash\": \"{}\", \"acc\": ",
            hash(),
            hash(),
            hash()
        );
        let doc =
            json!({"question": question, "subject": subject, "choices": choices, "answer": right});
        let start = |shots: &str| {
            let prompt = format!(
                "The following are multiple choice questions (with answers) about {}.\n\n{shots}{question}\nA. {}\nB. {}\nC. {}\nD. {}\nAnswer:",
                subject.replace('_', " "),
                choices[0],
                choices[1],
                choices[2],
                choices[3]
            );
            let requests: serde_json::Map<String, serde_json::Value> = ["A", "B", "C", "D"]
                .iter()
                .enumerate()
                .map(|(k, answer)| {
                    let request = json!({"arg_0": prompt, "arg_1": format!(" {answer}")});
                    (format!("gen_args_{k}"), request)
                })
                .collect();
            let requests = serde_json::Value::Object(requests);
            format!(
                "{{\"doc_id\": {id}, \"doc\": {doc}, \"target\": \"{right}\", \"arguments\": {requests}, \"resps\": "
            )
        };
        // Each of the four requests repeats the prompt: shots fill it until the line is long enough.
        let room = logs
            .bytes_a_sample
            .saturating_sub(start("").len() + end.len() + RESPONSES);
        let shots = format!("{} ", vocabulary.join(" ")).repeat(1 + room / 4 / WORDS.len());
        let shots: String = shots.chars().take(room / 4).collect();
        Ok(Self {
            start: start(&shots).into_bytes(),
            end: end.into_bytes(),
            right,
        })
    }

    /// Appends a model's sample as a line.
    fn sample(
        &self,
        chosen: usize,
        score: f64,
        random: &mut impl RngExt,
        line: &mut Vec<u8>,
    ) -> std::io::Result<()> {
        let mut loss = [0.0; 4];
        for (k, loss) in loss.iter_mut().enumerate() {
            let x: f64 = random.random();
            *loss = if k == chosen { -x } else { -1.0 - 9.0 * x };
        }
        line.extend_from_slice(&self.start);
        for filtered in [false, true] {
            if filtered {
                line.extend_from_slice(b", \"filtered_resps\": ");
            }
            for (k, loss) in loss.iter().enumerate() {
                let (open, close) = if filtered { ("[", "]") } else { ("[[", "]]") };
                let before = if k == 0 { "[" } else { ", " };
                write!(line, "{before}{open}\"{loss:.7}\", \"False\"{close}")?;
            }
            line.push(b']');
        }
        line.extend_from_slice(&self.end);
        writeln!(line, "{score:.1}}}")
    }
}
