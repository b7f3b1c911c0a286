use std::fs;

use proptest::prelude::*;

#[path = "../../../../tests/all/common/damage.rs"]
mod damage;

use super::*;
use crate::data::read::ReadOptions;
use damage::{damaged, damages};

fn read(bytes: &[u8]) -> Result<Pickle> {
    of_bytes(Path::new("x.pickle"), bytes.to_vec())
}

fn refused(bytes: &[u8]) -> String {
    read(bytes).map(|_| ()).unwrap_err().to_string()
}

/// The opcodes of a numpy array of two dimensions and type `f8`, with the bytes that numpy 1 writes in protocol 4.
fn array(dtype: &str, order: &str, shape: [u8; 2], fortran: bool, cells: &[u8]) -> Vec<u8> {
    let text = |s: &str| [&[0x8c, s.len() as u8], s.as_bytes()].concat();
    let mut out = Vec::new();
    out.extend(text("numpy.core.multiarray"));
    out.extend(text("_reconstruct"));
    out.push(0x93);
    out.extend(text("numpy"));
    out.extend(text("ndarray"));
    out.extend(b"\x93K\x00\x85C\x01b\x87R(K\x01K");
    out.extend([shape[0], b'K', shape[1], 0x86]);
    out.extend(text("numpy"));
    out.extend(text("dtype"));
    out.push(0x93);
    out.extend(text(dtype));
    out.extend(b"\x89\x88\x87R(K\x03");
    out.extend(text(order));
    out.extend(b"NNNJ\xff\xff\xff\xffJ\xff\xff\xff\xffK\x00tb");
    out.push(if fortran { 0x88 } else { 0x89 });
    out.extend([b'C', cells.len() as u8]);
    out.extend(cells);
    out.extend(b"tb");
    out
}

/// The tutorials' structure with one sub-benchmark.
fn responses(array: &[u8]) -> Vec<u8> {
    let mut out =
        b"\x80\x04}(\x8c\x06models](\x8c\x01a\x8c\x01be\x8c\x04data}\x8c\x01s}\x8c\x0bcorrectness"
            .to_vec();
    out.extend(array);
    out.extend(b"sssu.");
    // `data` was set by the last `s` inside; the outer dict takes (models, [...], data, {...}).
    let at = out.len() - 3;
    out.remove(at);
    out
}

#[test]
fn cells_of_every_type_order_and_layout_are_read() {
    // Items x models: (0, 1), (1, 0), (1, 1).
    let rows = [0.0, 1.0, 1.0, 0.0, 1.0, 1.0];
    let columns = [0.0, 1.0, 1.0, 1.0, 0.0, 1.0];
    type Write = fn(f64) -> Vec<u8>;
    let types: &[(&str, &str, Write)] = &[
        ("f8", "<", |x| x.to_le_bytes().to_vec()),
        ("f8", ">", |x| x.to_be_bytes().to_vec()),
        ("f4", "<", |x| (x as f32).to_le_bytes().to_vec()),
        ("f4", ">", |x| (x as f32).to_be_bytes().to_vec()),
        ("f2", "<", |x| vec![0, if x > 0.0 { 0x3c } else { 0 }]),
        ("f2", ">", |x| vec![if x > 0.0 { 0x3c } else { 0 }, 0]),
        ("i8", "<", |x| (x as i64).to_le_bytes().to_vec()),
        ("i4", ">", |x| (x as i32).to_be_bytes().to_vec()),
        ("i2", "<", |x| (x as i16).to_le_bytes().to_vec()),
        ("i1", "|", |x| vec![x as u8]),
        ("u8", ">", |x| (x as u64).to_be_bytes().to_vec()),
        ("u4", "<", |x| (x as u32).to_le_bytes().to_vec()),
        ("u2", ">", |x| (x as u16).to_be_bytes().to_vec()),
        ("u1", "|", |x| vec![x as u8]),
        ("b1", "|", |x| vec![x as u8]),
    ];
    for (dtype, order, write) in types {
        for (fortran, values) in [(false, rows), (true, columns)] {
            let cells: Vec<u8> = values.iter().flat_map(|x| write(*x)).collect();
            let bytes = [
                &b"\x80\x04"[..],
                &array(dtype, order, [3, 2], fortran, &cells),
                b".",
            ]
            .concat();
            let pickle = read(&bytes).unwrap();
            let grid = pickle.root().grid().unwrap();
            assert_eq!(grid.shape(), (3, 2));
            for (i, x) in rows.iter().enumerate() {
                assert_eq!(grid.get(i / 2, i % 2), Some(*x), "{order}{dtype} {fortran}");
            }
            assert_eq!(grid.get(3, 0), None);
        }
    }
}

