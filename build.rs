//! A digest of the code that computes, so that the cache never gives out what other code has computed: the same version of
//! the program is many programs while it is worked on.

use std::path::{Path, PathBuf};
use std::process::Command;
use std::{env, fs};

/// What results depend on; the screen and the command line are not among it.
const CODE: [&str; 13] = [
    "Cargo.toml",
    "Cargo.lock",
    "build.rs",
    "data",
    "src/anchors",
    "src/cache",
    "src/data",
    "src/error.rs",
    "src/estimate",
    "src/experiment",
    "src/irt",
    "src/random.rs",
    "src/simulate",
];

fn main() {
    let mut files = Vec::new();
    for path in CODE {
        println!("cargo:rerun-if-changed={path}");
        gather(Path::new(path), &mut files);
    }
    files.sort();
    let mut sum = Fnv::new();
    for file in &files {
        sum.add(file.to_string_lossy().as_bytes());
        sum.add(&fs::read(file).unwrap_or_default());
    }
    let compiler = Command::new(env::var_os("RUSTC").unwrap_or("rustc".into()))
        .arg("-vV")
        .output();
    sum.add(&compiler.map(|out| out.stdout).unwrap_or_default());
    for name in ["TARGET", "OPT_LEVEL", "CARGO_CFG_TARGET_FEATURE"] {
        sum.add(env::var(name).unwrap_or_default().as_bytes());
    }
    println!("cargo:rustc-env=TINYSCOPE_CODE={:016x}", sum.0);
}

/// All files at and below a path; a package has no lock file where it is not there.
fn gather(path: &Path, files: &mut Vec<PathBuf>) {
    match fs::read_dir(path) {
        Ok(folder) => {
            for entry in folder.flatten() {
                gather(&entry.path(), files);
            }
        }
        Err(_) if path.is_file() => files.push(path.to_owned()),
        Err(_) => {}
    }
}

/// FNV-1a of 64 bits: nobody forges code against it.
struct Fnv(u64);

impl Fnv {
    fn new() -> Self {
        Self(0xcbf2_9ce4_8422_2325)
    }

    fn add(&mut self, bytes: &[u8]) {
        for byte in bytes.iter().chain(&bytes.len().to_le_bytes()) {
            self.0 = (self.0 ^ u64::from(*byte)).wrapping_mul(0x0100_0000_01b3);
        }
    }
}
