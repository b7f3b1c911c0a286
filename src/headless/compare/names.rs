//! What two models are called, so that one can tell them apart.

use std::path::Path;

/// Of each model's file and name in it, where one was given: the name, or else the file's without its ending; where these are
/// the same, as much of the paths as it takes.
pub(super) fn of(models: [(&Path, Option<&str>); 2]) -> [String; 2] {
    let paths = models.map(|m| m.0);
    let plain = models.map(|(path, name)| name.map_or_else(|| stem(path), str::to_owned));
    if plain[0] != plain[1] {
        return plain;
    }
    let apart = apart(paths).unwrap_or_else(|| ["first", "second"].map(str::to_owned));
    let named = models.iter().any(|m| m.1.is_some());
    if named || paths[0] == paths[1] {
        return apart.map(|place| format!("{} ({place})", plain[0]));
    }
    apart
}

/// The name of a file without its ending, `.gz` beside it included; the whole name of a folder.
fn stem(path: &Path) -> String {
    if path.is_dir() {
        return last(path, 1);
    }
    let name = last(path, 1);
    let name = name.strip_suffix(".gz").unwrap_or(&name);
    let stem = Path::new(name).file_stem();
    stem.map_or_else(|| name.to_owned(), |s| s.to_string_lossy().into_owned())
}

/// The last parts of two paths, as many as it takes until they differ; `None` for the same path.
fn apart(paths: [&Path; 2]) -> Option<[String; 2]> {
    let longest = paths.map(|p| p.components().count());
    (1..=longest[0].max(longest[1]))
        .map(|parts| paths.map(|p| last(p, parts)))
        .find(|[a, b]| a != b)
}

/// The last `parts` of a path.
fn last(path: &Path, parts: usize) -> String {
    let all: Vec<_> = path.components().collect();
    let from = all.len().saturating_sub(parts);
    let kept: std::path::PathBuf = all[from..].iter().collect();
    kept.to_string_lossy().into_owned()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn models_have_different_names() {
        for (a, b, names) in [
            (("x/a.json", None), ("y/b.csv.gz", None), ["a", "b"]),
            (
                ("x/r.json", None),
                ("y/r.json", None),
                ["x/r.json", "y/r.json"],
            ),
            (("x/r.json", None), ("x/r.csv", None), ["r.json", "r.csv"]),
            (
                ("r.json", None),
                ("r.json", None),
                ["r (first)", "r (second)"],
            ),
            (
                ("t.csv", Some("m")),
                ("u.csv", Some("m")),
                ["m (t.csv)", "m (u.csv)"],
            ),
            (("t.csv", Some("m")), ("t.csv", Some("n")), ["m", "n"]),
        ] {
            let found = of([a, b].map(|(path, name)| (Path::new(path), name)));
            assert_eq!(found, names);
        }
    }
}