#[test]
fn numbers_keep_sign_and_fraction() {
    for (bytes, x) in [
        (&b"\x80\x02J\xfe\xff\xff\xff."[..], -2.0),
        (b"\x80\x02\x8a\x01\xff.", -1.0),
        (b"\x80\x02\x8a\x00.", 0.0),
        (b"\x80\x02M\x00\x01.", 256.0),
        (b"\x80\x02G\x3f\xe0\x00\x00\x00\x00\x00\x00.", 0.5),
        (b"I12\n.", 12.0),
        (b"I01\n.", 1.0),
        (b"L-7L\n.", -7.0),
        (b"F0.25\n.", 0.25),
    ] {
        assert_eq!(read(bytes).unwrap().root().number(), Some(x), "{bytes:?}");
    }
    for (bits, x) in [
        (0x3800u16, 0.5),
        (0xc000, -2.0),
        (0x0001, 2f64.powi(-24)),
        (0x7c00, f64::INFINITY),
    ] {
        let cells = [bits.to_le_bytes(), [0, 0]].concat();
        let bytes = [
            &b"\x80\x04"[..],
            &array("f2", "<", [1, 2], false, &cells),
            b".",
        ]
        .concat();
        assert_eq!(read(&bytes).unwrap().root().cell(&[0, 0]), Some(x));
    }
}

#[test]
fn strings_of_protocol_0_and_2_are_read() {
    let text = |bytes: &[u8]| read(bytes).unwrap().root().text().map(str::to_owned);
    assert_eq!(
        text(b"Vcaf\\u00e9 \\U0001f600\n.").unwrap(),
        "caf\u{e9} \u{1f600}"
    );
    assert_eq!(text(b"S'it\\'s\\n'\np0\n.").unwrap(), "it's\n");
    assert_eq!(
        text(b"\x80\x02X\x02\x00\x00\x00\xc3\xa9q\x00.").unwrap(),
        "\u{e9}"
    );
    assert_eq!(text(b"\x80\x02U\x02ab."), Some("ab".into()));
    // numpy's cells in protocol 2: text in Latin-1, to be encoded.
    let pickle =
        read(b"\x80\x02c_codecs\nencode\nX\x03\x00\x00\x00a\xc3\xbfX\x06\x00\x00\x00latin1\x86R.")
            .unwrap();
    let Some(Node::Bytes(bytes)) = pickle.node(pickle.root) else {
        panic!("bytes")
    };
    assert_eq!(pickle.bytes(bytes), b"a\xff");
}

#[test]
fn dicts_of_protocol_0_keep_the_last_of_equal_keys() {
    let pickle = read(b"(dp0\nS'a'\np1\nI1\nsg1\nI2\nsS'b'\nI3\ns.").unwrap();
    let entries: Vec<(String, Option<f64>)> = pickle
        .root()
        .entries()
        .unwrap()
        .into_iter()
        .map(|(k, v)| (k, v.number()))
        .collect();
    assert_eq!(entries, [("a".into(), Some(2.0)), ("b".into(), Some(3.0))]);
    assert_eq!(pickle.root().get("a").unwrap().number(), Some(2.0));
}

#[test]
fn names_off_the_list_are_refused_with_place_and_name() {
    for bytes in [
        &b"\x80\x04\x8c\x05posix\x8c\x06system\x93\x8c\x02ls\x85R."[..],
        b"\x80\x02cos\nsystem\nU\x02ls\x85R.",
        b"\x80\x02cbuiltins\neval\nU\x011\x85R.",
        b"cnumpy\nload\n.",
        b"\x80\x02cnumpy.core.multiarray\nfromstring\n.",
    ] {
        let said = refused(bytes);
        assert!(
            said.contains("is not on the short list of numpy constructors"),
            "{said}"
        );
        assert!(said.starts_with("x.pickle: byte "), "{said}");
    }
    let said = refused(b"\x80\x04\x8c\x05posix\x8c\x06system\x93.");
    assert!(said.contains("byte 17: it names posix.system"), "{said}");
    for bytes in [
        &b"(ios\nsystem\n."[..],
        b"Pfile\n.",
        b"\x80\x05\x97.",
        b"\x80\x02\x82\x01.",
        b"\x80\x02}}b.",
        b"\x80\x02U\x01a)R.",
    ] {
        let said = refused(bytes);
        assert!(said.contains("can name any function of Python"), "{said}");
    }
}

