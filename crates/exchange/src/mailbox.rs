//! Mailboxes between threads of one process: blocks are handed over, not encoded. [`mailbox`] makes a pair.
//!
//! ```text
//! SendingMailbox ── send (waits for credit) ─▶ queue ─▶ recv ── ReceivingMailbox
//!        └── finish, fail, cancel, drop ─▶ end           └── early_terminate, cancel, drop
//! ```
//!
//! One lock and two conditions around the state machines of [`state`](crate::SenderState). Credit counts the blocks and bytes that are in
//! the queue or in the reader's hands; it is given back when the reader takes the next block, so a slow reader slows the sender and nothing
//! piles up. A block larger than all the credit passes alone. Ends never wait.

use std::collections::VecDeque;
use std::fmt;
use std::sync::Arc;
use std::time::Instant;

use parking_lot::{Condvar, Mutex};
use tsloom_model::{Error, ErrorKind, Result};

use crate::control::{Credit, Failure, Stats};
use crate::state::{End, ReceiverEvent, ReceiverState, SenderEvent, SenderState};

/// What a mailbox may hold and how long it may live.
#[derive(Clone, Debug)]
pub struct MailboxOptions {
    /// For error texts: which mailbox it was.
    pub id: String,
    /// Room for blocks that were sent and not yet given back.
    pub credit: Credit,
    /// When it ends by itself.
    pub deadline: Option<Instant>,
}

impl Default for MailboxOptions {
    /// 16 MiB, 8 blocks, no deadline.
    fn default() -> Self {
        Self { id: "mailbox".into(), credit: Credit { bytes: 16 << 20, blocks: 8 }, deadline: None }
    }
}

/// What became of a block that was sent.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Sent {
    /// The reader will get it.
    Queued,
    /// The reader wants no more blocks; it was dropped. The end is still to be told.
    NotWanted,
}

/// The last word of a mailbox to its reader.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Last {
    /// All blocks came.
    Success(Stats),
    /// They did not.
    Failure(Failure),
}

/// What a reader gets.
#[derive(Debug)]
pub enum Received<T> {
    /// The next block.
    Block(T),
    /// The end; asked again, the same.
    End(Last),
}

/// A pair of ends. `T` is a block, or whatever else is handed over; `bytes` of [`send`](SendingMailbox::send) is what it counts for.
pub fn mailbox<T>(options: MailboxOptions) -> (SendingMailbox<T>, ReceivingMailbox<T>) {
    let inner = Inner {
        sender: SenderState::New,
        receiver: ReceiverState::Open,
        queue: VecDeque::new(),
        used: Credit::default(),
        in_hand: None,
        last: None,
    };
    let shared = Arc::new(Shared { inner: Mutex::new(inner), room: Condvar::new(), news: Condvar::new(), options });
    (SendingMailbox { shared: Arc::clone(&shared) }, ReceivingMailbox { shared })
}

struct Shared<T> {
    inner: Mutex<Inner<T>>,
    /// Senders wait here for credit.
    room: Condvar,
    /// The reader waits here for a block or the end.
    news: Condvar,
    options: MailboxOptions,
}

struct Inner<T> {
    sender: SenderState,
    receiver: ReceiverState,
    queue: VecDeque<(T, u64)>,
    /// Of the blocks in the queue and the one in the reader's hands.
    used: Credit,
    in_hand: Option<u64>,
    last: Option<Last>,
}

impl<T> Inner<T> {
    fn has_room(&self, limit: Credit, bytes: u64) -> bool {
        self.used.blocks == 0 || self.used.blocks < limit.blocks && self.used.bytes.saturating_add(bytes) <= limit.bytes
    }

    fn give_back(&mut self, bytes: u64) {
        self.used.bytes -= bytes;
        self.used.blocks -= 1;
    }
}

