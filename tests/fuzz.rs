//! Every reader on damaged files, through the public entry points: a benchmark that keeps its promises, or an error that
//! begins with the file's path; never a panic, a hang or memory without bound. `PROPTEST_CASES` asks for a longer run.

#![allow(clippy::unwrap_used, clippy::expect_used)]

#[path = "all/common/damage.rs"]
mod damage;

use std::alloc::{GlobalAlloc, Layout, System};
use std::collections::HashSet;
use std::fs;
use std::io::Write;
use std::path::Path;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::time::{Duration, Instant};

use damage::{Damage, damaged, damages};
use proptest::prelude::*;
use proptest::test_runner::TestCaseError;
use tinyscope::data::read::{DEEPEST, DEPTH, Limits, ReadOptions, Runs, benchmark, responses};
use tinyscope::data::{Benchmark, Diagnostics};

/// Most memory of this process: damaged files are of some KiB, the buffers of all tests that run at once a few MiB.
const MEMORY: usize = 128 << 20;
/// Longest that one small file takes, however busy the machine is.
const TIME: Duration = Duration::from_secs(10);
/// Longest error message.
const MESSAGE: usize = 2000;

/// Counts what is held, and refuses what no reader of small files should ask for.
struct Counting;

static HELD: AtomicUsize = AtomicUsize::new(0);
static MOST: AtomicUsize = AtomicUsize::new(0);

// SAFETY: every call goes on to the system's allocator as it came.
unsafe impl GlobalAlloc for Counting {
    unsafe fn alloc(&self, layout: Layout) -> *mut u8 {
        let held = HELD.fetch_add(layout.size(), Ordering::Relaxed) + layout.size();
        MOST.fetch_max(held, Ordering::Relaxed);
        if held > 8 * MEMORY {
            return std::ptr::null_mut();
        }
        // SAFETY: as above.
        unsafe { System.alloc(layout) }
    }

    unsafe fn dealloc(&self, at: *mut u8, layout: Layout) {
        HELD.fetch_sub(layout.size(), Ordering::Relaxed);
        // SAFETY: as above.
        unsafe { System.dealloc(at, layout) }
    }
}

#[global_allocator]
static ALLOCATOR: Counting = Counting;

/// A valid input: files by name, of which the first is damaged, and what is read (the folder where empty).
struct Valid {
    files: &'static [(&'static str, &'static str)],
    read: &'static str,
    transpose: bool,
}

const HELM: &str = r#"[{"instance_id": "id0", "train_trial_index": 0, "stats": [{"name": {"name": "num_tokens", "split": "test"}, "count": 1, "mean": 300.0}, {"name": {"name": "exact_match", "split": "test"}, "count": 1, "sum": 0, "mean": 0.0}]}, {"instance_id": "id1", "train_trial_index": 0, "stats": [{"name": {"name": "exact_match"}, "mean": NaN}]}, {"instance_id": "id1", "perturbation": {"name": "x"}, "stats": []}, {"instance_id": "id2", "train_trial_index": 1, "stats": [{"name": {"name": "exact_match", "perturbation": {}}, "mean": 0.5}]}]"#;
const HELM_TEXTS: &str = r#"[{"id": "id0", "input": {"text": "1 + 1?"}, "references": [{"output": {"text": "2"}, "tags": ["correct"]}, {"output": {"text": "3"}}]}]"#;
const RUN: &str = "runs/v1/mmlu:subject=anatomy,model=org_x/per_instance_stats.json";
const RUN_TEXTS: &str = "runs/v1/mmlu:subject=anatomy,model=org_x/instances.json";
const OTHER_RUN: &str = "runs/v1/mmlu:subject=anatomy,model=org_y/per_instance_stats.json";
const ALPACA: &str = r#"[{"instruction": "one \ud83d\ude00", "generator_1": "g", "generator_2": "a", "preference": 1.25, "raw": {"logprobs": [[-1e-3, {"t": null}]]}},
 {"instruction": "two", "generator_2": "a", "preference": NaN}, {"instruction": "three", "generator_2": "a", "preference": 0}]"#;
