//! A test that a signal ends: the command goes too, and what is kept is said.

use std::io;
use std::path::PathBuf;
use std::process::{Child, Command};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

/// What a signal has to know, shared with the thread that waits for one.
#[derive(Clone, Default)]
pub(super) struct Underway(Arc<Mutex<State>>);

#[derive(Default)]
pub(super) struct State {
    /// The command that runs.
    command: Option<Running>,
    /// How to go on.
    pub(super) advice: String,
    /// A file to remove.
    pub(super) lock: Option<PathBuf>,
}

struct Running {
    id: u32,
    /// It leads a group of its own.
    group: bool,
}

impl Underway {
    /// While this is held no signal ends the program: a file that is being written is written whole.
    pub(super) fn hold(&self) -> MutexGuard<'_, State> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Starts a command that a signal ends too: all of its group, or it alone where it is in ours.
    pub(super) fn start(&self, command: &mut Command, group: bool) -> io::Result<Child> {
        let mut state = self.hold();
        if group {
            own_group(command);
        }
        let child = command.spawn()?;
        state.command = Some(Running {
            id: child.id(),
            group,
        });
        Ok(child)
    }

    /// The command has ended.
    pub(super) fn ended(&self) {
        self.hold().command = None;
    }

    /// From here on signals that end the program do so in good order.
    #[cfg(unix)]
    pub(super) fn watch(&self) -> io::Result<()> {
        let mut signals = signal_hook::iterator::Signals::new(heard())?;
        let shared = self.clone();
        let thread = std::thread::Builder::new().name("signals".into());
        thread.spawn(move || {
            if let Some(signal) = signals.forever().next() {
                // Held to the end: nothing more is asked or written.
                let state = shared.hold();
                state.leave(signal);
                let _ = signal_hook::low_level::emulate_default_handler(signal);
            }
        })?;
        Ok(())
    }

    /// There are no such signals here.
    #[cfg(not(unix))]
    pub(super) fn watch(&self) -> io::Result<()> {
        Ok(())
    }
}

#[cfg(unix)]
impl State {
    fn leave(&self, signal: i32) {
        use std::io::{IsTerminal, Write};

        let mut errors = io::stderr();
        // A question or a progress line stands there.
        let line = if errors.is_terminal() { "\n" } else { "" };
        let _ = writeln!(errors, "{line}tinyscope: interrupted; {}", self.advice);
        if let Some(lock) = &self.lock {
            let _ = std::fs::remove_file(lock);
        }
        match self.command {
            // As it asks to be ended, then for good.
            Some(Running { id, group: true }) => {
                send(signal, &format!("-{id}"));
                std::thread::sleep(std::time::Duration::from_millis(200));
                send(signal_hook::consts::SIGKILL, &format!("-{id}"));
            }
            // The terminal's Ctrl-C went to it too.
            Some(Running { id, group: false }) if signal != signal_hook::consts::SIGINT => {
                send(signal, &id.to_string());
            }
            _ => {}
        }
    }
}

/// Ends a command that runs too long, with all of its group.
pub(super) fn stop(child: &mut Child) {
    // Best effort: that it took too long is what is reported.
    #[cfg(unix)]
    send(signal_hook::consts::SIGKILL, &format!("-{}", child.id()));
    let _ = child.kill();
    let _ = child.wait();
}

/// By the shell, which every command needs anyway.
#[cfg(unix)]
fn send(signal: i32, to: &str) {
    let name = signal_hook::low_level::signal_name(signal).unwrap_or("SIGTERM");
    let name = name.trim_start_matches("SIG");
    let _ = Command::new("sh")
        .args(["-c", &format!("kill -s {name} -- {to}")])
        .stderr(std::process::Stdio::null())
        .status();
}

/// A group of its own, so that what the command started ends with it.
#[cfg(unix)]
fn own_group(command: &mut Command) {
    use std::os::unix::process::CommandExt;
    command.process_group(0);
}

#[cfg(not(unix))]
fn own_group(_: &mut Command) {}

/// Signals that whoever started the program wanted ignored (nohup, a script's background) stay so, where the system tells.
#[cfg(unix)]
fn heard() -> Vec<i32> {
    use signal_hook::consts::{SIGHUP, SIGINT, SIGTERM};

    let status = std::fs::read_to_string("/proc/self/status").unwrap_or_default();
    let ignored = status.lines().find_map(|line| {
        let mask = line.strip_prefix("SigIgn:")?;
        u64::from_str_radix(mask.trim(), 16).ok()
    });
    match ignored {
        Some(mask) => [SIGINT, SIGTERM, SIGHUP]
            .into_iter()
            .filter(|signal| mask >> (signal - 1) & 1 == 0)
            .collect(),
        None => vec![SIGINT, SIGTERM],
    }
}
