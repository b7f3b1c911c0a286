//! One file: resumed, refused, bounded.

use std::fs;
use std::path::Path;
use std::process::Stdio;
use std::thread;
use std::time::{Duration, Instant};

use super::server::{Answer, Server};
use super::{command, fetch, fetching, files, said};

const NAME: &str = "tinybenchmarks";
const FILE: &str = "tinyBenchmarks.pkl";
const PATH: &str = "/felipemaiapolo/tinyBenchmarks/main/tinyBenchmarks/tinyBenchmarks.pkl";
/// The known length of the real file.
const KNOWN: usize = 5_230_626;

/// Bytes that begin and end as a pickle does, every stretch of them another.
fn pickle(len: usize, salt: u8) -> Vec<u8> {
    let mut bytes: Vec<u8> = (0..len as u32)
        .map(|i| (i.wrapping_mul(2_654_435_761) >> 24) as u8 ^ salt)
        .collect();
    bytes[..2].copy_from_slice(&[0x80, 4]);
    bytes[len - 1] = b'.';
    bytes
}

/// Fetches the small stand-in for the file, whose checksum is not the known one.
fn get(cache: &Path, server: &Server, more: &[&str]) -> (bool, String) {
    fetch(
        cache,
        &server.base,
        NAME,
        &[&["--no-checksum"], more].concat(),
    )
}

fn whole(cache: &Path, data: &[u8]) {
    assert!(fs::read(cache.join(FILE)).unwrap() == data, "other bytes");
    let names: Vec<String> = files(cache).into_keys().collect();
    assert_eq!(names, [FILE]);
}

#[test]
fn a_whole_file_comes_once() {
    let cache = tempfile::tempdir().unwrap();
    let data = pickle(200_000, 1);
    let body = data.clone();
    let server = Server::start(move |_, _| Answer::ok(body.clone()));
    let (done, text) = get(cache.path(), &server, &[]);
    assert!(done, "{text}");
    let path = cache.path().join(FILE);
    let path = path.to_str().unwrap();
    assert!(
        text.contains(&format!("{path}: 200.0 kB, fetched")),
        "{text}"
    );
    assert!(
        text.contains(&format!("next: tinyscope show {path}")),
        "{text}"
    );
    whole(cache.path(), &data);
    assert_eq!(server.asked()[0].path, PATH);
    assert_eq!(
        server.asked()[0].header("accept-encoding"),
        Some("identity")
    );

    let (done, text) = get(cache.path(), &server, &[]);
    assert!(done && text.contains("already there"), "{text}");
    assert_eq!(server.asked().len(), 1);
    let (done, text) = get(cache.path(), &server, &["--again"]);
    assert!(done && text.contains("kB, fetched"), "{text}");
    assert_eq!(server.asked().len(), 2);
    let (_, list) = said(command(cache.path(), &["fetch"]).output().unwrap());
    assert!(list.contains("(there, 200.0 kB)"), "{list}");

    // A file of another length is not taken for the known one, and not replaced without a word.
    let (done, text) = fetch(cache.path(), &server.base, NAME, &[]);
    assert!(
        !done && text.contains("200000 bytes, where 5230626 are known"),
        "{text}"
    );
    assert!(text.contains("--again"), "{text}");
    whole(cache.path(), &data);
}

#[test]
fn a_cut_connection_is_gone_on_with() {
    let cache = tempfile::tempdir().unwrap();
    let data = pickle(300_000, 2);
    let body = data.clone();
    let server = Server::start(move |asked, _| Answer::ranged(asked, &body, "\"v1\"").cut(100_000));
    let (done, text) = get(cache.path(), &server, &["--retries", "1"]);
    assert!(done, "{text}");
    whole(cache.path(), &data);
    let asked = server.asked();
    assert_eq!(asked[0].from(), None);
    assert!(asked[1].from().unwrap() > 0);
    assert_eq!(asked[1].header("if-range"), Some("\"v1\""));
}