const LOG: &str = r#"{"doc_id": 0, "doc": {"question": "q\ud83d", "choices": ["x", "y"], "answer": 1}, "target": "1", "arguments": {"gen_args_0": {"arg_0": "p"}}, "resps": [[["-1.5", "False"]]], "doc_hash": "h", "filter": "none", "metrics": ["acc"], "acc": 1.0, "b": [NaN, -Infinity]}
{"doc_id": 1, "doc": {"query": "r"}, "target": 0, "filter": "none", "acc": 0.0, "acc_norm": true}
"#;
const LOG_ARRAY: &str = r#"[{"doc_id": 3, "doc": {"goal": {"stem": "q"}}, "exact_match": 0.5},
{"doc_id": "4", "filter": "strict-match", "exact_match": null, "f1": 1}]"#;
const PY_IRT: &str = "{\"subject_id\": \"a\", \"responses\": {\"q\": 1, \"r\": NaN, \"s\": 0.25}}\n{\"subject_id\": 7, \"responses\": {\"q\": 0, \"t\": true, \"r\": null}, \"more\": [{}]}\n";
const TABLE: &str = "model,a/1,a/2,b/1\nx,1,0,.5\n\"y\",NA,1,0\nz,0,,1\n";
const LONG: &str = "item\ttime\tscore\tmodel\nq1\t9\t1\ta\nq2\t9\t.5\ta\nq2\t9\t0\tb\nq1\t9\t\tb\n";
const TURNED: &str = "item;x;y;\"x\"\nq1;1;NA;0\nq2;0.5;0;1\n\"q;3\";0;1;\n";
const MANIFEST: &str = r#"{"benchmark": "b", "matrix": "t.csv", "models": 3, "items": 3, "scenarios": {"a": {"all": [0, 2]}, "b": {"all": [2, 3]}}, "aggregate": {"a": "micro"}, "released": {"x": "2024-01-01"}, "organisations": {"y": "o"}, "item_text": "i.jsonl", "simulated": true}"#;
const TEXTS: &str = "{\"id\": \"a/1\", \"text\": \"one\\u2028\", \"options\": [\"x\", \"y\"], \"answer\": \"x\"}\n\n{\"id\": \"b/1\", \"text\": \"two\", \"category\": \"c\"}\n";
const ANSWERS: &str = r#"{"a/1": 1, "a/2": 0.5, "b/1": null, "c": true}"#;
const ANSWER_LINES: &str = "item,score\na/1,1\na/2,.5\n\"b,1\",NA\nc,0\n";
const ONE_MODEL: &str = "model;a/1;a/2;b/1\nx;1;0;.5\n";
/// The tutorials' pickle, in the text of protocol 0.
const PICKLE: &str = "(dp0\nVmodels\np1\n(lp2\nVa\np3\naVb\np4\nasVdata\np5\n(dp6\nVharness_gsm8k_5\np7\n(dp8\nVcorrectness\np9\n(lp10\n(lp11\nF1.0\naF0.5\naa(lp12\nI0\naI1\naasss.";

const BENCHMARKS: &[Valid] = &[
    Valid {
        files: &[(RUN, HELM), (OTHER_RUN, HELM), (RUN_TEXTS, HELM_TEXTS)],
        read: "",
        transpose: false,
    },
    Valid {
        files: &[(RUN_TEXTS, HELM_TEXTS), (RUN, HELM)],
        read: "",
        transpose: false,
    },
    Valid {
        files: &[
            ("m/judge/annotations.json", ALPACA),
            ("n/annotations.json", ALPACA),
        ],
        read: "",
        transpose: false,
    },
    Valid {
        files: &[("alpaca.json", ALPACA)],
        read: "alpaca.json",
        transpose: false,
    },
    Valid {
        files: &[
            ("o__a/samples_mmlu_anatomy_2025-01-05T10-00-00.jsonl", LOG),
            ("o__b/samples_mmlu_anatomy_2025-01-05T10-00-00.jsonl", LOG),
        ],
        read: "",
        transpose: false,
    },
    Valid {
        files: &[
            (
                "m/results_1.json",
                r#"{"results": {"t": {"acc": 1}}, "model_name": "o/m"}"#,
            ),
            ("m/samples_t.jsonl", LOG),
        ],
        read: "",
        transpose: false,
    },
    Valid {
        files: &[("samples_t.json", LOG_ARRAY)],
        read: "samples_t.json",
        transpose: false,
    },
    Valid {
        files: &[("r.jsonlines", PY_IRT)],
        read: "r.jsonlines",
        transpose: false,
    },
    Valid {
        files: &[("t.csv", TABLE)],
        read: "t.csv",
        transpose: false,
    },
    Valid {
        files: &[("t.csv", TABLE), ("t.json", MANIFEST), ("i.jsonl", TEXTS)],
        read: "t.csv",
        transpose: false,
    },
    Valid {
        files: &[("t.json", MANIFEST), ("t.csv", TABLE), ("i.jsonl", TEXTS)],
        read: "t.json",
        transpose: false,
    },
    Valid {
        files: &[("i.jsonl", TEXTS), ("t.csv", TABLE), ("t.json", MANIFEST)],
        read: "t.json",
        transpose: false,
    },
    Valid {
        files: &[("long.tsv", LONG)],
        read: "long.tsv",
        transpose: false,
    },
    Valid {
        files: &[("turned.csv", TURNED)],
        read: "turned.csv",
        transpose: true,
    },
    Valid {
        files: &[("lb.pickle", PICKLE)],
        read: "lb.pickle",
        transpose: false,
    },
];

