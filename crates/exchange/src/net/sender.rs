//! The end of a remote mailbox that blocks go in at: [`RemoteSender`].

use std::fmt;
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::{Duration, Instant};

use parking_lot::{Condvar, Mutex, MutexGuard};
use tsloom_block::Block;
use tsloom_model::{Error, ErrorKind, Grouped, Result};

use super::connection::{Shared, violation};
use crate::block::BlockEncoder;
use crate::control::{Control, Credit, Failure, Stats};
use crate::frame::{FrameHead, FrameKind};
use crate::mailbox::Sent;
use crate::state::{End, SenderEvent, SenderState};

/// What sender, cancel handles and the connection's reader share.
pub(super) struct Side {
    id: String,
    number: AtomicU64,
    deadline: Option<Instant>,
    inner: Mutex<Inner>,
    /// The sender waits here for acceptance and credit.
    room: Condvar,
}

struct Inner {
    state: SenderState,
    /// Room that is left, and all that the reader ever has; none before it has accepted.
    left: Credit,
    promised: Option<Credit>,
    why: Option<Failure>,
}

impl Side {
    pub(super) fn new(id: &str, deadline: Option<Duration>, promised: Option<Credit>) -> Self {
        let inner = Inner { state: SenderState::Open, left: promised.unwrap_or_default(), promised, why: None };
        let deadline = deadline.and_then(|left| Instant::now().checked_add(left));
        Self { id: id.to_owned(), number: AtomicU64::new(0), deadline, inner: Mutex::new(inner), room: Condvar::new() }
    }

    /// The same side, which now knows its number.
    pub(super) fn numbered(self: &Arc<Self>, number: u64) -> Arc<Self> {
        self.number.store(number, Ordering::Relaxed);
        Arc::clone(self)
    }

    fn number(&self) -> u64 {
        self.number.load(Ordering::Relaxed)
    }

    fn wants_data(&self) -> bool {
        self.inner.lock().state == SenderState::Open
    }

    /// Lets the state answer an event and sends the last frame if that follows.
    fn event(&self, shared: &Shared, inner: &mut Inner, event: SenderEvent, last: impl FnOnce(End) -> Control) {
        let (next, actions) = inner.state.step(event);
        inner.state = next;
        if let Some(end) = actions.send_end {
            // A connection that is gone has told the reader already.
            let _ = shared.send_control(self.number(), last(end));
        }
        if next.end().is_some() {
            shared.forget(self.number());
        }
        if actions.wake {
            self.room.notify_all();
        }
    }

    pub(super) fn connection_lost(&self) {
        let mut inner = self.inner.lock();
        inner.state = inner.state.step(SenderEvent::ConnectionLost).0;
        self.room.notify_all();
    }

    /// A control frame of the other side.
    pub(super) fn control(&self, shared: &Shared, control: Control) -> Result<()> {
        let mut inner = self.inner.lock();
        match control {
            Control::Accept { credit, .. } if inner.promised.is_none() => {
                (inner.left, inner.promised) = (credit, Some(credit));
                self.room.notify_all();
            }
            Control::Credit(credit) => {
                inner.left.bytes = inner.left.bytes.saturating_add(credit.bytes);
                inner.left.blocks = inner.left.blocks.saturating_add(credit.blocks);
                self.room.notify_all();
            }
            Control::EarlyTerminate => self.event(shared, &mut inner, SenderEvent::PeerEarlyTerminates, |_| Control::ResetBlock),
            Control::Cancel(text) => {
                let failure = Failure { end: End::Cancelled, origin: shared.peer.clone(), text, stats: Stats::new() };
                self.cancelled(shared, &mut inner, failure);
            }
            Control::Error(failure) => self.cancelled(shared, &mut inner, failure),
            other => return Err(violation(self.number(), &format!("{:?} for a mailbox that sends", other.kind()))),
        }
        Ok(())
    }

    fn cancelled(&self, shared: &Shared, inner: &mut Inner, failure: Failure) {
        inner.why.get_or_insert(failure);
        self.event(shared, inner, SenderEvent::PeerCancels, |_| Control::ResetBlock);
    }

    fn failure(&self, end: End, text: &str) -> Failure {
        Failure { end, origin: String::new(), text: text.to_owned(), stats: Stats::new() }
    }