impl<T> Shared<T> {
    /// Lets the sender's state answer an event, and the reader's the end that follows from it.
    fn sender_event(&self, inner: &mut Inner<T>, event: SenderEvent, last: Option<Last>) {
        let (next, actions) = inner.sender.step(event);
        inner.sender = next;
        if let Some(end) = actions.send_end {
            self.receiver_event(inner, ReceiverEvent::PeerEnds(end), last);
        }
        if actions.wake {
            self.room.notify_all();
        }
    }

    fn receiver_event(&self, inner: &mut Inner<T>, event: ReceiverEvent, last: Option<Last>) {
        let (next, actions) = inner.receiver.step(event, inner.queue.len());
        let was_told = matches!(inner.receiver, ReceiverState::Closed(_) | ReceiverState::UpstreamFinished);
        inner.receiver = next;
        if actions.discard {
            while let Some((_, bytes)) = inner.queue.pop_front() {
                inner.give_back(bytes);
            }
        }
        let is_told = matches!(next, ReceiverState::Closed(_) | ReceiverState::UpstreamFinished);
        if is_told && !was_told {
            inner.last = last;
        }
        if actions.send_early_terminate {
            self.sender_event(inner, SenderEvent::PeerEarlyTerminates, None);
        }
        if actions.send_cancel {
            self.sender_event(inner, SenderEvent::PeerCancels, None);
        }
        if actions.wake || actions.discard {
            self.news.notify_all();
            self.room.notify_all();
        }
    }

    fn failure(&self, end: End, text: &str) -> Failure {
        Failure { end, origin: self.options.id.clone(), text: text.to_owned(), stats: Stats::new() }
    }

    fn deadline_passed(&self, inner: &mut Inner<T>) {
        let last = Last::Failure(self.failure(End::DeadlineExceeded, "the deadline passed"));
        self.sender_event(inner, SenderEvent::Deadline, Some(last.clone()));
        self.receiver_event(inner, ReceiverEvent::Deadline, Some(last));
    }

    fn check_deadline(&self, inner: &mut Inner<T>) {
        if self.options.deadline.is_some_and(|deadline| Instant::now() >= deadline) {
            self.deadline_passed(inner);
        }
    }

    /// Waits, and ends the mailbox when its deadline passes meanwhile.
    fn wait(&self, condition: &Condvar, inner: &mut parking_lot::MutexGuard<'_, Inner<T>>) {
        match self.options.deadline {
            None => condition.wait(inner),
            Some(deadline) => {
                if condition.wait_until(inner, deadline).timed_out() {
                    self.deadline_passed(inner);
                }
            }
        }
    }
}

/// The end that blocks go in at.
pub struct SendingMailbox<T> {
    shared: Arc<Shared<T>>,
}

impl<T> SendingMailbox<T> {
    /// Hands a block over; waits until the reader has room for it.
    ///
    /// # Errors
    /// `Closed` when the mailbox has ended: cancelled by the reader, or its deadline passed.
    pub fn send(&self, block: T, bytes: u64) -> Result<Sent> {
        let mut inner = self.shared.inner.lock();
        self.shared.check_deadline(&mut inner);
        loop {
            let (next, actions) = inner.sender.step(SenderEvent::Send);
            if let SenderState::Closed(end) = next {
                let message = format!("mailbox {} has ended: {end:?}", self.shared.options.id);
                return Err(Error::new(ErrorKind::Closed, message));
            }
            if !actions.send_data {
                return Ok(Sent::NotWanted);
            }
            if inner.has_room(self.shared.options.credit, bytes) {
                inner.sender = next;
                break;
            }
            self.shared.wait(&self.shared.room, &mut inner);
        }
        inner.used.bytes += bytes;
        inner.used.blocks += 1;
        inner.queue.push_back((block, bytes));
        self.shared.receiver_event(&mut inner, ReceiverEvent::Block, None);
        Ok(Sent::Queued)
    }

