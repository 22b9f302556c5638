//! Appending: many writers, one write and one sync for all that wait.
//!
//! Writers put their frames into a shared buffer under a short lock. Whoever then finds no leader becomes it: takes the
//! buffer, puts the other one in its place, writes and syncs **without the lock**, says how far the log is durable and wakes
//! the rest. So nobody waits behind a lock that is held across a sync, and frames that arrive during one share the next.
//! The two buffers are swapped, never freed.
//!
//! A failed write is cut off again and fails every call whose frame was in it or behind it; the log goes on. A failed sync,
//! or a cut that fails, closes the log: after it nobody knows what is on disk, and only reading it again can tell.

use std::collections::HashSet;
use std::ops::RangeInclusive;
use std::sync::Arc;

use parking_lot::{Condvar, Mutex, MutexGuard};
use tsloom_io::Dir;
use tsloom_model::{Error, ErrorKind, Grouped, Result};

use crate::active::{Active, Broken, CreateStep};
use crate::entry::{NewEntry, SCHEMA};
use crate::frame::{self, ENTRY_BYTES_MAX};
use crate::replay::{Replayed, ReplayedSegment, Tail};
use crate::segment::{FOLDER, HEADER_SIZE, Header, Name};

/// How a log is laid out.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct LogOptions {
    /// A segment that has reached this many bytes is followed by the next one.
    pub segment_bytes_max: u64,
    /// Writers wait for the leader while this many bytes wait to be written.
    pub buffer_bytes_max: usize,
    /// Dropped segments that are kept to be overwritten.
    pub spare_count_max: usize,
    /// Larger entries are refused; at most [`ENTRY_BYTES_MAX`].
    pub entry_bytes_max: usize,
}

impl Default for LogOptions {
    fn default() -> Self {
        Self { segment_bytes_max: 64 << 20, buffer_bytes_max: 4 << 20, spare_count_max: 2, entry_bytes_max: ENTRY_BYTES_MAX }
    }
}

/// How far an entry must have come before [`Log::append`] returns.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Level {
    /// The operating system has it: it survives the end of this process, not that of the machine.
    Written,
    /// It is on disk.
    Durable,
}

/// Plain numbers about a log since it was opened.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct LogStats {
    /// Entries appended.
    pub entries: u64,
    /// Bytes appended, heads included.
    pub bytes: u64,
    /// Writes of a group.
    pub writes: u64,
    /// Syncs of a group.
    pub syncs: u64,
    /// Segments there are, the growing one included.
    pub segments: u64,
}

/// The end of the log. Share it between writers.
pub struct Log {
    dir: Arc<dyn Dir>,
    options: LogOptions,
    state: Mutex<State>,
    changed: Condvar,
    active: Mutex<Active>,
}

struct State {
    /// Frames that wait for a leader.
    pending: Vec<u8>,
    /// The buffer the last leader used.
    idle: Vec<u8>,
    /// Sequence of the next entry.
    next: u64,
    /// Everything up to here was written.
    written: u64,
    /// Everything up to here was synced.
    durable: u64,
    /// Somebody waits for this to be durable.
    sync_wanted: u64,
    /// Somebody is writing; `Some(true)`: and will sync.
    leader: Option<bool>,
    /// The next segment is being made; nobody may append.
    rotating: bool,
    /// Calls that have appended and not returned.
    in_flight: usize,
    /// The last write was cut off; nobody may append until all calls it fails have returned.
    failure: Option<Failure>,
    /// For good.
    closed: Option<String>,
    /// Schemas that stand in this segment.
    schemas: HashSet<u32>,
    /// Number, seed and bytes (written or pending) of the growing segment.
    number: u64,
    seed: u32,
    size: u64,
    /// Segments that are complete, oldest first, each with its last sequence.
    complete: Vec<(u64, u64)>,
    spares: Vec<u64>,
    stats: LogStats,
}

struct Failure {
    from: u64,
    error: std::io::ErrorKind,
    message: String,
}

