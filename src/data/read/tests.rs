//! Variants of each format, made here.

use std::io::Write;
use std::path::Path;

use super::*;

fn options() -> ReadOptions {
    ReadOptions::default()
}

fn gz(path: &Path, bytes: &[u8]) {
    let file = std::fs::File::create(path).unwrap();
    let mut gz = flate2::write::GzEncoder::new(file, flate2::Compression::fast());
    gz.write_all(bytes).unwrap();
    gz.finish().unwrap();
}

/// Reads `text` as a file of that name, packed where the name ends in gz.
fn read(name: &str, text: &str, options: &ReadOptions) -> Result<Benchmark> {
    let dir = tempfile::tempdir().unwrap();
    let path = dir.path().join(name);
    if name.ends_with("gz") {
        gz(&path, text.as_bytes());
    } else {
        std::fs::write(&path, text).unwrap();
    }
    benchmark(&path, options)
}

fn said(result: Result<Benchmark>) -> String {
    result.expect_err("an error").to_string()
}

/// Rows, `None` where missing.
fn rows(b: &Benchmark) -> Vec<Vec<Option<f64>>> {
    let m = &b.matrix;
    (0..m.n_models())
        .map(|l| (0..m.n_items()).map(|i| m.get(l, i)).collect())
        .collect()
}

#[test]
fn a_table_reads_the_same_either_way_round_and_in_long_form() {
    let wide = read("t.csv", "model,q1,q2\na,1,0.5\nb,,0\n", &options()).unwrap();
    let transposed = ReadOptions {
        transpose: true,
        delimiter: Some(b'|'),
        ..options()
    };
    let turned = read("t.csv.gz", "item|a|b\nq1|1|NA\nq2|0.5|0\n", &transposed).unwrap();
    let long = "item;time;score;model\nq1;9;1;a\nq2;9;.5;a\nq2;9;0;b\nq1;9;;b\n";
    let long = read("t.csv", long, &options()).unwrap();
    for other in [&turned, &long] {
        assert_eq!(rows(other), rows(&wide));
        assert_eq!(other.matrix.models(), wide.matrix.models());
        assert_eq!(other.matrix.items(), wide.matrix.items());
    }
}

#[test]
fn mistakes_of_turned_and_long_tables_are_placed() {
    let transposed = ReadOptions {
        transpose: true,
        ..options()
    };
    for (text, options, texts) in [
        (
            "item,a,b\nq1,1,2\n",
            &transposed,
            &["line 2, column 3", "\"b\"", "\"q1\"", "--percent"][..],
        ),
        (
            "item,a\nq1,1\nq1,0\n",
            &transposed,
            &["line 3", "\"q1\" stands at line 2 already"],
        ),
        (
            "item,a\nq1\n",
            &transposed,
            &["line 2", "1 cells, 2 expected"],
        ),
        ("item,a\n", &transposed, &["no items"]),
        ("item\nq1\n", &transposed, &["no models"]),
        (
            "model,item,score\na,q,1\na,q,0\n",
            &options(),
            &["line 3", "stand at line 2 already"],
        ),
        (
            "model,item,score\na,q,yes\n",
            &options(),
            &["line 2, column 3", "\"yes\" is not a score"],
        ),
        (
            "model,item,score\na,q\n",
            &options(),
            &["line 2", "2 cells"],
        ),
        ("model,item,score\n", &options(), &["no models"]),
    ] {
        let said = said(read("t.csv", text, options));
        for t in texts {
            assert!(said.contains(t), "{said} lacks {t}");
        }
    }
    let twice = read("t.csv", "item,a,a\nq1,1,0\n", &transposed).unwrap();
    assert_eq!(twice.matrix.models(), ["a", "a #2"]);
    assert!(twice.warnings[0].contains("column 3"));
}