#[test]
fn another_run_goes_on_where_the_first_gave_up() {
    let cache = tempfile::tempdir().unwrap();
    let data = pickle(300_000, 3);
    let body = data.clone();
    let server = Server::start(move |asked, before| match before {
        0 => Answer::ranged(asked, &body, "\"v1\"").cut(100_000),
        1..=2 => Answer::status(503, "later").header("Retry-After", "0"),
        _ => Answer::ranged(asked, &body, "\"v1\""),
    });
    let (done, text) = get(cache.path(), &server, &["--retries", "2"]);
    assert!(
        !done && text.contains("status 503, also after 2 more tries"),
        "{text}"
    );
    assert!(
        text.contains("of 300.0 kB are there, the same command goes on"),
        "{text}"
    );
    assert!(!cache.path().join(FILE).exists());
    let part = files(cache.path())[&format!("{FILE}.part")] as usize;
    assert!(part > 0 && part <= 100_000, "{part}");
    let (_, list) = said(command(cache.path(), &["fetch"]).output().unwrap());
    assert!(list.contains("are there to go on from"), "{list}");
    let (done, text) = get(cache.path(), &server, &[]);
    assert!(done, "{text}");
    assert_eq!(server.asked().last().unwrap().from(), Some(part));
    whole(cache.path(), &data);
}

#[test]
fn a_server_without_ranges_starts_again() {
    let cache = tempfile::tempdir().unwrap();
    let data = pickle(300_000, 4);
    let body = data.clone();
    let server = Server::start(move |_, before| {
        let answer = Answer::ok(body.clone()).header("ETag", "\"v1\"");
        if before == 0 {
            answer.cut(150_000)
        } else {
            answer
        }
    });
    let (done, text) = get(cache.path(), &server, &[]);
    assert!(done, "{text}");
    assert!(server.asked()[1].from().is_some());
    whole(cache.path(), &data);
}

#[test]
fn pieces_of_two_files_are_never_joined() {
    // The second file comes whole; as a part with another tag; as a part of another length; as a part of another date.
    type Second = fn(&[u8], usize) -> Answer;
    let seconds: [Second; 4] = [
        |new, _| Answer::ok(new).header("ETag", "\"v2\""),
        |new, from| Answer::part(new, from, new.len()).header("ETag", "\"v2\""),
        |new, from| Answer::part(new, from, new.len()),
        |new, from| {
            Answer::part(new, from, new.len())
                .header("Last-Modified", "Tue, 02 Jan 2024 00:00:00 GMT")
        },
    ];
    for (i, second) in seconds.into_iter().enumerate() {
        let cache = tempfile::tempdir().unwrap();
        let (old, new) = (
            pickle(300_000, 5),
            pickle(if i == 2 { 290_000 } else { 300_000 }, 6),
        );
        let body = new.clone();
        let server = Server::start(move |asked, before| match (before, asked.from()) {
            (0, _) => Answer::ok(old.clone())
                .header("ETag", "\"v1\"")
                .header("Last-Modified", "Mon, 01 Jan 2024 00:00:00 GMT")
                .cut(100_000),
            (_, Some(from)) => second(&body, from),
            (_, None) => Answer::ok(body.clone()).header("ETag", "\"v2\""),
        });
        let (done, text) = get(cache.path(), &server, &[]);
        assert!(done, "{i}: {text}");
        whole(cache.path(), &new);
    }
}

#[test]
fn without_a_validator_nothing_is_gone_on_with() {
    let cache = tempfile::tempdir().unwrap();
    let data = pickle(300_000, 7);
    let body = data.clone();
    let server = Server::start(move |asked, before| {
        let answer = Answer::ranged(asked, &body, "W/\"weak\"");
        if before == 0 {
            answer.cut(100_000)
        } else {
            answer
        }
    });
    let (done, text) = get(cache.path(), &server, &[]);
    assert!(done, "{text}");
    assert_eq!(server.asked()[1].from(), None);
    whole(cache.path(), &data);
}

#[test]
fn a_part_of_unknown_origin_is_thrown_away() {
    let data = pickle(300_000, 8);
    for record in [
        None,
        Some("{"),
        Some(
            r#"{"url": "http://elsewhere/", "etag": "\"v1\"", "last_modified": null, "total": 300000}"#,
        ),
    ] {
        let cache = tempfile::tempdir().unwrap();
        fs::write(cache.path().join(format!("{FILE}.part")), vec![7; 50_000]).unwrap();
        if let Some(record) = record {
            fs::write(cache.path().join(format!("{FILE}.part.json")), record).unwrap();
        }
        let body = data.clone();
        let server = Server::start(move |asked, _| Answer::ranged(asked, &body, "\"v1\""));
        let (done, text) = get(cache.path(), &server, &[]);
        assert!(done, "{text}");
        assert_eq!(server.asked()[0].from(), None);
        whole(cache.path(), &data);
    }
}