impl Log {
    /// Starts a new segment behind what [`replay`](crate::replay) found, and puts the folder in order. The last entries, of
    /// which nobody knows whether they are on disk, are written once more, behind the schemas they need; so sequences may
    /// have moved on, see [`last_sequence`](Self::last_sequence). Segments without a header are put aside.
    ///
    /// # Errors
    /// What the operating system says.
    pub fn start(dir: Arc<dyn Dir>, options: LogOptions, replayed: &Replayed) -> Result<Self> {
        let io = |name: String| move |error| Error::from(error).in_file(name);
        dir.create_folder(FOLDER).map_err(io(FOLDER.to_owned()))?;
        dir.sync("").map_err(io(dir.name()))?;
        for aside in &replayed.aside {
            let (from, to) = (Name::Log(aside.number).path(), Name::Aside(aside.number).path());
            dir.rename(&from, &to).map_err(io(from.clone()))?;
        }
        let mut spares = replayed.spares.clone();
        for extra in spares.drain(options.spare_count_max.min(spares.len())..) {
            let path = Name::Spare(extra).path();
            dir.remove(&path).map_err(io(path.clone()))?;
        }

        let spare = spares.pop();
        let first_sequence = replayed.next_sequence - replayed.tail.entries.len() as u64;
        let header = Header { number: replayed.next_number, first_sequence, recycled: spare.is_some() };
        let (frames, next) = frames_of_tail(header, &replayed.tail);
        let active = Active::create(&*dir, header, &frames, spare).map_err(|(error, _)| error)?;
        let complete = |segment: &ReplayedSegment| (segment.number, segment.last_sequence.min(first_sequence - 1));
        let state = State {
            pending: Vec::new(),
            idle: Vec::new(),
            next,
            written: next - 1,
            durable: next - 1,
            sync_wanted: 0,
            leader: None,
            rotating: false,
            in_flight: 0,
            failure: None,
            closed: None,
            schemas: replayed.tail.all_schemas().collect(),
            number: header.number,
            seed: header.seed(),
            size: active.position,
            complete: replayed.segments.iter().map(complete).collect(),
            spares,
            stats: LogStats::default(),
        };
        Ok(Self { dir, options, state: Mutex::new(state), changed: Condvar::new(), active: Mutex::new(active) })
    }

    /// Appends an entry, and before it the schema it needs when this segment has not got it. Returns the sequences they
    /// have; other calls that return before or at the same time have others, without gaps.
    ///
    /// # Errors
    /// [`ErrorKind::LimitExceeded`] for an entry past [`LogOptions::entry_bytes_max`], [`ErrorKind::Closed`]
    /// after a failed sync, and what the operating system says. The entry has left no trace then, unless a sync failed:
    /// in that case reading the log again may find it.
    pub fn append(&self, entry: NewEntry<'_>, level: Level) -> Result<RangeInclusive<u64>> {
        let limit = self.options.entry_bytes_max.min(ENTRY_BYTES_MAX);
        check_size(entry, limit)?;
        let mut state = self.state.lock();
        self.wait_for_room(&mut state)?;
        let first = state.next;
        state.append(entry, limit)?;
        let last = state.next - 1;
        state.in_flight += 1;
        let done = self.reach(&mut state, last, level);
        state.in_flight -= 1;
        if state.in_flight == 0 && state.failure.take().is_some() {
            self.changed.notify_all();
        }
        done.map(|()| first..=last)
    }

    /// Makes everything that was appended before durable.
    ///
    /// # Errors
    /// As [`append`](Self::append).
    pub fn sync(&self) -> Result<()> {
        let mut state = self.state.lock();
        let last = state.next - 1;
        if state.closed.is_none() && last <= state.durable {
            return Ok(());
        }
        state.in_flight += 1;
        let done = self.reach(&mut state, last, Level::Durable);
        state.in_flight -= 1;
        if state.in_flight == 0 && state.failure.take().is_some() {
            self.changed.notify_all();
        }
        done
    }

    /// Syncs the growing segment and starts the next one, unless nothing stands in it yet.
    ///
    /// # Errors
    /// As [`append`](Self::append).
    pub fn rotate(&self) -> Result<()> {
        let mut state = self.state.lock();
        let number = state.number;
        loop {
            state.check_open()?;
            if state.number != number || state.size == HEADER_SIZE as u64 {
                return Ok(());
            }
            if state.leader.is_none() && state.failure.is_none() {
                return self.rotate_as_leader(&mut state);
            }
            self.changed.wait(&mut state);
        }
    }