const RESPONSES: &[Valid] = &[
    Valid {
        files: &[("a.json", ANSWERS)],
        read: "a.json",
        transpose: false,
    },
    Valid {
        files: &[("a.csv", ANSWER_LINES)],
        read: "a.csv",
        transpose: false,
    },
    Valid {
        files: &[("a.csv", ONE_MODEL)],
        read: "a.csv",
        transpose: false,
    },
    Valid {
        files: &[("long.tsv", LONG)],
        read: "long.tsv",
        transpose: false,
    },
];

/// How the damaged file is packed.
#[derive(Debug, Clone, Copy)]
enum Packing {
    Plain,
    /// Damaged, then packed.
    Inside,
    /// Packed, then damaged.
    Outside,
}

fn packing() -> impl Strategy<Value = Packing> {
    prop_oneof![6 => Just(Packing::Plain), 1 => Just(Packing::Inside), 1 => Just(Packing::Outside)]
}

fn gzip(bytes: &[u8]) -> Vec<u8> {
    let mut gz = flate2::write::GzEncoder::new(Vec::new(), flate2::Compression::fast());
    gz.write_all(bytes).unwrap();
    gz.finish().unwrap()
}

fn options() -> impl Strategy<Value = ReadOptions> {
    let delimiter = prop::sample::select(b",;\t|\"\n\r\0".to_vec());
    let metric = prop::sample::select(vec!["acc", "exact_match", "none"]);
    (
        prop::bool::weighted(0.1),
        prop::bool::weighted(0.2),
        prop::option::weighted(0.1, delimiter),
        prop::option::weighted(0.1, metric),
        prop::bool::weighted(0.2),
    )
        .prop_map(
            |(percent, transpose, delimiter, metric, separate)| ReadOptions {
                percent,
                transpose,
                delimiter,
                metric: metric.map(str::to_owned),
                filter: None,
                runs: if separate {
                    Runs::Separate
                } else {
                    Runs::Newest
                },
                limits: Limits {
                    depth: if separate { DEEPEST } else { DEPTH },
                    ..Limits::default()
                },
                ..ReadOptions::default()
            },
        )
}

/// Writes the files, the first of them damaged.
fn write(dir: &Path, valid: &Valid, changes: &[Damage], packing: Packing) {
    for (k, (name, text)) in valid.files.iter().enumerate() {
        let path = dir.join(name);
        fs::create_dir_all(path.parent().unwrap()).unwrap();
        let bytes = match (k, packing) {
            (0, Packing::Plain) => damaged(text.as_bytes(), changes),
            (0, Packing::Inside) => gzip(&damaged(text.as_bytes(), changes)),
            (0, Packing::Outside) => damaged(&gzip(text.as_bytes()), changes),
            _ => text.as_bytes().to_vec(),
        };
        fs::write(path, bytes).unwrap();
    }
}