    /// Waits for room for a block of `bytes` and takes it; false when no more blocks are wanted.
    fn reserve(&self, shared: &Shared, bytes: u64) -> Result<bool> {
        let mut inner = self.inner.lock();
        loop {
            match inner.state {
                SenderState::Closed(_) => return Err(self.closed_error(shared, &mut inner)),
                SenderState::EarlyTerminated => return Ok(false),
                SenderState::New | SenderState::Open => {}
            }
            if let Some(promised) = inner.promised {
                if bytes > promised.bytes || promised.blocks == 0 {
                    let message = format!(
                        "mailbox {}: a block of {} bytes is past the reader's credit of {} bytes and {} blocks",
                        self.id,
                        Grouped(bytes),
                        Grouped(promised.bytes),
                        promised.blocks
                    );
                    return Err(Error::new(ErrorKind::LimitExceeded, message).in_file(&shared.peer));
                }
                if inner.left.blocks > 0 && inner.left.bytes >= bytes {
                    inner.left.blocks -= 1;
                    inner.left.bytes -= bytes;
                    return Ok(true);
                }
            }
            self.wait(shared, &mut inner);
        }
    }

    fn wait(&self, shared: &Shared, inner: &mut MutexGuard<'_, Inner>) {
        let Some(deadline) = self.deadline else {
            return self.room.wait(inner);
        };
        if self.room.wait_until(inner, deadline).timed_out() {
            let failure = self.failure(End::DeadlineExceeded, "the deadline passed");
            inner.why.get_or_insert_with(|| failure.clone());
            self.event(shared, inner, SenderEvent::Deadline, |_| Control::Error(failure));
        }
    }

    fn closed_error(&self, shared: &Shared, inner: &mut Inner) -> Error {
        let end = inner.state.end();
        if end == Some(End::ConnectionLost) {
            return shared.gone_error();
        }
        let text = inner.why.as_ref().map_or("", |failure| failure.text.as_str());
        let end = end.map_or_else(String::new, |end| format!("{end:?}"));
        Error::new(ErrorKind::Closed, format!("mailbox {} has ended: {end} {text}", self.id)).in_file(&shared.peer)
    }
}

/// Sends blocks, or payloads of another codec, to the other side of a connection. Dropped without an end, it is an error over there.
pub struct RemoteSender {
    shared: Arc<Shared>,
    side: Arc<Side>,
    encoder: BlockEncoder,
    block_seq: u32,
}

impl RemoteSender {
    pub(super) fn new(shared: Arc<Shared>, side: Arc<Side>) -> Self {
        let encoder = BlockEncoder::new(shared.options.chunk_bytes.min(shared.options.frame_bytes_max));
        Self { shared, side, encoder, block_seq: 0 }
    }

    /// Sends a block from where it lies; waits for credit. Nothing of it is copied in this process, and nothing is kept.
    ///
    /// # Errors
    /// `Closed` when the mailbox has ended (cancelled by the reader, deadline, connection gone), `LimitExceeded` for a block that is larger
    /// than all of the reader's credit.
    pub fn send_block(&mut self, block: &Block) -> Result<Sent> {
        let encoded = self.encoder.encode(block)?;
        if !self.side.reserve(&self.shared, encoded.encoded_len() as u64)? {
            return Ok(Sent::NotWanted);
        }
        let chunk_count = encoded.chunk_count();
        for index in 0..chunk_count {
            let head = self.side.chunk_head(self.block_seq, index, chunk_count);
            if !self.shared.send_chunk(head, encoded.chunk(index), || self.side.wants_data())? {
                return self.side.stopped(&self.shared, &mut self.block_seq, index);
            }
        }
        self.block_seq = self.block_seq.wrapping_add(1);
        Ok(Sent::Queued)
    }

