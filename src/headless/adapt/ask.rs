//! Where answers come from: lines of standard input, or a command.

use std::io::{self, BufRead, Read, Write};
use std::process::{Child, Command, ExitStatus, Stdio};
use std::sync::mpsc;
use std::time::{Duration, Instant};

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
    Lines(Box<dyn BufRead>),
    Command {
        shell: &'a str,
        timeout: Option<Duration>,
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
            Self::Lines(lines) => loop {
                write!(out, "score from 0 to 1 (s skip, u undo, q stop): ")?;
                out.flush()?;
                let mut line = Vec::new();
                if lines.read_until(b'\n', &mut line)? == 0 {
                    writeln!(out)?;
                    return Ok(Ok(Reply::Quit));
                }
                let line = String::from_utf8_lossy(&line);
                match reply(line.trim()) {
                    Some(reply) => return Ok(Ok(reply)),
                    None => writeln!(out, "{:?} is no score", shortened(line.trim()))?,
                }
            },
            Self::Command { shell, timeout } => Ok(from_command(shell, item, *timeout)),
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
const MOST: u64 = 1 << 16;

fn from_command(shell: &str, item: &str, timeout: Option<Duration>) -> Result<Reply, String> {
    let mut command = shell_command(shell, item);
    command
        .env("TINYSCOPE_ITEM", item)
        .stdin(Stdio::null())
        .stdout(Stdio::piped());
    if timeout.is_some() {
        own_group(&mut command);
    }
    let failed = |e: io::Error| format!("the command could not be run: {e}");
    let mut child = command.spawn().map_err(failed)?;
    let (sender, receiver) = mpsc::channel();
    if let Some(stdout) = child.stdout.take() {
        // In a thread of its own: what outlives the command may keep the pipe open.
        std::thread::spawn(move || {
            let mut bytes = Vec::new();
            let mut stdout = stdout.take(MOST);
            let read = stdout.read_to_end(&mut bytes);
            let _ = sender.send(read.map(|_| bytes));
        });
    }
    let start = Instant::now();
    let output = match timeout {
        None => receiver.recv().ok(),
        Some(limit) => receiver.recv_timeout(limit).ok(),
    };
    let status = match timeout {
        None => child.wait().map_err(failed)?,
        Some(limit) => match wait_until(&mut child, start + limit).map_err(failed)? {
            Some(status) => status,
            None => {
                stop(&mut child);
                let limit = limit.as_secs_f64();
                return Err(format!("the command took more than {limit} seconds"));
            }
        },
    };
    if !status.success() {
        return Err(format!("the command failed: {status}"));
    }
    let bytes = output.and_then(Result::ok).unwrap_or_default();
    let text = String::from_utf8_lossy(&bytes);
    match reply(text.trim()) {
        Some(reply @ (Reply::Score(_) | Reply::Skip)) => Ok(reply),
        _ => Err(format!(
            "the command printed {:?}, not a score from 0 to 1",
            shortened(text.trim())
        )),
    }
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

/// A group of its own, so that what the command started ends with it.
#[cfg(unix)]
fn own_group(command: &mut Command) {
    use std::os::unix::process::CommandExt;
    command.process_group(0);
}

#[cfg(not(unix))]
fn own_group(_: &mut Command) {}

fn stop(child: &mut Child) {
    // Best effort: that it took too long is what is reported.
    #[cfg(unix)]
    let _ = Command::new("kill")
        .args(["-KILL", "--", &format!("-{}", child.id())])
        .stderr(Stdio::null())
        .status();
    let _ = child.kill();
    let _ = child.wait();
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
        let ask = |command: &str| from_command(command, "a b", None);
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
            from_command("echo 1", "x", Some(Duration::from_secs(60))),
            Ok(Reply::Score(1.0))
        );
        let start = Instant::now();
        let slow = from_command("sleep 30 & sleep 30", "x", limit);
        assert!(slow.unwrap_err().contains("0.2 seconds"));
        assert!(start.elapsed() < Duration::from_secs(10));
    }
}
