//! Where answers come from: lines of standard input, or a command.

use std::io::{self, BufRead, Read, Write};
use std::process::{Child, Command, ExitStatus, Stdio};
use std::time::{Duration, Instant};

use super::underway::{Underway, stop};

/// What came for an item.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(super) enum Reply {
    Score(f64),
    /// It cannot be asked.
    Skip,
    /// The last answer was wrong.
    Undo,
    Quit,
}

/// Who answers.
pub(super) enum Asker<'a> {
    Lines {
        lines: Box<dyn BufRead>,
        /// Somebody types them: what is typed ends the line of the question.
        typed: bool,
    },
    Command {
        shell: &'a str,
        timeout: Option<Duration>,
        underway: Underway,
    },
}

impl Asker<'_> {
    /// The reply for an item; the outer error is that of `out`, the inner one says why the command gave none.
    pub(super) fn ask(
        &mut self,
        item: &str,
        out: &mut dyn Write,
    ) -> io::Result<Result<Reply, String>> {
        match self {
            Self::Lines { lines, typed } => loop {
                write!(out, "score from 0 to 1 (s skip, u undo, q stop): ")?;
                if !*typed {
                    writeln!(out)?;
                }
                out.flush()?;
                let mut line = Vec::new();
                if lines.read_until(b'\n', &mut line)? == 0 {
                    if *typed {
                        writeln!(out)?;
                    }
                    return Ok(Ok(Reply::Quit));
                }
                let line = String::from_utf8_lossy(&line);
                match reply(line.trim()) {
                    Some(reply) => return Ok(Ok(reply)),
                    None => writeln!(out, "{:?} is no score", shortened(line.trim()))?,
                }
            },
            Self::Command {
                shell,
                timeout,
                underway,
            } => Ok(from_command(shell, item, *timeout, underway)),
        }
    }

    /// Whether an item can be named to whoever answers: no argument of a command holds a NUL.
    pub(super) fn takes(&self, item: &str) -> bool {
        match self {
            Self::Lines { .. } => true,
            Self::Command { .. } => !item.contains('\0'),
        }
    }
}

fn reply(text: &str) -> Option<Reply> {
    match text {
        "s" => Some(Reply::Skip),
        "u" => Some(Reply::Undo),
        "q" => Some(Reply::Quit),
        _ => {
            let score: f64 = text.parse().ok()?;
            (0.0..=1.0).contains(&score).then_some(Reply::Score(score))
        }
    }
}

/// The longest output of a command that is read: a score has a few characters.
const MOST: usize = 1 << 16;

/// Written after what a command printed, once it has ended: what it left running may hold its output open for long.
const END: &[u8] = b"\0tinyscope: the command has ended\0";

fn from_command(
    shell: &str,
    item: &str,
    timeout: Option<Duration>,
    underway: &Underway,
) -> Result<Reply, String> {
    let failed = |e: io::Error| format!("the command could not be run: {e}");
    let (output, input) = io::pipe().map_err(failed)?;
    let mut end = input.try_clone().map_err(failed)?;
    let mut command = shell_command(shell, item);
    command
        .env("TINYSCOPE_ITEM", item)
        .stdin(Stdio::null())
        .stdout(input);
    // Without a limit it stays in our group, so that it may ask at the terminal.
    let child = underway.start(&mut command, timeout.is_some());
    let mut child = child.map_err(failed)?;
    // Read all along: a full pipe would hold the command up.
    let printed = std::thread::spawn(move || until_the_end(output));
    let status = match timeout {
        None => child.wait().map(Some),
        Some(limit) => wait_until(&mut child, Instant::now() + limit),
    };
    let status = match status {
        Ok(Some(status)) => Ok(status),
        Ok(None) => {
            stop(&mut child);
            let limit = timeout.unwrap_or_default().as_secs_f64();
            Err(format!("the command took more than {limit} seconds"))
        }
        Err(e) => Err(failed(e)),
    };
    if !status.as_ref().is_ok_and(ExitStatus::success) {
        // Where the signal that ended it is ours too, that has the word.
        std::thread::sleep(Duration::from_millis(50));
    }
    underway.ended();
    let status = status?;
    // Fails where too much was printed: then nobody reads on.
    let _ = end.write_all(END);
    if !status.success() {
        return Err(format!("the command failed: {status}"));
    }
    let bytes = printed.join().unwrap_or_default();
    let text = String::from_utf8_lossy(&bytes);
    match reply(text.trim()) {
        Some(reply @ (Reply::Score(_) | Reply::Skip)) => Ok(reply),
        _ => Err(format!(
            "the command printed {:?}, not a score from 0 to 1",
            shortened(text.trim())
        )),
    }
}

