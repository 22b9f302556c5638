//! The one thread of a store: flushes what is frozen, and syncs the log now and then.

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

/// The thread; dropping this ends it. What is frozen then is in the log.
pub(crate) struct Worker {
    shared: Arc<Shared>,
    thread: Option<JoinHandle<()>>,
}

impl Worker {
    pub(crate) fn start(shared: &Arc<Shared>) -> Result<Self> {
        let own = Arc::clone(shared);
        let thread =
            std::thread::Builder::new().name("tsloom-store".to_owned()).spawn(move || work(&own)).map_err(Error::from)?;
        Ok(Self { shared: Arc::clone(shared), thread: Some(thread) })
    }
}

impl Drop for Worker {
    fn drop(&mut self) {
        self.shared.signal.ask_to_stop();
        if let Some(thread) = self.thread.take() {
            // It has said what went wrong already, if it panicked.
            drop(thread.join());
        }
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