    /// Gives up the complete segments whose entries are all at or below `flushed`: they are in files now. Some are kept
    /// to be overwritten.
    ///
    /// # Errors
    /// What the operating system says; a failed sync closes the log.
    pub fn drop_through(&self, flushed: u64) -> Result<()> {
        let (dropped, mut spare_count) = {
            let mut state = self.state.lock();
            let count = state.complete.iter().take_while(|(_, last)| *last <= flushed).count();
            (state.complete.drain(..count).map(|(number, _)| number).collect::<Vec<u64>>(), state.spares.len())
        };
        let mut spares = Vec::new();
        for number in dropped {
            let path = Name::Log(number).path();
            let given_up = if spare_count < self.options.spare_count_max {
                spare_count += 1;
                spares.push(number);
                self.dir.rename(&path, &Name::Spare(number).path())
            } else {
                self.dir.remove(&path)
            };
            // What stays behind is skipped by its sequences when it is read, and given up by the next start.
            given_up.map_err(|error| Error::from(error).in_file(path))?;
        }
        if !spares.is_empty() {
            self.dir.sync(FOLDER).map_err(|error| {
                self.state.lock().closed.get_or_insert_with(|| error.to_string());
                Error::from(error).in_file(FOLDER)
            })?;
            self.state.lock().spares.append(&mut spares);
        }
        Ok(())
    }

    /// Sequence of the last entry that was appended or found.
    pub fn last_sequence(&self) -> u64 {
        self.state.lock().next - 1
    }

    /// Number of the segment that grows.
    pub fn segment_number(&self) -> u64 {
        self.state.lock().number
    }

    /// Closes the log: every later call says why.
    pub fn close(&self, why: &str) {
        self.state.lock().closed.get_or_insert_with(|| why.to_owned());
        self.changed.notify_all();
    }

    /// An error when the log is closed.
    ///
    /// # Errors
    /// [`ErrorKind::Closed`].
    pub fn check_open(&self) -> Result<()> {
        self.state.lock().check_open()
    }

    /// What happened so far.
    pub fn stats(&self) -> LogStats {
        let state = self.state.lock();
        LogStats { segments: state.complete.len() as u64 + 1, ..state.stats }
    }

    fn wait_for_room(&self, state: &mut MutexGuard<'_, State>) -> Result<()> {
        loop {
            state.check_open()?;
            let is_busy = state.leader.is_some();
            if state.failure.is_some() || state.rotating || (is_busy && state.pending.len() >= self.options.buffer_bytes_max) {
                self.changed.wait(state);
            } else if state.size < self.options.segment_bytes_max {
                return Ok(());
            } else if is_busy {
                self.changed.wait(state);
            } else {
                self.rotate_as_leader(state)?;
            }
        }
    }

    /// Waits until `last` has come as far as `level`, and leads a group whenever nobody else does.
    fn reach(&self, state: &mut MutexGuard<'_, State>, last: u64, level: Level) -> Result<()> {
        if level == Level::Durable {
            state.sync_wanted = state.sync_wanted.max(last);
        }
        loop {
            let reached = if level == Level::Durable { state.durable } else { state.written };
            if last <= reached {
                return Ok(());
            }
            if let Some(failure) = state.failure.as_ref().filter(|failure| last >= failure.from) {
                return Err(std::io::Error::new(failure.error, failure.message.clone()).into());
            }
            state.check_open()?;
            if state.leader.is_none() {
                self.lead(state, false);
            } else {
                self.changed.wait(state);
            }
        }
    }

    /// Writes what is pending, and syncs when that is wanted.
    fn lead(&self, state: &mut MutexGuard<'_, State>, sync: bool) {
        let idle = std::mem::take(&mut state.idle);
        let mut frames = std::mem::replace(&mut state.pending, idle);
        let last = state.next - 1;
        let sync = sync || state.sync_wanted > state.durable;
        state.leader = Some(sync);
        let (outcome, size) = MutexGuard::unlocked(state, || {
            let mut active = self.active.lock();
            (active.write(&frames, sync), active.position)
        });
        state.leader = None;
        state.stats.writes += u64::from(!frames.is_empty());
        state.stats.syncs += u64::from(sync);
        match outcome {
            Ok(()) => {
                state.written = last;
                if sync {
                    state.durable = last;
                }
            }
            Err(Broken::Undone(error)) => state.undo(&error, size),
            Err(Broken::Unknown(error)) => {
                state.closed.get_or_insert_with(|| error.to_string());
            }
        }
        frames.clear();
        frames.shrink_to(self.options.buffer_bytes_max);
        state.idle = frames;
        self.changed.notify_all();
    }

