//! One entry as a file: a mark, a sum of the rest, a description, the content.

use std::fs::File;
use std::io::Read;
use std::path::Path;
use std::time::SystemTime;

use serde::de::DeserializeOwned;
use serde::{Deserialize, Serialize};
use sha2::{Digest, Sha256};

/// The first bytes of every entry; the last of them counts the forms of the file.
const MARK: &[u8; 8] = b"tinykep\x01";
const SUM: usize = 32;
/// Mark, sum, and the length of the description in four bytes.
const FIXED: usize = MARK.len() + SUM + 4;
/// No description is longer.
const LONGEST: usize = 4096;
/// Characters of a benchmark's name that the description keeps.
const NAME: usize = 200;

/// What stands in a file beside the content.
#[derive(Debug, Serialize, Deserialize)]
struct About {
    key: String,
    program: String,
    what: String,
    of: String,
}

/// What `cache list` says of an entry.
#[derive(Debug, Clone, PartialEq)]
pub struct Entry {
    /// The name of its file: 64 hexadecimal digits.
    pub key: String,
    /// What it is; `None` where its file says nothing that can be read.
    pub what: Option<String>,
    /// The benchmark it was computed from; empty where that has no name.
    pub of: String,
    /// Size of the file in bytes.
    pub bytes: u64,
    /// When it was last used.
    pub used: SystemTime,
}

/// The file of an entry; `None` where the value cannot be written.
pub(super) fn encode<T: Serialize>(key: &str, what: &str, of: &str, value: &T) -> Option<Vec<u8>> {
    let short = |text: &str| text.chars().take(NAME).collect::<String>();
    let about = About {
        key: key.into(),
        program: env!("CARGO_PKG_VERSION").into(),
        what: short(what),
        of: short(of),
    };
    let about = postcard::to_stdvec(&about).ok()?;
    let mut bytes = vec![0; FIXED];
    let length = u32::try_from(about.len()).ok()?;
    bytes[FIXED - 4..].copy_from_slice(&length.to_le_bytes());
    bytes.extend_from_slice(&about);
    let mut bytes = postcard::to_extend(value, bytes).ok()?;
    bytes[..MARK.len()].copy_from_slice(MARK);
    let sum = Sha256::digest(&bytes[MARK.len() + SUM..]);
    bytes[MARK.len()..][..SUM].copy_from_slice(&sum);
    Some(bytes)
}

/// The value in the file of an entry; `None` where anything of it is not as it was written.
pub(super) fn decode<T: DeserializeOwned>(key: &str, bytes: &[u8]) -> Option<T> {
    let rest = bytes.strip_prefix(MARK)?;
    let (sum, rest) = rest.split_at_checked(SUM)?;
    if Sha256::digest(rest).as_slice() != sum {
        return None;
    }
    let (about, content) = described(rest)?;
    // A file under another's name.
    if about.key != key {
        return None;
    }
    let (value, left) = postcard::take_from_bytes(content).ok()?;
    left.is_empty().then_some(value)
}

/// What a file says of itself, without its content: `what` and `of`.
pub(super) fn about(path: &Path) -> Option<(String, String)> {
    let mut head = Vec::new();
    let most = (FIXED + LONGEST) as u64;
    File::open(path)
        .ok()?
        .take(most)
        .read_to_end(&mut head)
        .ok()?;
    let rest = head.strip_prefix(MARK)?.get(SUM..)?;
    let (about, _) = described(rest)?;
    Some((about.what, about.of))
}

/// The description, and what follows it.
fn described(rest: &[u8]) -> Option<(About, &[u8])> {
    let (length, rest) = rest.split_first_chunk::<4>()?;
    let length = u32::from_le_bytes(*length) as usize;
    let (about, content) = rest.split_at_checked(length.min(LONGEST))?;
    Some((postcard::from_bytes(about).ok()?, content))
}