#[test]
fn what_is_not_the_known_file_is_refused() {
    let cache = tempfile::tempdir().unwrap();
    let server = Server::start(|_, _| Answer::ok(pickle(1000, 9)));
    let (done, text) = fetch(cache.path(), &server.base, NAME, &[]);
    assert!(
        !done && text.contains("1000 bytes, where 5230626 are known"),
        "{text}"
    );
    assert!(files(cache.path()).is_empty());
    // Of the right length, but other bytes.
    let other = pickle(KNOWN, 9);
    let server = Server::start(move |_, _| Answer::ok(other.clone()));
    let (done, text) = fetch(cache.path(), &server.base, NAME, &[]);
    assert!(!done && text.contains("its SHA-256 is"), "{text}");
    assert!(
        text.contains("c3b6e426dfe7b100fe6d0ee960398e10") && text.contains("--no-checksum"),
        "{text}"
    );
    assert!(files(cache.path()).is_empty());
}

#[test]
fn a_known_checksum_stands_in_for_a_validator() {
    let cache = tempfile::tempdir().unwrap();
    let body = pickle(KNOWN, 19);
    let server = Server::start(move |asked, before| {
        let answer = Answer::ranged(asked, &body, "W/\"weak\"");
        if before == 0 {
            answer.cut(1_000_000)
        } else {
            answer
        }
    });
    let (done, text) = fetch(cache.path(), &server.base, NAME, &[]);
    // Its pieces are joined, found to be wrong, and fetched in one before it is called another file.
    assert!(!done && text.contains("its SHA-256 is"), "{text}");
    let asked = server.asked();
    assert!(asked[1].from().is_some() && asked[1].header("if-range").is_none());
    assert_eq!((asked.len(), asked[2].from()), (3, None));
    assert!(files(cache.path()).is_empty());
}

#[test]
fn too_large_a_file_stops_declared_or_not() {
    for chunked in [false, true] {
        let cache = tempfile::tempdir().unwrap();
        let data = pickle(300_000, 10);
        let server = Server::start(move |_, _| {
            let answer = Answer::ok(data.clone());
            if chunked { answer.chunked() } else { answer }
        });
        let (done, text) = get(cache.path(), &server, &["--max-size", "200kB"]);
        assert!(
            !done && text.contains("above the limit of 200.0 kB"),
            "{text}"
        );
        assert!(text.contains("--max-size"), "{text}");
        assert!(!cache.path().join(FILE).exists());
        let left: u64 = files(cache.path()).values().sum();
        assert!(left <= 200_500, "{left}");
        assert_eq!(server.asked().len(), 1);
        // With room enough it comes.
        let (done, text) = get(cache.path(), &server, &["--max-size", "1MB"]);
        assert!(done, "{text}");
        assert_eq!(files(cache.path())[FILE], 300_000);
    }
}

#[test]
fn a_cut_stream_of_unknown_length_is_noticed() {
    let cache = tempfile::tempdir().unwrap();
    let data = pickle(300_000, 11);
    let server = Server::start(move |_, before| {
        let answer = Answer::ok(data.clone()).chunked();
        if before < 2 {
            answer.cut(100_000)
        } else {
            answer
        }
    });
    let (done, text) = get(cache.path(), &server, &["--retries", "1"]);
    assert!(!done && text.contains("tries"), "{text}");
    assert!(text.contains("the same command starts again"), "{text}");
    assert!(!cache.path().join(FILE).exists());
    let (done, text) = get(cache.path(), &server, &[]);
    assert!(done, "{text}");
    assert_eq!(files(cache.path())[FILE], 300_000);
}

#[test]
fn redirects_are_followed_so_far() {
    let cache = tempfile::tempdir().unwrap();
    let data = pickle(20_000, 12);
    let body = data.clone();
    let server = Server::start(move |asked, _| match asked.path.as_str() {
        "/there" => Answer::ok(body.clone()),
        "/on" => Answer::status(307, "").header("Location", "there"),
        _ => Answer::status(302, "").header("Location", "/on"),
    });
    let (done, text) = get(cache.path(), &server, &[]);
    assert!(done, "{text}");
    whole(cache.path(), &data);

    let cache = tempfile::tempdir().unwrap();
    let server = Server::start(|_, _| Answer::status(302, "").header("Location", "/again"));
    let (done, text) = get(cache.path(), &server, &[]);
    assert!(!done && text.contains("led on more than 5 times"), "{text}");
    assert!(server.asked().len() < 10);
    assert!(files(cache.path()).is_empty());
}