    /// Called when nobody leads and no failure is pending.
    fn rotate_as_leader(&self, state: &mut MutexGuard<'_, State>) -> Result<()> {
        state.rotating = true;
        self.lead(state, true);
        let done = match (&state.closed, &state.failure) {
            (None, None) => self.next_segment(state),
            (None, Some(failure)) => Err(std::io::Error::new(failure.error, failure.message.clone()).into()),
            (Some(_), _) => state.check_open(),
        };
        state.rotating = false;
        if state.in_flight == 0 {
            state.failure = None;
        }
        self.changed.notify_all();
        done
    }

    fn next_segment(&self, state: &mut MutexGuard<'_, State>) -> Result<()> {
        let (number, next, spare) = (state.number + 1, state.next, state.spares.pop());
        let header = Header { number, first_sequence: next, recycled: spare.is_some() };
        state.leader = Some(true);
        let created = MutexGuard::unlocked(state, || Active::create(&*self.dir, header, &[], spare));
        state.leader = None;
        let active = created.map_err(|(error, step)| {
            if step == CreateStep::Sync {
                state.closed.get_or_insert_with(|| error.to_string());
            }
            error
        })?;
        let complete = (state.number, next - 1);
        state.complete.push(complete);
        state.number = number;
        state.seed = active.header.seed();
        state.size = active.position;
        state.schemas.clear();
        *self.active.lock() = active;
        Ok(())
    }
}

fn check_size(entry: NewEntry<'_>, limit: usize) -> Result<()> {
    let size = entry.size_max();
    if size <= limit {
        return Ok(());
    }
    let (size, limit) = (Grouped(size as u64), Grouped(limit as u64));
    Err(Error::new(ErrorKind::LimitExceeded, format!("a log entry of {size} bytes is past the limit entry_bytes_max = {limit}")))
}

/// The first frames of a segment that goes on behind a tail: its schemas, then its entries. And the sequence that follows.
fn frames_of_tail(header: Header, tail: &Tail) -> (Vec<u8>, u64) {
    let mut frames = Vec::new();
    let mut next = header.first_sequence;
    if !tail.entries.is_empty() {
        let schemas = tail.schemas.values().map(|payload| (SCHEMA, payload));
        for (kind, payload) in schemas.chain(tail.entries.iter().map(|(kind, payload)| (*kind, payload))) {
            let is_first = next == header.first_sequence;
            frame::append(&mut frames, header.seed(), kind, is_first, next, |out| out.extend_from_slice(payload));
            next += 1;
        }
    }
    (frames, next)
}

impl State {
    fn check_open(&self) -> Result<()> {
        match &self.closed {
            None => Ok(()),
            Some(why) => Err(Error::new(
                ErrorKind::Closed,
                format!("the log is closed since a write did not reach the disk ({why}); reopen the store to see what is there"),
            )),
        }
    }

    /// Puts the frames of an entry into the buffer; its own size was checked.
    fn append(&mut self, entry: NewEntry<'_>, limit: usize) -> Result<()> {
        let (start, first) = (self.pending.len(), self.next);
        if let Some((id, schema)) = entry.needed_schema()
            && !self.schemas.contains(&id)
        {
            let schema = NewEntry::Schema { id, schema };
            check_size(schema, limit)?;
            self.append_frame(schema);
        }
        self.append_frame(entry);
        self.schemas.extend(entry.schema_id());
        let bytes = (self.pending.len() - start) as u64;
        self.size += bytes;
        self.stats.bytes += bytes;
        self.stats.entries += self.next - first;
        Ok(())
    }

    fn append_frame(&mut self, entry: NewEntry<'_>) {
        // When a leader is at work that will sync, this frame is written only after that sync has succeeded.
        let all_before_durable = match self.leader {
            Some(syncs) => syncs,
            None => self.durable + 1 == self.next,
        };
        let after_sync = self.pending.is_empty() && all_before_durable;
        frame::append(&mut self.pending, self.seed, entry.kind(), after_sync, self.next, |out| entry.write_to(out));
        self.next += 1;
    }

    /// A write failed and was cut off: nothing behind `written` is left, on disk or here.
    fn undo(&mut self, error: &std::io::Error, size: u64) {
        let from = self.written + 1;
        self.failure = Some(Failure { from, error: error.kind(), message: error.to_string() });
        self.next = from;
        self.sync_wanted = self.sync_wanted.min(self.written);
        self.pending.clear();
        self.schemas.clear();
        self.size = size;
    }
}
