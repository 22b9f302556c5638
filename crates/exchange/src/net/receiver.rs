//! The end of a remote mailbox that blocks come out of: [`RemoteReceiver`].

use std::collections::VecDeque;
use std::fmt;
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::{Duration, Instant};

use parking_lot::{Condvar, Mutex, MutexGuard};
use tsloom_block::BlockColumn;
use tsloom_model::{Error, ErrorKind, Grouped, Result};

use super::connection::{Shared, violation};
use super::options::NetOptions;
use crate::assembly::{Assembly, Chunks};
use crate::block::{BlockDecoder, BlockView};
use crate::control::{Control, Credit, Failure, Stats};
use crate::frame::Frame;
use crate::mailbox::{Last, Received};
use crate::pool::Buffer;
use crate::state::{End, ReceiverEvent, ReceiverState};

/// What the reader and the connection's reading thread share.
pub(super) struct Side {
    id: String,
    number: AtomicU64,
    credit: Credit,
    deadline: Option<Instant>,
    inner: Mutex<Inner>,
    /// The reader waits here for a block or the end.
    news: Condvar,
}

struct Inner {
    state: ReceiverState,
    assembly: Assembly,
    queue: VecDeque<Vec<Buffer>>,
    /// Emptied lists for the next blocks.
    spare: Vec<Vec<Buffer>>,
    /// Of what came and was not given back: whole blocks, and the chunks of the unfinished one.
    used: Credit,
    partial_bytes: u64,
    /// What was taken and not yet told to the sender.
    returned: Credit,
    schema: Option<Vec<BlockColumn>>,
    last: Option<Last>,
}

impl Side {
    pub(super) fn new(id: &str, credit: Credit, deadline: Option<Duration>, options: &NetOptions) -> Self {
        let inner = Inner {
            state: ReceiverState::Open,
            assembly: Assembly::new(options.block_bytes_max),
            queue: VecDeque::new(),
            spare: Vec::new(),
            used: Credit::default(),
            partial_bytes: 0,
            returned: Credit::default(),
            schema: None,
            last: None,
        };
        let deadline = deadline.and_then(|left| Instant::now().checked_add(left));
        Self { id: id.to_owned(), number: AtomicU64::new(0), credit, deadline, inner: Mutex::new(inner), news: Condvar::new() }
    }

    /// The same side, which now knows its number.
    pub(super) fn numbered(self: &Arc<Self>, number: u64) -> Arc<Self> {
        self.number.store(number, Ordering::Relaxed);
        Arc::clone(self)
    }

    pub(super) fn credit(&self) -> Credit {
        self.credit
    }

    fn number(&self) -> u64 {
        self.number.load(Ordering::Relaxed)
    }

    /// A chunk came.
    pub(super) fn chunk(&self, shared: &Shared, frame: Frame) -> Result<()> {
        let mut inner = self.inner.lock();
        if inner.state != ReceiverState::Open {
            return Ok(()); // on its way when this side changed its mind
        }
        let bytes = frame.payload.as_ref().len() as u64;
        let used = inner.used.bytes.saturating_add(inner.partial_bytes).saturating_add(bytes);
        if used > self.credit.bytes || inner.used.blocks >= self.credit.blocks {
            let message = format!(
                "mailbox {} ({}): {} bytes and {} blocks are more than the credit of {} bytes and {} blocks",
                self.number(),
                self.id,
                Grouped(used),
                inner.used.blocks + 1,
                Grouped(self.credit.bytes),
                self.credit.blocks
            );
            return Err(Error::new(ErrorKind::LimitExceeded, message).in_file(&shared.peer));
        }
        inner.partial_bytes += bytes;
        let whole = inner.assembly.push(frame).map_err(|error| error.in_place("data frame").in_file(&shared.peer))?.is_some();
        if whole {
            let mut parts = inner.spare.pop().unwrap_or_default();
            inner.assembly.swap_parts(&mut parts);
            inner.queue.push_back(parts);
            inner.used.bytes += inner.partial_bytes;
            inner.used.blocks += 1;
            inner.partial_bytes = 0;
            self.event(shared, &mut inner, ReceiverEvent::Block, None);
        }
        Ok(())
    }