#[test]
fn a_missing_or_refused_file_is_named() {
    for (status, what) in [
        (404, "not found"),
        (410, "not found"),
        (403, "refused (status 403)"),
        (400, "status 400"),
    ] {
        let cache = tempfile::tempdir().unwrap();
        let server = Server::start(move |_, _| Answer::status(status, "no"));
        let (done, text) = get(cache.path(), &server, &[]);
        assert!(!done && text.contains(what), "{text}");
        assert!(text.contains(&format!("{}{PATH}", server.base)), "{text}");
        assert_eq!(server.asked().len(), 1);
        assert!(files(cache.path()).is_empty());
    }
    let cache = tempfile::tempdir().unwrap();
    let server = Server::start(|_, _| Answer::missing());
    let (_, text) = get(cache.path(), &server, &[]);
    let by_hand = cache.path().join(FILE).display().to_string();
    assert!(
        text.contains("--base-url") && text.contains(&by_hand),
        "{text}"
    );
}

#[test]
fn a_server_in_trouble_is_asked_again() {
    let cache = tempfile::tempdir().unwrap();
    let data = pickle(20_000, 13);
    let body = data.clone();
    let server = Server::start(move |_, before| match before {
        0 => Answer::status(503, "later"),
        1 => Answer::status(429, "slower").header("Retry-After", "0"),
        2 => Answer::status(500, "oh"),
        _ => Answer::ok(body.clone()),
    });
    let (done, text) = get(cache.path(), &server, &[]);
    assert!(done, "{text}");
    whole(cache.path(), &data);
    assert_eq!(server.asked().len(), 4);
}

#[test]
fn slow_is_no_fault_and_silent_is_one() {
    let cache = tempfile::tempdir().unwrap();
    let data = pickle(20_000, 14);
    let body = data.clone();
    // Longer than the time limit as a whole, never between two bytes.
    let server =
        Server::start(move |_, _| Answer::ok(body.clone()).pace(1000, Duration::from_millis(60)));
    let (done, text) = get(cache.path(), &server, &["--timeout", "0.6"]);
    assert!(done, "{text}");
    whole(cache.path(), &data);

    for stall in [None, Some(10_000)] {
        let cache = tempfile::tempdir().unwrap();
        let data = data.clone();
        let server = Server::start(move |asked, _| match stall {
            None => {
                thread::sleep(Duration::from_secs(2));
                Answer::ok("")
            }
            Some(after) => Answer::ranged(asked, &data, "\"v1\"")
                .stall(if asked.from().is_some() { 0 } else { after }),
        });
        let start = Instant::now();
        let (done, text) = get(
            cache.path(),
            &server,
            &["--timeout", "0.2", "--retries", "1"],
        );
        assert!(
            !done && text.contains("no answer in time, also after 1 more tries"),
            "{text}"
        );
        assert!(start.elapsed() < Duration::from_secs(5));
        assert!(!cache.path().join(FILE).exists());
        if stall.is_some() {
            assert!(text.contains("10.0 kB of 20.0 kB are there"), "{text}");
        }
    }
}

#[test]
fn other_content_is_refused() {
    for (body, what) in [
        (
            &b"\n<!DOCTYPE html><html>Please log in</html>"[..],
            "a web page instead of data",
        ),
        (
            b"version https://git-lfs.github.com/spec/v1\noid sha256:0\n",
            "Git LFS",
        ),
        (b"{\"message\": \"no\"}", "no pickle"),
        (b"", "an empty file"),
    ] {
        let cache = tempfile::tempdir().unwrap();
        let server = Server::start(move |_, _| Answer::ok(body));
        let (done, text) = get(cache.path(), &server, &[]);
        assert!(!done && text.contains(what), "{text}");
        assert!(files(cache.path()).is_empty());
    }
    let cache = tempfile::tempdir().unwrap();
    let server =
        Server::start(|_, _| Answer::ok(pickle(1000, 15)).header("Content-Encoding", "gzip"));
    let (done, text) = get(cache.path(), &server, &[]);
    assert!(!done && text.contains("compressed"), "{text}");
    assert!(files(cache.path()).is_empty());
}

