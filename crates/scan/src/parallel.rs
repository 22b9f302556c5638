//! A scan by several threads: each task is some devices, or a slice of time of one, and blocks come out in the order of tasks.
//!
//! ```text
//! tasks    0        1        2        3     ...      taken in order
//!          worker   worker                           each with readers of its own; the list of devices is shared
//! queue    [block]  [block, block]                   at most two blocks a task, and a few tasks ahead of the caller
//!          └─▶ lent, then a worker fills it again
//! ```
//!
//! A worker whose queue is full waits until the caller has come to it. When the scan is dropped, or has failed, workers end at their
//! next block, and are waited for.

use std::collections::VecDeque;
use std::ops::Range;
use std::sync::Arc;
use std::thread::JoinHandle;

use parking_lot::{Condvar, Mutex};
use tsloom_block::Block;
use tsloom_io::ReadAt;
use tsloom_model::{Result, TimeRange};

use crate::by_time::append_rows;
use crate::slices::{Spans, behind};
use crate::window::RowWindow;
use crate::{ScanStats, TableScan};

/// Blocks of one task that wait to be lent.
const QUEUE_MAX: usize = 2;
/// Devices of one task.
const TASK_DEVICES_MAX: usize = 64;
/// Rows below which a device is not worth being sliced.
const TASK_ROWS_MIN: u64 = 16 << 10;
/// Tasks that each worker should get, so that none waits long for the last one.
const TASKS_PER_WORKER: usize = 8;

/// Some devices in a range of times.
#[derive(Clone, Debug)]
pub(crate) struct Task {
    devices: Range<usize>,
    times: TimeRange,
}

/// A scan that others do.
pub(crate) struct Parallel {
    shared: Arc<Shared>,
    workers: Vec<JoinHandle<()>>,
    wanted: RowWindow,
    /// The block that is lent.
    lent: Option<Block>,
    /// The rows of a block that are wanted, when not all are.
    cut: Option<Block>,
}

struct Shared {
    tasks: Vec<Task>,
    state: Mutex<State>,
    /// Something changed for those who wait.
    changed: Condvar,
}

struct State {
    /// The first task that is not over for the caller; the queues are those from there on.
    first: usize,
    queues: VecDeque<Queue>,
    next_task: usize,
    /// Tasks that may be under way at once.
    task_max: usize,
    is_cancelled: bool,
    /// Blocks that were lent and come back.
    spare: Vec<Block>,
    /// What each worker did.
    stats: Vec<ScanStats>,
}

#[derive(Default)]
struct Queue {
    blocks: VecDeque<(Block, Option<usize>)>,
    outcome: Option<Result<()>>,
}

/// Tasks for a scan: devices together when there are many, slices of each when there are few.
pub(crate) fn tasks<R: ReadAt>(scan: &mut TableScan<R>, threads: usize) -> Result<Vec<Task>> {
    let (device_count, times, is_backwards) = (scan.device_count(), scan.window().times(), scan.is_backwards());
    let wanted = threads.saturating_mul(TASKS_PER_WORKER);
    let mut tasks = Vec::new();
    if device_count >= wanted {
        let size = (device_count / wanted).clamp(1, TASK_DEVICES_MAX);
        tasks.extend(
            (0..device_count).step_by(size).map(|start| Task { devices: start..(start + size).min(device_count), times }),
        );
        if is_backwards {
            tasks.reverse();
        }
        return Ok(tasks);
    }
    let spans = (0..device_count).map(|device| scan.spans(device..device + 1)).collect::<Result<Vec<Spans>>>()?;
    let row_count = spans.iter().fold(0_u64, |sum, spans| sum.saturating_add(spans.row_count()));
    let slice_rows = (row_count / wanted as u64).max(TASK_ROWS_MIN);
    let mut add = |device: usize| {
        let mut left = times;
        while let Some(slice) = spans[device].slice(left, slice_rows, is_backwards) {
            tasks.push(Task { devices: device..device + 1, times: slice });
            left = behind(left, slice, is_backwards);
        }
    };
    if is_backwards {
        (0..device_count).rev().for_each(&mut add);
    } else {
        (0..device_count).for_each(&mut add);
    }
    Ok(tasks)
}

