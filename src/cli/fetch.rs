//! Arguments of `tinyscope fetch`.

use std::path::PathBuf;
use std::time::Duration;

use clap::Args;

#[derive(Debug, Args)]
pub(crate) struct Fetch {
    /// The data set: lb-pickle, tinybenchmarks, alpacaeval or helm-lite [default: list them]
    #[arg(value_parser = data_set)]
    pub(crate) name: Option<String>,
    /// List the data sets: what they are, their source and licence, where they go and whether they are there
    #[arg(long, conflicts_with = "name")]
    pub(crate) list: bool,
    /// Put it into this folder [default: TINYSCOPE_CACHE, else tinyscope in the user's cache folder]
    #[arg(long, value_name = "DIR")]
    pub(crate) to: Option<PathBuf>,
    /// Of a set of many files, only those whose model or run holds this text (may be given again), as gsm: or model=openai
    #[arg(long, value_name = "TEXT")]
    pub(crate) only: Vec<String>,
    /// Stop where the data set is larger than this, as 500MB, 20GB
    #[arg(long, value_name = "SIZE", default_value = "2GB", value_parser = bytes)]
    pub(crate) max_size: u64,
    /// Fetch once more what is already there
    #[arg(long)]
    pub(crate) again: bool,
    /// Take a file whose length or checksum is not the known one
    #[arg(long)]
    pub(crate) no_checksum: bool,
    /// A mirror in the place of the source's host; the paths below it are the same
    #[arg(long, value_name = "URL", value_parser = base)]
    pub(crate) base_url: Option<String>,
    /// Give up where no answer, or no next byte, comes for so long
    #[arg(long, value_name = "SECONDS", default_value = "30", value_parser = seconds)]
    pub(crate) timeout: Duration,
    /// How often to try again where nothing more comes
    #[arg(long, value_name = "N", default_value = "4", value_parser = clap::value_parser!(u32).range(..=100))]
    pub(crate) retries: u32,
    /// The pause before the first try again, in seconds; it doubles
    #[arg(long, value_name = "SECONDS", default_value = "0.5", value_parser = seconds, hide = true)]
    pub(crate) pause: Duration,
}

fn data_set(name: &str) -> Result<String, String> {
    let set = tinyscope::fetch::DataSet::named(name);
    set.map(|_| name.to_owned()).map_err(|e| e.to_string())
}

fn base(url: &str) -> Result<String, String> {
    let checked = tinyscope::fetch::check_base(url);
    checked.map(|()| url.to_owned()).map_err(|e| e.to_string())
}

/// A number of bytes with a unit: 2GB, 500 MB, 1.5GiB, 1000.
fn bytes(text: &str) -> Result<u64, String> {
    let text = text.trim();
    let digits = text.find(|c: char| !c.is_ascii_digit() && c != '.');
    let (number, unit) = text.split_at(digits.unwrap_or(text.len()));
    let factor = match unit.trim().to_ascii_lowercase().as_str() {
        "" | "b" => 1.0,
        "k" | "kb" => 1e3,
        "m" | "mb" => 1e6,
        "g" | "gb" => 1e9,
        "t" | "tb" => 1e12,
        "kib" => 1024.0,
        "mib" => 1024.0 * 1024.0,
        "gib" => 1024.0 * 1024.0 * 1024.0,
        "tib" => 1024.0 * 1024.0 * 1024.0 * 1024.0,
        _ => return Err("a number with B, kB, MB, GB, TB, or KiB, MiB, GiB, TiB".into()),
    };
    match number.parse::<f64>() {
        Ok(n) if n * factor >= 1.0 && n * factor < 1e18 => Ok((n * factor) as u64),
        _ => Err("not a size above 0, as 2GB".into()),
    }
}

fn seconds(text: &str) -> Result<Duration, String> {
    match text.parse::<f64>() {
        Ok(s) if (0.001..=86_400.0).contains(&s) => Ok(Duration::from_secs_f64(s)),
        _ => Err("not a number of seconds above 0".into()),
    }
}

#[cfg(test)]
mod tests {
    use super::bytes;

    #[test]
    fn sizes_are_read_with_their_units() {
        for (text, found) in [
            ("2GB", Some(2_000_000_000)),
            ("1.5 MiB", Some(1_572_864)),
            ("64k", Some(64_000)),
            ("1000", Some(1000)),
            ("0", None),
            ("-1", None),
            ("2 parsecs", None),
            ("", None),
            ("1e9", None),
        ] {
            assert_eq!(bytes(text).ok(), found, "{text}");
        }
    }
}
