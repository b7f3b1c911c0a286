//! Benchmarks read before, from the cache.

use std::collections::BTreeSet;
use std::fs::{self, File, Metadata};
use std::io::{self, Read};
use std::path::{Path, PathBuf};
use std::time::{Duration, Instant, SystemTime};

use sha2::{Digest, Sha256};

use super::Benchmark;
use super::read::{self, ReadOptions, demo_name};
use crate::cache::{Cache, Key};
use crate::error::Result;
use crate::progress::Observer;

/// Counts the forms in which benchmarks were kept.
const KEPT: u32 = 1;
/// Reading that takes less is as quick as the cache.
const WORTH: Duration = Duration::from_millis(50);
/// Sources of at most so many bytes are known by their content, larger ones by what the file system says of each file.
const HASHED: u64 = 256 << 20;
/// A file that changed so shortly ago may change again without another time stamp.
const SETTLED: Duration = Duration::from_secs(2);

/// As [`read::watched`]: from the cache where the same sources were read before in the same way, warnings included.
///
/// # Errors
/// As [`read::watched`].
pub fn watched(
    path: &Path,
    options: &ReadOptions,
    observer: &dyn Observer,
    cache: &Cache,
) -> Result<Benchmark> {
    let key = key(path, options, HASHED);
    if let Some(found) = key.as_ref().and_then(|(_, key)| cache.get(key)) {
        observer.check()?;
        return Ok(found);
    }
    let start = Instant::now();
    let benchmark = read::watched(path, options, observer)?;
    // What changed while it was read is not what the key says.
    if let Some((sum, key)) = key
        && start.elapsed() >= WORTH
        && self::key(path, options, HASHED).is_some_and(|(now, _)| now == sum)
    {
        let cache = cache.named(&benchmark.name);
        cache.put("benchmark", &key, &benchmark);
    }
    Ok(benchmark)
}

/// A sum of all that reading depends on, and the key of it; `None` for what cannot be read twice or has just changed.
fn key(path: &Path, options: &ReadOptions, hashed: u64) -> Option<(Vec<u8>, Key)> {
    let mut sum = Sha256::new();
    let mut files = Vec::new();
    for source in std::iter::once(path).chain(options.also.iter().map(PathBuf::as_path)) {
        sum.update(source.to_str()?);
        sum.update([0]);
        if demo_name(source).is_none() {
            files.extend(read::files(source));
        }
    }
    files.extend(results_beside(&files));
    let stated: Vec<(PathBuf, Metadata)> = files
        .into_iter()
        .map(|file| {
            let meta = fs::metadata(&file).ok()?;
            meta.is_file().then_some((file, meta))
        })
        .collect::<Option<_>>()?;
    let total: u64 = stated.iter().map(|(_, meta)| meta.len()).sum();
    for (file, meta) in stated {
        sum.update(file.to_str()?);
        sum.update([0]);
        sum.update(meta.len().to_le_bytes());
        if total <= hashed {
            sum.update(content(&file).ok()?);
        } else {
            sum.update(state(&meta)?);
        }
    }
    let sum = sum.finalize().to_vec();
    let key = Key::new("benchmark", KEPT).with(&sum).with(options);
    Some((sum, key))
}

/// What stands beside logs of lm-evaluation-harness and names their model; beside other files the few such are no loss.
fn results_beside(files: &[PathBuf]) -> Vec<PathBuf> {
    let folders: BTreeSet<&Path> = files.iter().filter_map(|f| f.parent()).collect();
    let listed = folders.into_iter().flat_map(|folder| {
        let here = if folder.as_os_str().is_empty() {
            Path::new(".")
        } else {
            folder
        };
        fs::read_dir(here).into_iter().flatten().flatten()
    });
    let mut results: Vec<PathBuf> = listed
        .filter(|entry| entry.file_name().to_string_lossy().starts_with("results"))
        .map(|entry| entry.path())
        .filter(|path| path.is_file())
        .collect();
    results.sort();
    results
}

