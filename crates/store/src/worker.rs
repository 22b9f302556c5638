//! The two threads of a store: one flushes what is frozen and syncs the log now and then, the other merges files.

use std::sync::Arc;
use std::thread::JoinHandle;
use std::time::{Duration, Instant};

use parking_lot::{Condvar, Mutex};
use tsloom_model::{Error, Result};

use crate::store::Shared;

/// How the others wake it.
#[derive(Default)]
pub(crate) struct Signal {
    wanted: Mutex<Wanted>,
    changed: Condvar,
}

#[derive(Default)]
struct Wanted {
    flush: bool,
    compact: bool,
    stop: bool,
}

enum Job {
    Flush,
    Sync,
    Stop,
}

impl Signal {
    pub(crate) fn ask_for_flush(&self) {
        self.wanted.lock().flush = true;
        self.changed.notify_all();
    }

    pub(crate) fn ask_to_compact(&self) {
        self.wanted.lock().compact = true;
        self.changed.notify_all();
    }

    fn is_stopping(&self) -> bool {
        self.wanted.lock().stop
    }

    /// Waits until files may be worth merging. False when it is time to stop.
    fn next_compaction(&self) -> bool {
        let mut wanted = self.wanted.lock();
        while !wanted.stop && !std::mem::take(&mut wanted.compact) {
            self.changed.wait(&mut wanted);
        }
        !wanted.stop
    }

    fn ask_to_stop(&self) {
        self.wanted.lock().stop = true;
        self.changed.notify_all();
    }

    /// Waits for something to do; `sync_at` is when the log is due.
    fn next_job(&self, sync_at: Option<Instant>) -> Job {
        let mut wanted = self.wanted.lock();
        loop {
            if wanted.stop {
                return Job::Stop;
            }
            if std::mem::take(&mut wanted.flush) {
                return Job::Flush;
            }
            match sync_at {
                None => self.changed.wait(&mut wanted),
                Some(at) => {
                    if self.changed.wait_until(&mut wanted, at).timed_out() {
                        return Job::Sync;
                    }
                }
            }
        }
    }
}

/// The threads; dropping this ends them. What is frozen then is in the log, and a merge that is under way leaves nothing.
pub(crate) struct Worker {
    shared: Arc<Shared>,
    threads: Vec<JoinHandle<()>>,
}

impl Worker {
    pub(crate) fn start(shared: &Arc<Shared>) -> Result<Self> {
        let mut worker = Self { shared: Arc::clone(shared), threads: Vec::new() };
        worker.spawn("tsloom-flush", work)?;
        if shared.options.compaction.files > 0 {
            worker.spawn("tsloom-compact", compact)?;
        }
        Ok(worker)
    }

    fn spawn(&mut self, name: &str, work: impl FnOnce(&Shared) + Send + 'static) -> Result<()> {
        let own = Arc::clone(&self.shared);
        let thread = std::thread::Builder::new().name(name.to_owned()).spawn(move || work(&own)).map_err(Error::from)?;
        self.threads.push(thread);
        Ok(())
    }
}

impl Drop for Worker {
    fn drop(&mut self) {
        self.shared.signal.ask_to_stop();
        for thread in self.threads.drain(..) {
            // It has said what went wrong already, if it panicked.
            drop(thread.join());
        }
    }
}

fn compact(shared: &Shared) {
    shared.signal.ask_to_compact(); // what the last process left
    while shared.signal.next_compaction() {
        let failed = shared.compact_in_background(&|| !shared.signal.is_stopping()).err();
        shared.flushes.lock().compaction_error = failed.map(|error| error.to_string());
    }
}

fn work(shared: &Shared) {
    let interval: Option<Duration> = shared.sync_interval();
    let mut sync_at = interval.map(|interval| Instant::now() + interval);
    loop {
        match shared.signal.next_job(sync_at) {
            Job::Flush => {
                let failed = shared.flush_frozen().err();
                shared.flushes.lock().error = failed.map(|error| error.to_string());
            }
            Job::Sync => {
                sync(shared);
                sync_at = interval.map(|interval| Instant::now() + interval);
            }
            Job::Stop => {
                if interval.is_some() {
                    sync(shared);
                }
                return;
            }
        }
    }
}

/// A failure closes the log, and every later write says so.
fn sync(shared: &Shared) {
    if let Some(log) = &shared.log {
        drop(log.sync());
    }
}
