use std::fs;
use std::time::{Duration, SystemTime};

use proptest::prelude::*;

use super::*;
use crate::data::{MatrixBuilder, ResponseMatrix, Responses};
use crate::irt::{AbilityMethod, Fit, FitOptions, Part, choose_dimension, fit};
use crate::progress::Silent;

/// A cache of a test's own that keeps whatever it is given.
fn own(folder: &Path) -> Cache {
    Cache::bounded(folder.join(FOLDER), 1_000_000, Duration::ZERO)
}

fn key(n: usize) -> Key {
    Key::new("test", 1).with(&n)
}

/// The only file of the cache.
fn file(cache: &Cache) -> std::path::PathBuf {
    let mut files = fs::read_dir(cache.folder()).unwrap();
    let one = files.next().unwrap().unwrap().path();
    assert!(files.next().is_none());
    one
}

#[test]
fn what_was_kept_is_not_computed_again() {
    let folder = tempfile::tempdir().unwrap();
    let cache = own(folder.path()).named("exam");
    let first = cache.kept("a number", &key(1), || Ok(7.5f64)).unwrap();
    let second: f64 = cache
        .kept("a number", &key(1), || panic!("computed again"))
        .unwrap();
    assert_eq!(first.to_bits(), second.to_bits());
    assert_eq!(cache.get::<f64>(&key(2)), None);
    let entries = cache.entries();
    assert_eq!(entries.len(), 1);
    assert_eq!(entries[0].what.as_deref(), Some("a number"));
    assert_eq!(entries[0].of, "exam");
    assert_eq!(entries[0].bytes, fs::metadata(file(&cache)).unwrap().len());
}

#[test]
fn what_took_no_time_and_what_failed_are_not_kept() {
    let folder = tempfile::tempdir().unwrap();
    let cache = Cache::bounded(folder.path().join("c"), 1000, Duration::from_secs(3600));
    cache.kept("a number", &key(1), || Ok(1u8)).unwrap();
    let cache = own(folder.path());
    let failed = cache.kept::<u8>("a number", &key(1), || Err(crate::Error::Cancelled));
    assert!(failed.is_err());
    assert!(fs::read_dir(folder.path()).unwrap().next().is_none());
}

#[test]
fn damaged_truncated_foreign_and_older_entries_are_computed_anew() {
    let folder = tempfile::tempdir().unwrap();
    let cache = own(folder.path());
    let value: Vec<u64> = (0..50).collect();
    cache.put("numbers", &key(1), &value);
    let path = file(&cache);
    let good = fs::read(&path).unwrap();
    let mut wrong: Vec<Vec<u8>> = (0..good.len()).map(|end| good[..end].to_vec()).collect();
    wrong.extend((0..good.len()).map(|at| {
        let mut bytes = good.clone();
        bytes[at] ^= 1 << (at % 8);
        bytes
    }));
    wrong.push([&good[..], b"more"].concat());
    wrong.push(b"something else".to_vec());
    // An entry of another key, and one of another type.
    wrong.push(super::entry::encode(&"0".repeat(64), "numbers", "", &value).unwrap());
    let name = key(1).name().unwrap();
    wrong.push(super::entry::encode(&name, "a number", "", &7u8).unwrap());
    for bytes in wrong {
        fs::write(&path, &bytes).unwrap();
        assert_eq!(cache.get::<Vec<u64>>(&key(1)), None, "{bytes:?}");
        assert!(!path.exists(), "{bytes:?}");
    }
    let again = cache
        .kept("numbers", &key(1), || Ok(value.clone()))
        .unwrap();
    assert_eq!((again, fs::read(&path).unwrap()), (value, good));
}

#[test]
fn the_folder_stays_below_its_limit_and_loses_what_was_not_used() {
    let folder = tempfile::tempdir().unwrap();
    let cache = Cache::bounded(folder.path().to_owned(), 10_000, Duration::ZERO);
    let used = |n: u64, seconds: u64| {
        let path = folder.path().join(key(n as usize).name().unwrap());
        let file = fs::File::options().append(true).open(path).unwrap();
        let time = SystemTime::UNIX_EPOCH + Duration::from_secs(seconds);
        file.set_modified(time).unwrap();
    };
    for n in 0..6 {
        cache.put("bytes", &key(n), &vec![0u8; 1_500]);
        used(n as u64, n as u64);
    }
    // The oldest is used once more.
    assert!(cache.get::<Vec<u8>>(&key(0)).is_some());
    for n in 6..9 {
        cache.put("bytes", &key(n), &vec![0u8; 1_500]);
        used(n as u64, n as u64);
    }
    let total: u64 = cache.entries().iter().map(|e| e.bytes).sum();
    assert!(total <= 10_000, "{total}");
    assert!(cache.get::<Vec<u8>>(&key(0)).is_some());
    assert!(cache.get::<Vec<u8>>(&key(1)).is_none());
    // One that would drive the others out is not kept.
    cache.put("bytes", &key(99), &vec![0u8; 5_000]);
    assert!(cache.get::<Vec<u8>>(&key(99)).is_none());
}

#[test]
fn clearing_removes_entries_and_nothing_else() {
    let folder = tempfile::tempdir().unwrap();
    let cache = Cache::bounded(folder.path().to_owned(), 10_000, Duration::ZERO);
    cache.put("a number", &key(1), &1u8);
    cache.put("a number", &key(2), &2u8);
    let left = folder.path().join(format!("{}.7-0.part", "a".repeat(64)));
    fs::write(&left, "half").unwrap();
    let other = folder.path().join("lb.pickle");
    fs::write(&other, "fetched").unwrap();
    let bytes = cache.entries().iter().map(|e| e.bytes).sum();
    assert_eq!(cache.clear().unwrap(), Cleared { entries: 2, bytes });
    assert!(other.exists() && !left.exists());
    assert_eq!(cache.clear().unwrap(), Cleared::default());
    assert!(cache.entries().is_empty());
}