/// SHA-256 of a file.
fn content(path: &Path) -> io::Result<[u8; 32]> {
    let (mut file, mut sum) = (File::open(path)?, Sha256::new());
    let mut bytes = vec![0; 1 << 18];
    loop {
        match file.read(&mut bytes)? {
            0 => return Ok(sum.finalize().into()),
            n => sum.update(&bytes[..n]),
        }
    }
}

/// When a file changed, and on Unix also when anything of it did and which file it is; `None` where that is too new to tell.
fn state(meta: &Metadata) -> Option<Vec<u8>> {
    let modified = meta.modified().ok()?;
    modified.elapsed().ok().filter(|age| *age > SETTLED)?;
    let since = modified.duration_since(SystemTime::UNIX_EPOCH).ok()?;
    let mut state = since.as_nanos().to_le_bytes().to_vec();
    #[cfg(unix)]
    {
        use std::os::unix::fs::MetadataExt;
        for number in [meta.ctime(), meta.ctime_nsec(), meta.ino() as i64] {
            state.extend(number.to_le_bytes());
        }
    }
    Some(state)
}

/// Dates as year, month and day.
pub(super) mod dates {
    use std::collections::BTreeMap;

    use jiff::civil::Date;
    use serde::de::Error;
    use serde::{Deserialize, Deserializer, Serialize, Serializer};

    type Plain = Vec<(String, (i16, i8, i8))>;

    pub(in crate::data) fn serialize<S: Serializer>(
        dates: &BTreeMap<String, Date>,
        to: S,
    ) -> Result<S::Ok, S::Error> {
        let plain = dates
            .iter()
            .map(|(model, d)| (model.clone(), (d.year(), d.month(), d.day())));
        plain.collect::<Plain>().serialize(to)
    }

    pub(in crate::data) fn deserialize<'de, D: Deserializer<'de>>(
        from: D,
    ) -> Result<BTreeMap<String, Date>, D::Error> {
        Plain::deserialize(from)?
            .into_iter()
            .map(|(model, (y, m, d))| Ok((model, Date::new(y, m, d).map_err(D::Error::custom)?)))
            .collect()
    }
}

/// Item texts without the fields left out that their own form in JSON has.
pub(super) mod texts {
    use std::collections::HashMap;

    use serde::{Deserialize, Deserializer, Serialize, Serializer};

    use crate::data::ItemText;

    type Whole<S, L, O> = Vec<(S, S, L, O, O)>;

    pub(in crate::data) fn serialize<S: Serializer>(
        texts: &HashMap<String, ItemText>,
        to: S,
    ) -> Result<S::Ok, S::Error> {
        let mut whole: Whole<&str, &[String], Option<&str>> = texts
            .iter()
            .map(|(id, t)| {
                let (answer, category) = (t.answer.as_deref(), t.category.as_deref());
                (
                    id.as_str(),
                    t.text.as_str(),
                    &t.options[..],
                    answer,
                    category,
                )
            })
            .collect();
        // The map has another order in every run; the same benchmark has the same bytes.
        whole.sort_unstable_by_key(|text| text.0);
        whole.serialize(to)
    }

    pub(in crate::data) fn deserialize<'de, D: Deserializer<'de>>(
        from: D,
    ) -> Result<HashMap<String, ItemText>, D::Error> {
        let whole = Whole::<String, Vec<String>, Option<String>>::deserialize(from)?;
        let items = whole
            .into_iter()
            .map(|(id, text, options, answer, category)| {
                let text = ItemText {
                    text,
                    options,
                    answer,
                    category,
                };
                (id, text)
            });
        Ok(items.collect())
    }
}

/// Bytes as one block.
pub(super) mod block {
    use serde::de::{Error, Visitor};
    use serde::{Deserializer, Serializer};

    pub(in crate::data) fn serialize<S: Serializer>(
        bytes: &[u8],
        to: S,
    ) -> Result<S::Ok, S::Error> {
        to.serialize_bytes(bytes)
    }