#[test]
fn absurd_lengths_and_nesting_are_refused() {
    assert!(refused(b"\x80\x04\x8e\xff\xff\xff\xff\xff\xff\xff\x7f").contains("bytes are needed"));
    assert!(
        refused(b"\x80\x04B\xff\xff\xff\xffab.")
            .contains("byte 2: 4294967295 bytes are needed and 3 are left")
    );
    assert!(refused(&[b'('; 5000]).contains("nested more than 1000 deep"));
    let shape = [
        &b"\x80\x04"[..],
        &array("f8", "<", [200, 200], false, &[0; 16]),
        b".",
    ]
    .concat();
    assert!(refused(&shape).contains("shape (200, 200) and type f8 that has 16 bytes"));
    assert!(refused(b"\x80\x02cnumpy\ndtype\nU\x01OK\x00K\x01\x87R.").contains("\"O\""));
    assert!(refused(b"").contains("byte 0"));
    // Copies of copies.
    let mut copies = b"\x80\x02](".to_vec();
    copies.extend([b'N'; 1000]);
    copies.extend(b"eq\x00");
    for _ in 0..1000 {
        copies.extend(b"c__builtin__\nlist\nh\x00\x85R");
    }
    copies.push(b'.');
    assert!(refused(&copies).contains("over and over"));
    // Deep without marks, and lists that hold themselves: nothing walks them by recursion.
    let mut deep = vec![b']'; 1_000_000];
    deep.extend(vec![b'a'; 999_999]);
    deep.push(b'.');
    assert_eq!(read(&deep).unwrap().root().describe(), "a list of 1");
    let own = read(b"\x80\x02]q\x00h\x00a.").unwrap();
    assert_eq!(own.root().describe(), "a list of 1");
}

#[test]
fn responses_that_do_not_fit_say_where() {
    let dir = tempfile::tempdir().unwrap();
    let path = dir.path().join("x.pickle");
    let read = |bytes: &[u8]| {
        fs::write(&path, bytes).unwrap();
        super::super::benchmark(&path, &ReadOptions::default())
    };
    let good = read(&responses(&array("u1", "|", [2, 2], false, &[1, 0, 1, 1]))).unwrap();
    assert_eq!(good.matrix.models(), ["a", "b"]);
    assert_eq!(good.matrix.items(), ["s/all/0", "s/all/1"]);
    assert_eq!(good.matrix.get(1, 0), Some(0.0));
    for (array, text) in [
        (
            array("u1", "|", [1, 2], false, &[1, 2]),
            "sub-benchmark \"s\", item 0, model \"b\": 2, not a score",
        ),
        (
            array("u1", "|", [2, 1], false, &[1, 1]),
            "is 2 x 1, but there are 2 models",
        ),
        (b"N".to_vec(), "has None, no table of scores"),
        (b"](](K\x01Ne](K\x00\x8c\x01xee".to_vec(), "no number"),
    ] {
        let said = read(&responses(&array)).unwrap_err().to_string();
        assert!(said.contains(text), "{said}");
    }
}

#[test]
fn sub_benchmarks_have_the_names_of_their_scenarios() {
    for (name, scenario, sub) in [
        (
            "harness_hendrycksTest_high_school_biology_5",
            "mmlu",
            "high_school_biology",
        ),
        ("harness_truthfulqa_mc_0", "truthfulqa", "all"),
        ("harness_gsm8k_5", "gsm8k", "all"),
        ("harness_winogrande_5", "winogrande", "all"),
        ("harness_arc_challenge_25", "arc", "all"),
        ("harness_hellaswag_10", "hellaswag", "all"),
        ("mine", "mine", "all"),
    ] {
        assert_eq!(scenario_of(name), (scenario.to_owned(), sub.to_owned()));
    }
}

fn looked_at(pickle: &Pickle) {
    let root = pickle.root();
    let _ = (
        root.describe(),
        root.number(),
        root.numbers(),
        root.positions(),
    );
    let _ = (
        root.entries(),
        root.get("models"),
        root.grid().map(|g| g.get(0, 0)),
    );
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(2000))]
    #[test]
    fn damaged_pickles_are_read_or_refused(which in 0usize..3, changes in damages()) {
        let valid = match which {
            0 => responses(&array("f8", "<", [2, 2], true, &[0; 32])),
            1 => responses(b"](](K\x01Ne](K\x00G\x3f\xe0\x00\x00\x00\x00\x00\x00ee"),
            _ => b"(dp0\nS'a'\np1\n(lp2\nF0.5\naVx\\u00e9\nasg1\n(I1\nL2L\ntp3\ns.".to_vec(),
        };
        let bytes = damaged(&valid, &changes);
        match read(&bytes) {
            Ok(pickle) => looked_at(&pickle),
            Err(e) => prop_assert!(e.to_string().starts_with("x.pickle: byte "), "{}", e),
        }
    }

    #[test]
    fn any_bytes_are_read_or_refused(bytes in prop::collection::vec(any::<u8>(), 0..200)) {
        if let Ok(pickle) = read(&bytes) {
            looked_at(&pickle);
        }
    }

    #[test]
    fn truncated_responses_are_placed_errors(cut in 2usize..200) {
        let bytes = responses(&array("f8", "<", [2, 2], true, &[0; 32]));
        prop_assume!(cut < bytes.len());
        let said = refused(&bytes[..cut]);
        prop_assert!(said.starts_with("x.pickle: byte "), "{}", said);
    }
}