    /// Sends a payload of any codec, cut into chunks; otherwise as [`send_block`](Self::send_block).
    ///
    /// # Errors
    /// As [`send_block`](Self::send_block); `InvalidArgument` for a payload of more than 65,534 chunks.
    pub fn send_bytes(&mut self, payload: &[u8]) -> Result<Sent> {
        let chunk_bytes = self.shared.options.chunk_bytes.min(self.shared.options.frame_bytes_max).max(1);
        let chunk_count = u16::try_from(payload.len().div_ceil(chunk_bytes).max(1)).ok().filter(|&count| count < u16::MAX);
        let chunk_count = chunk_count.ok_or_else(|| {
            Error::new(ErrorKind::InvalidArgument, format!("a payload of more than 65,534 chunks of {chunk_bytes} bytes"))
        })?;
        if !self.side.reserve(&self.shared, payload.len() as u64)? {
            return Ok(Sent::NotWanted);
        }
        for index in 0..chunk_count {
            let start = usize::from(index) * chunk_bytes;
            let chunk = &payload[start..payload.len().min(start + chunk_bytes)];
            let head = self.side.chunk_head(self.block_seq, index, chunk_count);
            if !self.shared.send_chunk(head, [chunk].into_iter(), || self.side.wants_data())? {
                return self.side.stopped(&self.shared, &mut self.block_seq, index);
            }
        }
        self.block_seq = self.block_seq.wrapping_add(1);
        Ok(Sent::Queued)
    }

    /// Ends it with success; the reader gets what was sent, then the statistics.
    ///
    /// # Errors
    /// `Closed` when the connection is gone or the reader gave up: then it cannot be known whether all blocks came.
    pub fn finish(self, stats: Stats) -> Result<()> {
        let mut inner = self.side.inner.lock();
        if inner.state.end().is_some() {
            return Err(self.side.closed_error(&self.shared, &mut inner));
        }
        self.side.event(&self.shared, &mut inner, SenderEvent::Finish, |_| Control::Eos(stats));
        Ok(())
    }

    /// Ends it with an error; the reader gets that and no block more.
    pub fn fail(self, text: &str) {
        let failure = self.side.failure(End::Failed, text);
        self.side.event(&self.shared, &mut self.side.inner.lock(), SenderEvent::Fail, |_| Control::Error(failure));
    }

    /// A handle with which another thread can cancel it, also while this one waits or is in the middle of a block.
    pub fn cancel_handle(&self) -> CancelHandle {
        CancelHandle { shared: Arc::clone(&self.shared), side: Arc::clone(&self.side) }
    }
}

impl Side {
    fn chunk_head(&self, block_seq: u32, chunk_index: u16, chunk_count: u16) -> FrameHead {
        FrameHead { kind: FrameKind::Data, mailbox: self.number(), block_seq, chunk_index, chunk_count }
    }

    /// The reader changed its mind before chunk `index`: the chunks before it are taken back, unless an end does so.
    fn stopped(&self, shared: &Shared, block_seq: &mut u32, index: u16) -> Result<Sent> {
        let mut inner = self.inner.lock();
        if inner.state.end().is_some() {
            return Err(self.closed_error(shared, &mut inner));
        }
        if index > 0 {
            *block_seq = block_seq.wrapping_add(1);
            shared.send_control(self.number(), Control::ResetBlock)?;
        }
        Ok(Sent::NotWanted)
    }
}

impl Drop for RemoteSender {
    fn drop(&mut self) {
        let failure = self.side.failure(End::ClosedWithoutEos, "the sender was dropped before it finished");
        self.side.event(&self.shared, &mut self.side.inner.lock(), SenderEvent::Dropped, |_| Control::Error(failure));
    }
}

/// Cancels a sender from another thread.
#[derive(Clone)]
pub struct CancelHandle {
    shared: Arc<Shared>,
    side: Arc<Side>,
}

impl CancelHandle {
    /// Ends the mailbox; the reader is told at once, however much data waits. Later calls change nothing.
    pub fn cancel(&self, reason: &str) {
        let mut inner = self.side.inner.lock();
        let failure = self.side.failure(End::Cancelled, reason);
        if inner.state.end().is_none() {
            inner.why.get_or_insert_with(|| failure.clone());
        }
        self.side.event(&self.shared, &mut inner, SenderEvent::Cancel, |_| Control::Error(failure));
    }
}

impl fmt::Debug for RemoteSender {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "RemoteSender({} to {}, {:?})", self.side.id, self.shared.peer, self.side.inner.lock().state)
    }
}

impl fmt::Debug for CancelHandle {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "CancelHandle({} to {})", self.side.id, self.shared.peer)
    }
}
