//! Names of entries: a digest of everything that their content depends on.

use std::sync::OnceLock;

use serde::Serialize;
use sha2::{Digest, Sha256};

use crate::data::read::hex;

/// What an entry depends on, part by part.
#[derive(Debug, Clone)]
pub struct Key(Option<Sha256>);

impl Key {
    /// A key of entries of one kind. `format` counts the ways in which the kind was ever written or computed.
    pub fn new(kind: &str, format: u32) -> Self {
        Self(Some(Sha256::new())).with(&(program(), kind, format))
    }

    /// The same key, with one more part.
    #[must_use]
    pub fn with<T: Serialize + ?Sized>(self, part: &T) -> Self {
        // What cannot be written has no key, and nothing is kept under it.
        let bytes = postcard::to_stdvec(part).ok();
        Self(
            self.0
                .zip(bytes)
                .map(|(sum, bytes)| sum.chain_update(bytes)),
        )
    }

    /// The name of the entry's file: 64 hexadecimal digits.
    pub(super) fn name(&self) -> Option<String> {
        self.0.as_ref().map(|sum| hex(&sum.clone().finalize()))
    }
}

/// The program's code and the arithmetic of the machine: products are summed in another order where a processor has wider
/// registers, and a cache folder may be shared by several machines.
fn program() -> &'static str {
    static PROGRAM: OnceLock<String> = OnceLock::new();
    PROGRAM.get_or_init(|| {
        use std::env::consts::{ARCH, OS};
        let (version, code) = (env!("CARGO_PKG_VERSION"), env!("TINYSCOPE_CODE"));
        format!("{version} {code} {OS} {ARCH} {}", registers())
    })
}

#[cfg(target_arch = "x86_64")]
fn registers() -> String {
    let found = [
        is_x86_feature_detected!("avx"),
        is_x86_feature_detected!("avx2"),
        is_x86_feature_detected!("fma"),
        is_x86_feature_detected!("avx512f"),
        is_x86_feature_detected!("avx512vl"),
    ];
    found
        .map(|has| if has { '1' } else { '0' })
        .iter()
        .collect()
}

#[cfg(not(target_arch = "x86_64"))]
fn registers() -> String {
    String::new()
}