/// What comes before [`END`], of too much the start.
fn until_the_end(mut output: impl Read) -> Vec<u8> {
    let mut bytes = Vec::new();
    let mut chunk = [0; 4096];
    while bytes.len() <= MOST {
        match output.read(&mut chunk) {
            Ok(0) => break,
            Ok(n) => {
                // It may come in two parts.
                let from = bytes.len().saturating_sub(END.len());
                bytes.extend_from_slice(&chunk[..n]);
                let mut windows = bytes[from..].windows(END.len());
                if let Some(at) = windows.position(|w| w == END) {
                    bytes.truncate(from + at);
                    break;
                }
            }
            Err(e) if e.kind() == io::ErrorKind::Interrupted => {}
            Err(_) => break,
        }
    }
    bytes
}

fn wait_until(child: &mut Child, end: Instant) -> io::Result<Option<ExitStatus>> {
    loop {
        if let Some(status) = child.try_wait()? {
            return Ok(Some(status));
        }
        let left = end.saturating_duration_since(Instant::now());
        if left.is_zero() {
            return Ok(None);
        }
        std::thread::sleep(left.min(Duration::from_millis(20)));
    }
}

#[cfg(unix)]
fn shell_command(shell: &str, item: &str) -> Command {
    let mut command = Command::new("sh");
    command.args(["-c", shell, "tinyscope", item]);
    command
}

#[cfg(not(unix))]
fn shell_command(shell: &str, item: &str) -> Command {
    let mut command = Command::new("cmd");
    command.args(["/C", shell, item]);
    command
}

fn shortened(text: &str) -> String {
    match text.char_indices().nth(60) {
        Some((end, _)) => format!("{}\u{2026}", &text[..end]),
        None => text.to_owned(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn replies() {
        assert_eq!(reply("0.25"), Some(Reply::Score(0.25)));
        assert_eq!(reply("1"), Some(Reply::Score(1.0)));
        for (text, expected) in [("s", Reply::Skip), ("u", Reply::Undo), ("q", Reply::Quit)] {
            assert_eq!(reply(text), Some(expected));
        }
        for bad in ["", "1.01", "-0.5", "NaN", "inf", "yes", "1 0"] {
            assert_eq!(reply(bad), None, "{bad}");
        }
    }

    #[cfg(unix)]
    #[test]
    fn commands() {
        let underway = Underway::default();
        let ask = |command: &str| from_command(command, "a b", None, &underway);
        assert_eq!(ask("echo 0.5"), Ok(Reply::Score(0.5)));
        assert_eq!(ask("test \"$1\" = 'a b' && echo 1"), Ok(Reply::Score(1.0)));
        assert_eq!(
            ask("test \"$TINYSCOPE_ITEM\" = 'a b' && echo s"),
            Ok(Reply::Skip)
        );
        assert!(ask("echo 0.5; exit 3").unwrap_err().contains("3"));
        assert!(ask("echo q").unwrap_err().contains("not a score"));
        assert!(ask("true").unwrap_err().contains("\"\""));
        let limit = Some(Duration::from_millis(200));
        assert_eq!(
            from_command("echo 1", "x", Some(Duration::from_secs(60)), &underway),
            Ok(Reply::Score(1.0))
        );
        let start = Instant::now();
        let slow = from_command("sleep 30 & sleep 30", "x", limit, &underway);
        assert!(slow.unwrap_err().contains("0.2 seconds"));
        assert!(start.elapsed() < Duration::from_secs(10));
    }

    /// What goes on in the background, and more output than a score has.
    #[cfg(unix)]
    #[test]
    fn what_a_command_leaves_running_is_not_waited_for() {
        let underway = Underway::default();
        for limit in [None, Some(Duration::from_secs(20))] {
            let start = Instant::now();
            let left = from_command("sleep 30 2>/dev/null & echo 1", "x", limit, &underway);
            assert_eq!(left, Ok(Reply::Score(1.0)));
            let much = from_command(
                "sleep 30 2>/dev/null & yes | head -c 40000",
                "x",
                limit,
                &underway,
            );
            assert!(much.unwrap_err().contains("not a score"));
            let endless = from_command("yes", "x", limit, &underway);
            assert!(endless.unwrap_err().contains("the command failed"));
            assert!(start.elapsed() < Duration::from_secs(10));
        }
    }

    #[test]
    fn the_end_of_the_output_may_come_in_parts() {
        let (start, rest) = END.split_at(9);
        let parts = [b"0.5\n".as_slice(), start, rest, b"later"];
        for cut in 0..4 {
            let (a, b) = (parts[..cut].concat(), parts[cut..].concat());
            assert_eq!(until_the_end(a.chain(b.as_slice())), b"0.5\n");
        }
        assert_eq!(until_the_end(b"1".as_slice()), b"1");
    }
}