/// What every benchmark promises, whatever it was read from.
fn keeps_promises(b: &Benchmark) -> Result<(), TestCaseError> {
    let m = &b.matrix;
    prop_assert!(m.n_models() > 0 && m.n_items() > 0 && !b.scenarios.is_empty());
    let different = |names: &[String]| names.iter().collect::<HashSet<_>>().len() == names.len();
    prop_assert!(different(m.models()), "{:?}", m.models());
    prop_assert!(different(m.items()), "{:?}", m.items());
    for l in 0..m.n_models() {
        for (i, y) in m.row(l).into_iter().enumerate() {
            prop_assert!(y.is_nan() || (0.0..=1.0).contains(&y), "{l}, {i}: {y}");
        }
    }
    let mut taken = HashSet::new();
    for s in &b.scenarios {
        prop_assert!(s.n_items() > 0 && !s.subscenarios.is_empty());
        prop_assert!(
            s.columns
                .iter()
                .all(|&c| c < m.n_items() && taken.insert(c))
        );
        let mut end = 0;
        for sub in &s.subscenarios {
            prop_assert_eq!(sub.items.start, end);
            end = sub.items.end;
        }
        prop_assert_eq!(end, s.n_items());
        for l in 0..m.n_models() {
            let score = b.true_score(l, s);
            prop_assert!(
                score.is_none_or(|y| (0.0..=1.0 + 1e-12).contains(&y)),
                "{:?}",
                score
            );
        }
    }
    Diagnostics::of(b).warnings(b);
    Ok(())
}

/// What every error says, however the file is damaged.
fn is_placed(dir: &Path, e: &tinyscope::Error) -> Result<(), TestCaseError> {
    let said = e.to_string();
    prop_assert!(said.starts_with(dir.to_str().unwrap()), "{}", said);
    prop_assert!(!said.contains("line 0"), "{}", said);
    prop_assert!(!said.contains(char::is_control), "{:?}", said);
    prop_assert!(said.chars().count() < MESSAGE, "{} characters", said.len());
    Ok(())
}

fn bounded(start: Instant) -> Result<(), TestCaseError> {
    prop_assert!(start.elapsed() < TIME, "{:?}", start.elapsed());
    let most = MOST.load(Ordering::Relaxed);
    prop_assert!(most < MEMORY, "{} MiB held", most >> 20);
    Ok(())
}

fn read_damaged(
    valid: &Valid,
    changes: &[Damage],
    packing: Packing,
    options: &ReadOptions,
) -> Result<(), TestCaseError> {
    let dir = tempfile::tempdir().unwrap();
    write(dir.path(), valid, changes, packing);
    let start = Instant::now();
    let options = ReadOptions {
        transpose: options.transpose != valid.transpose,
        ..options.clone()
    };
    match benchmark(&dir.path().join(valid.read), &options) {
        Ok(b) => keeps_promises(&b)?,
        Err(e) => is_placed(dir.path(), &e)?,
    }
    bounded(start)
}

#[test]
fn what_is_damaged_below_is_valid() {
    for valid in BENCHMARKS {
        for packing in [Packing::Plain, Packing::Inside] {
            let dir = tempfile::tempdir().unwrap();
            write(dir.path(), valid, &[], packing);
            let options = ReadOptions {
                transpose: valid.transpose,
                ..ReadOptions::default()
            };
            let read = benchmark(&dir.path().join(valid.read), &options);
            let b = read.unwrap_or_else(|e| panic!("{e}"));
            keeps_promises(&b).unwrap();
        }
    }
    for valid in RESPONSES {
        let dir = tempfile::tempdir().unwrap();
        write(dir.path(), valid, &[], Packing::Inside);
        let read = responses(&dir.path().join(valid.read), &ReadOptions::default());
        assert!(read.is_ok() || valid.read == "long.tsv", "{read:?}");
    }
}

proptest! {
    #![proptest_config(ProptestConfig { cases: cases(1500), failure_persistence: None, ..ProptestConfig::default() })]

    #[test]
    fn damaged_benchmarks(
        which in 0..BENCHMARKS.len(), changes in damages(), packing in packing(), options in options(),
    ) {
        read_damaged(&BENCHMARKS[which], &changes, packing, &options)?;
    }

    #[test]
    fn damaged_answers(
        which in 0..RESPONSES.len(), changes in damages(), packing in packing(), options in options(),
    ) {
        let (valid, dir) = (&RESPONSES[which], tempfile::tempdir().unwrap());
        write(dir.path(), valid, &changes, packing);
        let start = Instant::now();
        match responses(&dir.path().join(valid.read), &options) {
            Ok(answers) => {
                prop_assert!(!answers.is_empty());
                prop_assert!(answers.values().all(|y| (0.0..=1.0).contains(y)), "{:?}", answers);
            }
            Err(e) => is_placed(dir.path(), &e)?,
        }
        bounded(start)?;
    }
}

/// Cases of each test, unless the environment says otherwise.
fn cases(default: u32) -> u32 {
    let asked = std::env::var("PROPTEST_CASES").ok();
    asked.and_then(|n| n.parse().ok()).unwrap_or(default)
}