    /// A control frame of the other side.
    pub(super) fn control(&self, shared: &Shared, control: Control) -> Result<()> {
        let mut inner = self.inner.lock();
        match control {
            Control::Accept { schema, .. } if inner.schema.is_none() => {
                inner.schema = Some(schema);
                self.news.notify_all();
            }
            Control::ResetBlock => {
                inner.assembly.reset();
                inner.partial_bytes = 0;
            }
            Control::Eos(stats) => {
                self.event(shared, &mut inner, ReceiverEvent::PeerEnds(End::Success), Some(Last::Success(stats)));
            }
            Control::Error(mut failure) => {
                if failure.origin.is_empty() {
                    failure.origin.clone_from(&shared.peer);
                }
                self.event(shared, &mut inner, ReceiverEvent::PeerEnds(failure.end), Some(Last::Failure(failure)));
            }
            Control::Cancel(text) => {
                let failure = Failure { end: End::Cancelled, origin: shared.peer.clone(), text, stats: Stats::new() };
                self.event(shared, &mut inner, ReceiverEvent::PeerEnds(End::Cancelled), Some(Last::Failure(failure)));
            }
            other => return Err(violation(self.number(), &format!("{:?} for a mailbox that receives", other.kind()))),
        }
        Ok(())
    }

    pub(super) fn connection_lost(&self, failure: Failure) {
        let mut inner = self.inner.lock();
        let (next, actions) = inner.state.step(ReceiverEvent::ConnectionLost, inner.queue.len());
        inner.state = next;
        if actions.discard {
            inner.discard();
            inner.last.get_or_insert(Last::Failure(failure));
        }
        self.news.notify_all();
    }

    fn event(&self, shared: &Shared, inner: &mut Inner, event: ReceiverEvent, last: Option<Last>) {
        let was_told = inner.is_told();
        let (next, actions) = inner.state.step(event, inner.queue.len());
        inner.state = next;
        if inner.is_told() && !was_told {
            inner.last = last;
        }
        if actions.discard {
            inner.discard();
        }
        // A connection that is gone tells the other side by itself.
        if actions.send_early_terminate {
            let _ = shared.send_control(self.number(), Control::EarlyTerminate);
        }
        if actions.send_cancel {
            let reason = match &inner.last {
                Some(Last::Failure(failure)) => failure.text.clone(),
                _ => String::new(),
            };
            let _ = shared.send_control(self.number(), Control::Cancel(reason));
        }
        if actions.wake {
            self.news.notify_all();
        }
    }

    fn failure(&self, end: End, text: &str) -> Last {
        Last::Failure(Failure { end, origin: self.id.clone(), text: text.to_owned(), stats: Stats::new() })
    }

    fn wait(&self, shared: &Shared, inner: &mut MutexGuard<'_, Inner>) {
        let Some(deadline) = self.deadline else {
            return self.news.wait(inner);
        };
        if self.news.wait_until(inner, deadline).timed_out() {
            self.event(shared, inner, ReceiverEvent::Deadline, Some(self.failure(End::DeadlineExceeded, "the deadline passed")));
        }
    }

    /// Tells the sender of room, when there is enough of it or the reader is about to wait.
    fn grant(&self, shared: &Shared, inner: &mut Inner, waits: bool) {
        let returned = inner.returned;
        let enough = returned.blocks * 2 >= self.credit.blocks || returned.bytes * 2 >= self.credit.bytes;
        if returned.blocks > 0 && (enough || waits) && inner.state == ReceiverState::Open {
            inner.returned = Credit::default();
            let _ = shared.send_control(self.number(), Control::Credit(returned));
        }
    }
}

impl Inner {
    fn is_told(&self) -> bool {
        matches!(self.state, ReceiverState::Closed(_) | ReceiverState::UpstreamFinished)
    }

    fn discard(&mut self) {
        self.queue.clear();
        self.assembly.reset();
        self.partial_bytes = 0;
    }
}

/// The payload of one block as it came: buffers in order.
pub type Payload<'a> = Chunks<'a>;

/// Receives blocks, or payloads of another codec, from the other side of a connection. Dropped before the end, it cancels the sender.
pub struct RemoteReceiver {
    shared: Arc<Shared>,
    side: Arc<Side>,
    in_hand: Vec<Buffer>,
    decoder: Option<BlockDecoder>,
}

impl RemoteReceiver {
    pub(super) fn new(shared: Arc<Shared>, side: Arc<Side>) -> Self {
        Self { shared, side, in_hand: Vec::new(), decoder: None }
    }