    pub(in crate::data) fn deserialize<'de, D: Deserializer<'de>>(
        from: D,
    ) -> Result<Vec<u8>, D::Error> {
        struct Block;
        impl Visitor<'_> for Block {
            type Value = Vec<u8>;

            fn expecting(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
                f.write_str("bytes")
            }

            fn visit_bytes<E: Error>(self, bytes: &[u8]) -> Result<Vec<u8>, E> {
                Ok(bytes.to_vec())
            }
        }
        from.deserialize_bytes(Block)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn write(folder: &Path, cell: &str) -> PathBuf {
        let path = folder.join("t.csv");
        fs::write(&path, format!("model,q1,q2\na,1,0\nb,{cell},1\nc,0.25,\n")).unwrap();
        path
    }

    #[test]
    fn a_changed_file_or_another_option_has_another_key() {
        let folder = tempfile::tempdir().unwrap();
        let options = ReadOptions::default();
        let sum = |path: &Path| key(path, &options, HASHED).unwrap().0;
        let path = write(folder.path(), "0");
        let first = sum(&path);
        assert_eq!(first, sum(&path));
        write(folder.path(), "1");
        assert_ne!(first, sum(&path));
        // A manifest that appears beside it is read too.
        let before = sum(&path);
        fs::write(folder.path().join("t.json"), "{}").unwrap();
        assert_ne!(before, sum(&path));
        let before = sum(&path);
        fs::write(folder.path().join("results_1.json"), "{}").unwrap();
        assert_ne!(before, sum(&path));
        let percent = ReadOptions {
            percent: true,
            ..ReadOptions::default()
        };
        let cache = Cache::at(folder.path().join("c"));
        let of = |options| key(&path, options, HASHED).unwrap().1;
        cache.put("a number", &of(&options), &1u8);
        assert_eq!(cache.get(&of(&options)), Some(1u8));
        assert_eq!(cache.get::<u8>(&of(&percent)), None);
    }

    #[test]
    fn large_sources_are_known_by_their_state_once_it_is_settled() {
        let folder = tempfile::tempdir().unwrap();
        let options = ReadOptions::default();
        let path = write(folder.path(), "0");
        assert!(key(&path, &options, 0).is_none(), "it may still change");
        let set = |seconds| {
            let time = SystemTime::UNIX_EPOCH + Duration::from_secs(seconds);
            let file = File::options().append(true).open(&path).unwrap();
            file.set_modified(time).unwrap();
            key(&path, &options, 0).unwrap().0
        };
        assert_ne!(set(1_000), set(2_000));
    }

    #[test]
    fn a_benchmark_comes_back_equal() {
        let folder = tempfile::tempdir().unwrap();
        let path = write(folder.path(), "0.5");
        let mut read = read::benchmark(&path, &ReadOptions::default()).unwrap();
        read.warnings.push("mended".into());
        let text = crate::data::ItemText {
            text: "Why?".into(),
            options: vec!["a".into()],
            answer: None,
            category: Some("c".into()),
        };
        read.texts.insert("q1".into(), text);
        let date = jiff::civil::Date::new(2024, 2, 29).unwrap();
        read.released.insert("a".into(), date);
        let cache = Cache::at(folder.path().join("c"));
        let key = Key::new("benchmark", KEPT);
        cache.put("benchmark", &key, &read);
        let back: Benchmark = cache.get(&key).unwrap();
        assert_eq!(format!("{read:?}"), format!("{back:?}"));
        let demo = crate::data::demo::load("alpacaeval").unwrap();
        cache.put("benchmark", &key, &demo);
        let back: Benchmark = cache.get(&key).unwrap();
        assert_eq!(demo.matrix.digest(), back.matrix.digest());
        for l in 0..demo.matrix.n_models() {
            let bits = |b: &Benchmark| {
                b.matrix
                    .row(l)
                    .iter()
                    .map(|y| y.to_bits())
                    .collect::<Vec<_>>()
            };
            assert_eq!(bits(&demo), bits(&back));
        }
        assert!(
            demo.matrix
                .items()
                .iter()
                .all(|id| demo.texts.get(id) == back.texts.get(id))
        );
        assert_eq!(
            (demo.scenarios, demo.released),
            (back.scenarios, back.released)
        );
    }
}
