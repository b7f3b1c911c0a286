//! Logs of the generator in `examples/logs.rs`, at a small scale: every score is the one behind it, on any number of threads.

#[path = "../../examples/logs.rs"]
#[allow(dead_code, unreachable_pub)]
mod made;

use std::fs;

use rayon::ThreadPoolBuilder;
use tinyscope::data::Benchmark;
use tinyscope::data::read::{ReadOptions, benchmark};

#[test]
fn generated_logs_are_read_as_they_were_drawn() {
    let dir = tempfile::tempdir().unwrap();
    let logs = made::Logs {
        models: 20,
        items: 1000,
        bytes_a_sample: 1800,
        seed: 3,
    };
    let (truth, bytes) = logs.write(dir.path()).unwrap();
    assert!((1700..2200).contains(&(bytes / 20_000)), "{bytes} bytes");
    let read = |threads: usize| -> Benchmark {
        let pool = ThreadPoolBuilder::new()
            .num_threads(threads)
            .build()
            .unwrap();
        let read = pool.install(|| benchmark(dir.path(), &ReadOptions::default()));
        read.unwrap()
    };
    let b = read(2);
    assert_eq!(b.warnings, [""; 0]);
    assert_eq!(b.texts.len(), 1000);
    assert_eq!(b.scenarios[0].subscenarios, truth.scenarios[0].subscenarios);
    // Read in the order of their names, drawn family by family.
    for (drawn, name) in truth.matrix.models().iter().enumerate() {
        let read = b.matrix.models().iter().position(|m| m == name).unwrap();
        assert_eq!(b.matrix.row(read), truth.matrix.row(drawn), "{name}");
    }
    // What is left out is said in the same words and order, whoever reads.
    for (model, cut) in [("org-01__sim-001", 9), ("org-01__sim-002", 5)] {
        for entry in fs::read_dir(dir.path().join(model)).unwrap() {
            let path = entry.unwrap().path();
            let text = fs::read(&path).unwrap();
            fs::write(&path, &text[..text.len() - cut]).unwrap();
        }
    }
    let one = read(1);
    assert!(one.warnings.len() >= 2 * 57, "{}", one.warnings.len());
    for threads in [2, 8] {
        let many = read(threads);
        assert_eq!(many.warnings, one.warnings);
        assert_eq!(many.matrix.items(), one.matrix.items());
        for model in 0..20 {
            let bits = |b: &Benchmark| -> Vec<u64> {
                b.matrix.row(model).iter().map(|y| y.to_bits()).collect()
            };
            assert_eq!(bits(&many), bits(&one));
        }
    }
}
