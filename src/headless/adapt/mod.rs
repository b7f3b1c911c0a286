//! `tinyscope adapt`: a new model asked one item at a time.

mod answers;
mod ask;
mod lock;
mod prepare;
mod report;
mod session;
mod underway;

use std::io::{self, BufReader, IsTerminal, Write};

use tinyscope::Error;
use tinyscope::data::read;
use tinyscope::experiment::Stop;
use tinyscope::export::beyond_training;

use self::answers::Answers;
use self::ask::Asker;
use self::prepare::{Prepared, prepare};
use self::session::{Ended, Found, Left, Session};
use self::underway::Underway;
use super::{Failure, heading, json, threads, warn};
use crate::cli::Adapt;

pub(crate) fn run(args: &Adapt, out: &mut dyn Write) -> Result<(), Failure> {
    threads(args.model.threads)?;
    keep_apart(args)?;
    let underway = Underway::default();
    // Before the fit, which may take minutes, and the first answer, which may be costly.
    let mut answers = Answers::open(args.answers.as_deref(), &underway)?;
    // Best effort: without it a signal just ends the program.
    let _ = underway.watch();
    let prepared = prepare(args)?;
    let mut notes = prepared.warnings(&answers);
    warn(&notes);
    let mut asker = match &args.ask {
        Some(shell) => Asker::Command {
            shell,
            timeout: args.timeout,
            underway,
        },
        None => Asker::Lines {
            lines: Box::new(BufReader::new(io::stdin())),
            typed: io::stdin().is_terminal(),
        },
    };
    let mut errors = io::stderr();
    // With --json, standard output is for the result alone.
    let talk: &mut dyn Write = if args.json { &mut errors } else { &mut *out };
    heading(talk, &prepared.benchmark, prepared.simulated)?;
    let stop = Stop {
        n: args.n,
        half_width: args.half_width,
    };
    let found = ask_all(
        &prepared,
        stop,
        (&mut answers, &mut asker),
        talk,
        &mut notes,
    )?;
    if let Some(Found {
        ended: Ended::Quit, ..
    }) = found.last()
    {
        notes.push(format!("stopped early: {}", answers.how_to_go_on()));
        warn(&notes[notes.len() - 1..]);
    }
    // Found are the first of the scenarios, in their order.
    let beyond = prepared.scenarios.iter().zip(&found).filter_map(|(s, f)| {
        let said = beyond_training(&f.name, "the estimate", f.interval.estimate, s.training?);
        said.filter(|_| !f.asked.is_empty())
    });
    let beyond: Vec<String> = beyond.collect();
    warn(&beyond);
    notes.extend(beyond);
    if args.json {
        json(out, &report::result(&prepared, &found, &notes))?;
    } else {
        writeln!(out)?;
        report::table(&prepared, &found, out)?;
    }
    Ok(())
}

/// One scenario after the other, and back where an answer is taken back.
fn ask_all(
    prepared: &Prepared,
    stop: Stop,
    (answers, asker): (&mut Answers, &mut Asker<'_>),
    talk: &mut dyn Write,
    notes: &mut Vec<String>,
) -> Result<Vec<Found>, Failure> {
    let each = prepared.scenarios.iter();
    let mut sessions: Vec<Session<'_>> = each
        .map(|ready| Session::new(ready, &prepared.texts, stop))
        .collect();
    let mut found: Vec<Found> = Vec::new();
    let mut back = false;
    while found.len() < sessions.len() {
        let at = found.len();
        let before = sessions[..at].iter().rposition(|s| s.begun(answers));
        sessions[at].earlier = before.is_some();
        match sessions[at].run(answers, asker, talk, notes, back)? {
            Left::Done(one) => {
                let quit = one.ended == Ended::Quit;
                found.push(one);
                if quit {
                    break;
                }
            }
            Left::Back => found.truncate(before.unwrap_or(0)),
        }
        back = found.len() < at;
    }
    Ok(found)
}

/// The answers are not written over what is read.
fn keep_apart(args: &Adapt) -> tinyscope::Result<()> {
    let target = args.answers.as_ref().and_then(|p| p.canonicalize().ok());
    let sources = std::iter::once(&args.data).chain(&args.more.more);
    let mut read = sources.flat_map(|source| read::files(source));
    match target {
        Some(target) if read.any(|f| f.canonicalize().is_ok_and(|f| f == target)) => {
            Err(Error::setting(
                format!("--answers {} is what is read", target.display()),
                "name another file",
            ))
        }
        _ => Ok(()),
    }
}
