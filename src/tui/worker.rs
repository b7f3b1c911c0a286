//! One thread that does the heavy work: a job at a time, each with a generation number and a cancel
//! token; a panic of a job becomes a report.

use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::Mutex;
use std::sync::mpsc::{Receiver, Sender, channel};
use std::time::{Duration, Instant};

use tinyscope::Error;
use tinyscope::progress::{CancelToken, Observer, Progress};

use super::event::{Event, Outcome, Report};
use super::job::Job;

/// What does the jobs; lives in the worker's thread, or in the caller's when there is no screen.
pub(crate) trait Work {
    /// Does one job, or fails with a message for the user.
    fn run(&mut self, job: &Job, observer: &dyn Observer) -> Result<Outcome, Error>;
}

/// Reports of progress are at least this far apart: ten a second are enough for an eye.
const REPORT_EVERY: Duration = Duration::from_millis(100);

struct Order {
    job: Job,
    generation: u64,
    cancel: CancelToken,
}

/// The handle that the event loop holds.
#[derive(Debug)]
pub(crate) struct Worker {
    orders: Sender<Order>,
    cancel: Option<CancelToken>,
}

impl Worker {
    /// Starts the thread; reports go to `events`.
    pub(crate) fn start<W: Work + Send + 'static>(
        mut work: W,
        events: Sender<Event>,
    ) -> std::io::Result<Worker> {
        let (orders, inbox): (Sender<Order>, Receiver<Order>) = channel();
        std::thread::Builder::new()
            .name(THREAD.into())
            .spawn(move || {
                while let Ok(order) = inbox.recv() {
                    let report = perform(&mut work, &order, &events);
                    let generation = order.generation;
                    if events.send(Event::Job { generation, report }).is_err() {
                        return;
                    }
                }
            })?;
        Ok(Worker {
            orders,
            cancel: None,
        })
    }

    /// Cancels the running job and starts another.
    pub(crate) fn run(&mut self, job: Job, generation: u64) {
        self.cancel();
        let cancel = CancelToken::default();
        self.cancel = Some(cancel.clone());
        // The thread ends only with the program; then nobody waits for the answer.
        let _ = self.orders.send(Order {
            job,
            generation,
            cancel,
        });
    }

    /// Asks the running job to stop.
    pub(crate) fn cancel(&mut self) {
        if let Some(cancel) = self.cancel.take() {
            cancel.cancel();
        }
    }
}

/// The worker's name; the panic hook knows by it that the screen lives on.
pub(crate) const THREAD: &str = "worker";

fn perform<W: Work>(work: &mut W, order: &Order, events: &Sender<Event>) -> Report {
    if order.cancel.is_cancelled() {
        return Report::Cancelled;
    }
    let watch = Watch {
        events: Mutex::new((events.clone(), None)),
        generation: order.generation,
        cancel: order.cancel.clone(),
        start: Instant::now(),
    };
    // The work's caches hold only finished results, so they are whole after a panic too.
    match catch_unwind(AssertUnwindSafe(|| work.run(&order.job, &watch))) {
        Ok(Ok(outcome)) => Report::Done(outcome),
        Ok(Err(Error::Cancelled)) => Report::Cancelled,
        Ok(Err(error)) => Report::Failed(order.job.clone(), error.to_string()),
        Err(panic) => {
            let text = panic
                .downcast_ref::<&str>()
                .map(ToString::to_string)
                .or_else(|| panic.downcast_ref::<String>().cloned())
                .unwrap_or_else(|| "no reason given".into());
            Report::Failed(order.job.clone(), format!("this job broke off: {text}"))
        }
    }
}

struct Watch {
    events: Mutex<(Sender<Event>, Option<Instant>)>,
    generation: u64,
    cancel: CancelToken,
    start: Instant,
}

impl Observer for Watch {
    fn progress(&self, progress: &Progress) {
        let Ok(mut guard) = self.events.lock() else {
            return;
        };
        let now = Instant::now();
        if guard
            .1
            .is_some_and(|last| now.duration_since(last) < REPORT_EVERY)
        {
            return;
        }
        guard.1 = Some(now);
        let report = Report::Progress {
            what: progress.what.clone(),
            done: progress.done,
            elapsed: now.duration_since(self.start),
        };
        let _ = guard.0.send(Event::Job {
            generation: self.generation,
            report,
        });
    }

    fn cancelled(&self) -> bool {
        self.cancel.is_cancelled()
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::tui::job::FitKey;
    use crate::tui::state::Source;

    fn fit(scenario: usize) -> Job {
        Job::Fit(FitKey {
            scenario,
            theta: tinyscope::experiment::Scope::Scenario,
            seed: 0,
        })
    }

    struct Odd;

    impl Work for Odd {
        fn run(&mut self, job: &Job, observer: &dyn Observer) -> Result<Outcome, Error> {
            match job {
                Job::Fit(key) if key.scenario == 0 => panic!("odd number"),
                Job::Fit(key) if key.scenario == 1 => loop {
                    observer.check()?;
                    std::thread::sleep(Duration::from_millis(1));
                },
                _ => Err(Error::setting("no such thing", "try another")),
            }
        }
    }

    fn next(events: &Receiver<Event>) -> (u64, Report) {
        match events.recv_timeout(Duration::from_secs(20)) {
            Ok(Event::Job { generation, report }) => (generation, report),
            other => panic!("{other:?}"),
        }
    }

    #[test]
    fn a_panic_is_reported_and_the_worker_lives_on() {
        let (sender, events) = channel();
        let mut worker = Worker::start(Odd, sender).unwrap();
        worker.run(fit(0), 1);
        let (generation, report) = next(&events);
        assert_eq!(generation, 1);
        assert!(matches!(report, Report::Failed(_, text) if text.contains("odd number")));
        worker.run(Job::Load(Source::demo("x")), 2);
        assert!(matches!(next(&events).1, Report::Failed(_, text) if text.contains("try another")));
    }

    #[test]
    fn a_newer_job_cancels_the_older_one() {
        let (sender, events) = channel();
        let mut worker = Worker::start(Odd, sender).unwrap();
        worker.run(fit(1), 1);
        worker.run(fit(2), 2);
        assert!(matches!(next(&events), (1, Report::Cancelled)));
        assert!(matches!(next(&events), (2, Report::Failed(..))));
    }
}