    /// Ends it with success; the reader gets what was sent, then the statistics.
    pub fn finish(self, stats: Stats) {
        self.end(SenderEvent::Finish, Last::Success(stats));
    }

    /// Ends it with an error; the reader gets that and no block more.
    pub fn fail(self, text: &str) {
        let failure = self.shared.failure(End::Failed, text);
        self.end(SenderEvent::Fail, Last::Failure(failure));
    }

    /// Gives up.
    pub fn cancel(self, reason: &str) {
        let failure = self.shared.failure(End::Cancelled, reason);
        self.end(SenderEvent::Cancel, Last::Failure(failure));
    }

    /// True when no more blocks are wanted: by early termination or because it has ended.
    pub fn is_done(&self) -> bool {
        matches!(self.shared.inner.lock().sender, SenderState::EarlyTerminated | SenderState::Closed(_))
    }

    fn end(&self, event: SenderEvent, last: Last) {
        self.shared.sender_event(&mut self.shared.inner.lock(), event, Some(last));
    }
}

impl<T> Drop for SendingMailbox<T> {
    /// Without an end before it, this is an error for the reader.
    fn drop(&mut self) {
        let failure = self.shared.failure(End::ClosedWithoutEos, "the sender was dropped before it finished");
        self.end(SenderEvent::Dropped, Last::Failure(failure));
    }
}

/// The end that blocks come out of.
pub struct ReceivingMailbox<T> {
    shared: Arc<Shared<T>>,
}

impl<T> ReceivingMailbox<T> {
    /// The next block or the end, when there is one by now. Taking a block gives back the credit of the one before it.
    pub fn poll(&mut self) -> Option<Received<T>> {
        let mut inner = self.shared.inner.lock();
        self.shared.check_deadline(&mut inner);
        if let Some(bytes) = inner.in_hand.take() {
            inner.give_back(bytes);
            self.shared.room.notify_all();
        }
        self.take(&mut inner)
    }

    /// The next block or the end; waits for it.
    pub fn recv(&mut self) -> Received<T> {
        if let Some(received) = self.poll() {
            return received;
        }
        let mut inner = self.shared.inner.lock();
        loop {
            if let Some(received) = self.take(&mut inner) {
                return received;
            }
            self.shared.wait(&self.shared.news, &mut inner);
        }
    }

    /// Says that no more blocks are wanted; what waits is dropped. The end and its statistics still come.
    pub fn early_terminate(&mut self) {
        self.event(ReceiverEvent::EarlyTerminate, None);
    }

    /// Gives up: the sender is told, and no statistics come.
    pub fn cancel(self, reason: &str) {
        self.event(ReceiverEvent::Cancel, Some(reason));
    }

    fn event(&self, event: ReceiverEvent, reason: Option<&str>) {
        let last = reason.map(|text| Last::Failure(self.shared.failure(End::Cancelled, text)));
        self.shared.receiver_event(&mut self.shared.inner.lock(), event, last);
    }

    fn take(&self, inner: &mut Inner<T>) -> Option<Received<T>> {
        if let Some((block, bytes)) = inner.queue.pop_front() {
            inner.in_hand = Some(bytes);
            if inner.queue.is_empty() {
                self.shared.receiver_event(inner, ReceiverEvent::Drained, None);
            }
            return Some(Received::Block(block));
        }
        inner.receiver.end()?;
        inner.last.clone().map(Received::End)
    }
}

impl<T> Drop for ReceivingMailbox<T> {
    fn drop(&mut self) {
        self.event(ReceiverEvent::Dropped, Some("the reader was dropped"));
    }
}

impl<T> fmt::Debug for SendingMailbox<T> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "SendingMailbox({}, {:?})", self.shared.options.id, self.shared.inner.lock().sender)
    }
}

impl<T> fmt::Debug for ReceivingMailbox<T> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "ReceivingMailbox({}, {:?})", self.shared.options.id, self.shared.inner.lock().receiver)
    }
}

#[cfg(test)]
mod tests;