    /// Sets the columns of a mailbox that the sender opened.
    pub(super) fn with_schema(self, schema: Vec<BlockColumn>) -> Self {
        self.side.inner.lock().schema = Some(schema);
        self
    }

    pub(super) fn wait_accepted(&self) -> Result<()> {
        let mut inner = self.side.inner.lock();
        while inner.schema.is_none() {
            if let Some(Last::Failure(failure)) = &inner.last {
                let message = format!("mailbox {} was refused: {:?} {}", self.side.id, failure.end, failure.text);
                return Err(Error::new(ErrorKind::Closed, message).in_file(&self.shared.peer));
            }
            if inner.is_told() {
                return Ok(());
            }
            self.side.wait(&self.shared, &mut inner);
        }
        Ok(())
    }

    /// The columns of the blocks.
    pub fn schema(&self) -> Vec<BlockColumn> {
        self.side.inner.lock().schema.clone().unwrap_or_default()
    }

    /// The next payload or the end; waits for it. Asking for the next one gives back the room of the one before.
    pub fn recv(&mut self) -> Received<Payload<'_>> {
        let mut inner = self.side.inner.lock();
        if !self.in_hand.is_empty() {
            let bytes = Chunks::new(&self.in_hand).byte_count() as u64;
            let mut parts = std::mem::take(&mut self.in_hand);
            parts.clear();
            inner.spare.push(parts);
            inner.used = Credit { bytes: inner.used.bytes - bytes, blocks: inner.used.blocks - 1 };
            inner.returned = Credit { bytes: inner.returned.bytes + bytes, blocks: inner.returned.blocks + 1 };
            self.side.grant(&self.shared, &mut inner, false);
        }
        loop {
            if let Some(parts) = inner.queue.pop_front() {
                if inner.queue.is_empty() {
                    self.side.event(&self.shared, &mut inner, ReceiverEvent::Drained, None);
                }
                drop(inner);
                self.in_hand = parts;
                return Received::Block(Chunks::new(&self.in_hand));
            }
            if let (Some(_), Some(last)) = (inner.state.end(), &inner.last) {
                return Received::End(last.clone());
            }
            self.side.grant(&self.shared, &mut inner, true);
            self.side.wait(&self.shared, &mut inner);
        }
    }

    /// The next block or the end; waits for it. The columns lie in the received buffers and are lent until the next call.
    ///
    /// # Errors
    /// `Corrupt` and `Truncated` for a payload that is no block of these columns; the mailbox is cancelled then.
    pub fn recv_block(&mut self) -> Result<Received<&BlockView>> {
        if self.decoder.is_none() {
            self.decoder = Some(BlockDecoder::new(self.schema()));
        }
        let mut decoder = self.decoder.take().expect("it was just made");
        decoder.release();
        if let Received::End(last) = self.recv() {
            self.decoder = Some(decoder);
            return Ok(Received::End(last));
        }
        let decoder = self.decoder.insert(decoder);
        match decoder.decode(Chunks::new(&self.in_hand), &self.shared.pool) {
            Ok(view) => Ok(Received::Block(view)),
            Err(error) => {
                let error = error.in_file(&self.shared.peer);
                let last = self.side.failure(End::ProtocolViolation, &error.to_string());
                self.side.event(&self.shared, &mut self.side.inner.lock(), ReceiverEvent::Violation, Some(last));
                Err(error)
            }
        }
    }

    /// Says that no more blocks are wanted; what waits is dropped. The end and its statistics still come.
    pub fn early_terminate(&mut self) {
        self.side.event(&self.shared, &mut self.side.inner.lock(), ReceiverEvent::EarlyTerminate, None);
    }

    /// Gives up: the sender is told, and no statistics come.
    pub fn cancel(self, reason: &str) {
        let last = self.side.failure(End::Cancelled, reason);
        self.side.event(&self.shared, &mut self.side.inner.lock(), ReceiverEvent::Cancel, Some(last));
    }
}

impl Drop for RemoteReceiver {
    fn drop(&mut self) {
        let last = self.side.failure(End::Cancelled, "the reader was dropped");
        self.side.event(&self.shared, &mut self.side.inner.lock(), ReceiverEvent::Dropped, Some(last));
        self.shared.forget(self.side.number());
    }
}

impl fmt::Debug for RemoteReceiver {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "RemoteReceiver({} from {}, {:?})", self.side.id, self.shared.peer, self.side.inner.lock().state)
    }
}