#[test]
fn a_folder_that_cannot_be_made_keeps_nothing_and_fails_nothing() {
    let folder = tempfile::tempdir().unwrap();
    fs::write(folder.path().join("taken"), "a file").unwrap();
    let cache = own(&folder.path().join("taken"));
    for _ in 0..2 {
        assert_eq!(cache.kept("a number", &key(1), || Ok(3u8)).unwrap(), 3);
    }
    assert!(cache.entries().is_empty());
    assert_eq!(cache.clear().unwrap(), Cleared::default());
}

#[test]
fn writers_at_once_leave_whole_entries() {
    let folder = tempfile::tempdir().unwrap();
    let value: Vec<u64> = (0..20_000).collect();
    std::thread::scope(|s| {
        for _ in 0..4 {
            s.spawn(|| {
                // Each as a program of its own.
                let cache = own(folder.path());
                for _ in 0..20 {
                    cache.put("numbers", &key(1), &value);
                    assert_eq!(cache.get::<Vec<u64>>(&key(1)).as_ref(), Some(&value));
                }
            });
        }
    });
    file(&own(folder.path()));
}

/// All of a fit, bit for bit.
fn bits(fit: &Fit) -> Vec<u8> {
    postcard::to_stdvec(fit).unwrap()
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(16))]

    #[test]
    fn a_fit_comes_back_bit_for_bit(
        rows in prop::collection::vec(
            prop::collection::vec(prop_oneof![Just(f64::NAN), Just(0.0), Just(1.0), 0.0..1.0f64], 7),
            4..9,
        ),
        dims in 1usize..4,
    ) {
        let mut builder = MatrixBuilder::new((0..7).map(|i| format!("q{i}")).collect());
        for (l, row) in rows.iter().enumerate() {
            builder.push(format!("m{l}"), row);
        }
        let mut matrix = builder.finish();
        let models: Vec<usize> = (0..rows.len()).collect();
        fn view<'a>(matrix: &'a ResponseMatrix, models: &[usize]) -> Responses<'a> {
            Responses::new(matrix, models.to_vec(), (0..7).collect())
        }
        let options = FitOptions::new(dims);
        let fresh = fit(&view(&matrix, &models), &options, &Silent).unwrap();
        let folder = tempfile::tempdir().unwrap();
        matrix.keep_in(own(folder.path()));
        let first = fit(&view(&matrix, &models), &options, &Silent).unwrap();
        prop_assert_eq!(matrix.cache().unwrap().entries().len(), 1);
        let second = fit(&view(&matrix, &models), &options, &Silent).unwrap();
        prop_assert_eq!(bits(&fresh), bits(&first));
        prop_assert_eq!(bits(&fresh), bits(&second));
        // Other responses have other fits.
        let fewer = view(&matrix, &models[1..]);
        fit(&fewer, &options, &Silent).unwrap();
        fit(&view(&matrix, &models).binarised(vec![0.5; 7]), &options, &Silent).unwrap();
        prop_assert_eq!(matrix.cache().unwrap().entries().len(), 3);
    }
}

/// A link to something endless in an entry's place is not read, and gives way to what is computed.
#[cfg(unix)]
#[test]
fn what_is_no_file_is_not_read() {
    let folder = tempfile::tempdir().unwrap();
    let cache = own(folder.path());
    cache.put("a number", &key(1), &7u8);
    let path = file(&cache);
    fs::remove_file(&path).unwrap();
    std::os::unix::fs::symlink("/dev/zero", &path).unwrap();
    assert_eq!(cache.get::<u8>(&key(1)), None);
    assert_eq!(cache.kept("a number", &key(1), || Ok(8u8)).unwrap(), 8);
    assert_eq!(cache.get::<u8>(&key(1)), Some(8));
    assert!(fs::symlink_metadata(&path).unwrap().is_file());
}

/// Whoever adds a candidate for D, or leaves one out, computes no more than is new.
#[test]
fn each_candidate_for_d_is_kept_by_itself() {
    let folder = tempfile::tempdir().unwrap();
    let cache = own(folder.path());
    let mut builder = MatrixBuilder::new((0..30).map(|i| format!("i{i}")).collect());
    for l in 0..15usize {
        let row: Vec<f64> = (0..30)
            .map(|i| f64::from((7 * l + i * l) % 5 < 3))
            .collect();
        builder.push(format!("m{l}"), &row);
    }
    let mut matrix = builder.finish();
    matrix.keep_in(cache.clone());
    let all = Responses::new(&matrix, (0..15).collect(), (0..30).collect());
    let part = Part {
        items: 0..30,
        weights: vec![1.0; 30],
    };
    let choose = |candidates: &[usize]| {
        let method = AbilityMethod::Posterior;
        choose_dimension(
            &all,
            std::slice::from_ref(&part),
            candidates,
            method,
            &Silent,
        )
        .unwrap()
    };
    let first = choose(&[1, 3]);
    assert_eq!(cache.entries().len(), 2);
    let more = choose(&[3, 2, 1]);
    assert_eq!(cache.entries().len(), 3);
    assert_eq!(
        [&more.table[0], &more.table[2]],
        [&first.table[0], &first.table[1]]
    );
    assert_eq!(choose(&[2]).table, [more.table[1].clone()]);
    assert_eq!(cache.entries().len(), 3);
}