#[test]
fn two_at_once_fetch_once() {
    let cache = tempfile::tempdir().unwrap();
    let data = pickle(100_000, 16);
    let body = data.clone();
    let server =
        Server::start(move |_, _| Answer::ok(body.clone()).pace(10_000, Duration::from_millis(30)));
    let start = || {
        let mut command = fetching(cache.path(), &server.base, NAME, &["--no-checksum"]);
        command
            .stdout(Stdio::piped())
            .stderr(Stdio::piped())
            .spawn()
            .unwrap()
    };
    let both = [start(), start()];
    let texts = both.map(|child| {
        let (done, text) = said(child.wait_with_output().unwrap());
        assert!(done, "{text}");
        text
    });
    assert_eq!(
        texts.iter().filter(|t| t.contains("already there")).count(),
        1,
        "{texts:?}"
    );
    assert_eq!(server.asked().len(), 1);
    whole(cache.path(), &data);
}

#[test]
fn a_stopped_program_leaves_its_part() {
    let cache = tempfile::tempdir().unwrap();
    let data = pickle(300_000, 17);
    let body = data.clone();
    let server = Server::start(move |asked, _| {
        let answer = Answer::ranged(asked, &body, "\"v1\"");
        if asked.from().is_none() {
            answer.stall(100_000)
        } else {
            answer
        }
    });
    let mut child = fetching(cache.path(), &server.base, NAME, &["--no-checksum"])
        .spawn()
        .unwrap();
    let part = format!("{FILE}.part");
    let start = Instant::now();
    while files(cache.path()).get(&part).copied().unwrap_or(0) < 100_000 {
        assert!(
            start.elapsed() < Duration::from_secs(20),
            "{:?}",
            files(cache.path())
        );
        thread::sleep(Duration::from_millis(20));
    }
    // As Ctrl-C does: the program ends at once.
    child.kill().unwrap();
    child.wait().unwrap();
    let (done, text) = get(cache.path(), &server, &[]);
    assert!(done, "{text}");
    assert_eq!(server.asked()[1].from(), Some(100_000));
    whole(cache.path(), &data);
}

#[test]
fn out_of_reach_is_said_with_what_to_do() {
    let cache = tempfile::tempdir().unwrap();
    // A port that nobody listens at any more.
    let port = std::net::TcpListener::bind("127.0.0.1:0")
        .unwrap()
        .local_addr()
        .unwrap()
        .port();
    let base = format!("http://127.0.0.1:{port}");
    let (done, text) = fetch(cache.path(), &base, NAME, &[]);
    assert!(!done && text.contains("cannot reach 127.0.0.1"), "{text}");
    assert!(
        text.contains(&format!("{base}{PATH}")) && text.trim_end().lines().count() == 1,
        "{text}"
    );
    assert!(
        text.contains(cache.path().join(FILE).to_str().unwrap()),
        "{text}"
    );
    assert!(files(cache.path()).is_empty());
    for base in ["ftp://127.0.0.1", "nothing", "http://"] {
        let out = fetching(cache.path(), base, NAME, &[]).output().unwrap();
        assert_eq!(out.status.code(), Some(2), "{base}");
        let (done, text) = said(out);
        assert!(!done && text.contains("no base of addresses"), "{text}");
    }
}

#[test]
fn it_goes_where_it_is_told_and_not_over_a_folder() {
    let cache = tempfile::tempdir().unwrap();
    let server = Server::start(|_, _| Answer::ok(pickle(1000, 18)));
    let to = cache.path().join("my data");
    let (done, text) = get(cache.path(), &server, &["--to", to.to_str().unwrap()]);
    assert!(
        done && text.contains(&format!("tinyscope show '{}'", to.join(FILE).display())),
        "{text}"
    );
    assert_eq!(files(&to)[FILE], 1000);
    fs::remove_file(to.join(FILE)).unwrap();
    fs::create_dir(to.join(FILE)).unwrap();
    let (done, text) = get(cache.path(), &server, &["--to", to.to_str().unwrap()]);
    assert!(
        !done && text.contains("a folder in the place of the file"),
        "{text}"
    );
    let (done, text) = get(cache.path(), &server, &["--only", "x"]);
    assert!(!done && text.contains("--only"), "{text}");
}