impl Parallel {
    /// Starts `threads` workers, each of which gets a fork of the scan.
    pub(crate) fn start<R: ReadAt + 'static>(scan: &TableScan<R>, tasks: Vec<Task>, threads: usize) -> Result<Self> {
        let threads = threads.min(tasks.len());
        let state = State {
            first: 0,
            queues: VecDeque::new(),
            next_task: 0,
            task_max: threads * 2,
            is_cancelled: false,
            spare: Vec::new(),
            stats: vec![ScanStats::default(); threads],
        };
        let shared = Arc::new(Shared { tasks, state: Mutex::new(state), changed: Condvar::new() });
        let mut parallel = Self { shared, workers: Vec::new(), wanted: scan.window(), lent: None, cut: None };
        for index in 0..threads {
            let (shared, scan) = (Arc::clone(&parallel.shared), scan.fork());
            let worker = std::thread::Builder::new().name(format!("tsloom-scan-{index}"));
            parallel.workers.push(worker.spawn(move || work(&shared, index, scan))?);
        }
        Ok(parallel)
    }

    /// Takes the next block. Gives the device whose rows it holds, if it is one; `None` at the end.
    pub(crate) fn advance(&mut self) -> Result<Option<Option<usize>>> {
        loop {
            if let Some(block) = self.lent.take() {
                self.shared.state.lock().spare.push(block);
                self.shared.changed.notify_all();
            }
            if self.wanted.is_done() {
                self.stop();
                return Ok(None);
            }
            let Some((block, device)) = self.receive()? else { return Ok(None) };
            let row_count = block.row_count();
            let (skipped, given) = self.wanted.take_rows(row_count);
            self.lent = Some(block);
            if given == 0 {
                continue;
            }
            if given < row_count {
                let block = self.lent.take().expect("it was just put there");
                let mut cut =
                    self.cut.take().filter(|cut| cut.columns().len() == block.columns().len()).unwrap_or_else(|| block.clone());
                cut.clear();
                append_rows(&block, skipped, given, &mut cut);
                self.lent = Some(cut);
                self.shared.state.lock().spare.push(block);
            }
            return Ok(Some(device));
        }
    }

    /// Waits for the next block of the first task.
    fn receive(&mut self) -> Result<Option<(Block, Option<usize>)>> {
        let mut state = self.shared.state.lock();
        loop {
            if state.first == self.shared.tasks.len() {
                return Ok(None);
            }
            if let Some(queue) = state.queues.front_mut() {
                if let Some(next) = queue.blocks.pop_front() {
                    drop(state);
                    self.shared.changed.notify_all();
                    return Ok(Some(next));
                }
                if let Some(outcome) = queue.outcome.take() {
                    state.queues.pop_front();
                    state.first += 1;
                    if outcome.is_err() {
                        drop(state);
                        self.stop();
                        return outcome.map(|()| None);
                    }
                    self.shared.changed.notify_all();
                    continue;
                }
            }
            self.shared.changed.wait(&mut state);
        }
    }

    pub(crate) fn lent(&self) -> Option<&Block> {
        self.lent.as_ref()
    }

    pub(crate) fn take(&mut self) -> Option<Block> {
        self.lent.take()
    }

    /// What all workers did.
    pub(crate) fn stats(&self) -> impl Iterator<Item = ScanStats> {
        self.shared.state.lock().stats.clone().into_iter()
    }

    /// Ends the workers.
    fn stop(&mut self) {
        self.shared.state.lock().is_cancelled = true;
        self.shared.changed.notify_all();
        for worker in self.workers.drain(..) {
            if let Err(panic) = worker.join()
                && !std::thread::panicking()
            {
                std::panic::resume_unwind(panic);
            }
        }
    }
}

impl Drop for Parallel {
    fn drop(&mut self) {
        self.stop();
    }
}

/// Tells a caller who waits for a worker that panics.
struct Alarm<'a> {
    shared: &'a Shared,
    task: usize,
}

impl Drop for Alarm<'_> {
    fn drop(&mut self) {
        if std::thread::panicking() {
            let broken = tsloom_model::Error::new(tsloom_model::ErrorKind::Unsupported, "a worker of the scan panicked");
            self.shared.end(self.task, Err(broken));
        }
    }
}

fn work<R: ReadAt>(shared: &Shared, index: usize, mut scan: TableScan<R>) {
    while let Some(task) = shared.next_task() {
        let alarm = Alarm { shared, task };
        let Task { devices, times } = shared.tasks[task].clone();
        scan.begin(devices, times, scan.is_backwards());
        let outcome = shared.fill(task, &mut scan);
        shared.state.lock().stats[index] = scan.stats();
        drop(alarm);
        shared.end(task, outcome);
    }
}

impl Shared {
    fn next_task(&self) -> Option<usize> {
        let mut state = self.state.lock();
        loop {
            if state.is_cancelled || state.next_task == self.tasks.len() {
                return None;
            }
            if state.next_task < state.first + state.task_max {
                state.next_task += 1;
                state.queues.push_back(Queue::default());
                return Some(state.next_task - 1);
            }
            self.changed.wait(&mut state);
        }
    }

    fn fill<R: ReadAt>(&self, task: usize, scan: &mut TableScan<R>) -> Result<()> {
        loop {
            let spare = self.state.lock().spare.pop().filter(|block| block.fits(scan.layout()));
            let mut block = spare.unwrap_or_else(|| scan.new_block());
            block.clear();
            if !scan.fill_block(&mut block)? {
                self.state.lock().spare.push(block);
                return Ok(());
            }
            let mut state = self.state.lock();
            loop {
                if state.is_cancelled {
                    return Ok(());
                }
                let at = task - state.first;
                if state.queues[at].blocks.len() < QUEUE_MAX {
                    state.queues[at].blocks.push_back((block, scan.filled_device()));
                    break;
                }
                self.changed.wait(&mut state);
            }
            drop(state);
            self.changed.notify_all();
        }
    }

    fn end(&self, task: usize, outcome: Result<()>) {
        let mut state = self.state.lock();
        let at = task - state.first;
        state.queues[at].outcome = Some(outcome);
        drop(state);
        self.changed.notify_all();
    }
}