#[test]
fn py_irt_records_keep_what_they_say() {
    let text = "{\"responses\": {\"q2\": 50, \"q1\": NaN}, \"subject_id\": 7}\n\n{\"subject_id\": \"7\", \"responses\": {\"q1\": 100}, \"extra\": [\"\\ud800\"]}\n";
    let percent = ReadOptions {
        percent: true,
        ..options()
    };
    let b = read("r.jsonlines.gz", text, &percent).unwrap();
    assert_eq!(b.matrix.models(), ["7", "7 #2"]);
    assert_eq!(b.matrix.items(), ["q2", "q1"]);
    assert_eq!(rows(&b), [[Some(0.5), None], [None, Some(1.0)]]);
    let with = |responses: &str| {
        let text = format!(
            "{{\"subject_id\": \"a\", \"responses\": {{}}}}\n{{\"subject_id\": \"m\", \"responses\": {responses}}}\n"
        );
        said(read("r.jsonl", &text, &options()))
    };
    for (responses, texts) in [
        (
            "{\"q\": 1, \"q\": 0}",
            &["line 2", "\"q\" stands twice", "\"m\""][..],
        ),
        ("{\"q\": 2}", &["line 2", "2 is above 1", "--percent"]),
        ("{\"q\": -1}", &["line 2", "-1 is outside [0, 1]"]),
        (
            "{\"q\": \"yes\"}",
            &["line 2", "\"yes\" is not a score", "null"],
        ),
        ("3", &["line 2", "not a record", "subject_id"]),
        ("{}", &["no items"]),
    ] {
        let said = with(responses);
        for t in texts {
            assert!(said.contains(t), "{said} lacks {t}");
        }
    }
    let cut = said(read(
        "r.jsonl",
        "{\"subject_id\": \"a\", \"respon",
        &options(),
    ));
    assert!(cut.contains("no record that is whole"), "{cut}");
}

#[test]
fn the_first_object_tells_its_keys() {
    let of = |text: &str| first_keys(text.as_bytes()).join(" ");
    assert_eq!(
        of(r#" {"a\"b": {"c": [1, "d"]}, "e" : "f"} {"g": 1}"#),
        r#"a\"b e"#
    );
    assert_eq!(of("[\n {\"a\": 1, \"b\": \"cut"), "a b");
    assert_eq!(of(""), "");
}

#[test]
fn damaged_packing_is_not_at_line_0() {
    let dir = tempfile::tempdir().unwrap();
    let rows = (0..20_000u32).map(|i| {
        let (instruction, preference) = (i.wrapping_mul(2_654_435_761), i % 2 + 1);
        format!(
            r#"{{"instruction": "{instruction}", "generator_2": "m", "preference": {preference}}}"#
        )
    });
    let path = dir.path().join("annotations.json");
    gz(
        &path,
        format!("[{}]", rows.collect::<Vec<_>>().join(",")).as_bytes(),
    );
    assert_eq!(
        benchmark(&path, &options()).unwrap().matrix.n_items(),
        20_000
    );
    let packed = std::fs::read(&path).unwrap();
    std::fs::write(&path, &packed[..packed.len() - 100]).unwrap();
    for named in [path.as_path(), dir.path()] {
        let said = said(benchmark(named, &options()));
        assert!(said.contains("annotations.json: unreadable: "), "{said}");
    }
}

#[test]
fn many_scenarios_take_no_square_of_time() {
    let start = std::time::Instant::now();
    let ids: Vec<String> = (0..150_000).map(|i| format!("s{i}/0")).collect();
    let text = format!("model,{}\na{}\n", ids.join(","), ",1".repeat(ids.len()));
    let b = read("t.csv", &text, &options()).unwrap();
    assert_eq!(b.scenarios.len(), ids.len());
    // It is a fraction of a second, and was minutes.
    assert!(start.elapsed().as_secs() < 10, "{:?}", start.elapsed());
}

/// `show` asks for the text first; a log may be of gigabytes.
#[test]
fn logs_are_not_read_as_one_text() {
    let dir = tempfile::tempdir().unwrap();
    let path = dir.path().join("x.json");
    for (text, whole) in [
        ("{\"doc_id\": 0, \"resps\": \"", false),
        ("{\"responses\": {}, \"subject_id\": 1}", false),
        ("{\"tinyscope\": \"anchors\"}", true),
        ("[]", false),
    ] {
        std::fs::write(&path, text).unwrap();
        assert_eq!(json_text(&path).unwrap().is_some(), whole, "{text}");
    }
}

#[test]
fn a_manifest_names_files_only() {
    let dir = tempfile::tempdir().unwrap();
    let path = dir.path().join("m.json");
    for device in ["/dev/zero", "."] {
        let text = format!(
            r#"{{"benchmark": "b", "matrix": "{device}", "scenarios": {{"a": {{"all": [0, 1]}}}}}}"#
        );
        std::fs::write(&path, text).unwrap();
        let said = said(benchmark(&path, &options()));
        let expected = if cfg!(unix) { "not a file" } else { "" };
        assert!(said.contains(expected), "{said}");
    }
}
