//! The life of a mailbox, both ends, as total functions: every state answers every event.
//!
//! ```text
//! sender    New ──open──▶ Open ──peer wants no more──▶ EarlyTerminated
//!             └──────────────┴─── finish, fail, cancel, drop, deadline, peer's cancel, lost connection ──▶ Closed(end)
//!
//! receiver  Open ──end of stream──▶ UpstreamFinished ──last block taken──▶ Closed
//!             ├──early terminate──▶ WaitingEos ──────end of stream───────▶ Closed
//!             └──────────────────── error, cancel, deadline, expiry, lost connection ─────▶ Closed
//! ```
//!
//! The first terminal event wins; all later ones change nothing. A success keeps the blocks that wait to be taken, anything else drops
//! them. Nobody ever waits inside the queue: credit promises the room before a block is sent, so the "pending writers" of other systems do
//! not exist. What it is not: a queue, a clock or a connection; those carry out the actions.

/// How a mailbox ended.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum End {
    /// The sender had no more blocks.
    Success,
    /// The sender failed.
    Failed,
    /// One side gave up.
    Cancelled,
    /// The deadline passed.
    DeadlineExceeded,
    /// The connection is gone.
    ConnectionLost,
    /// The sender was dropped before it said how it ended.
    ClosedWithoutEos,
    /// Nobody came for the mailbox.
    Expired,
    /// A frame came that has no place in the protocol.
    ProtocolViolation,
}

impl End {
    /// Every end.
    pub const ALL: [Self; 8] = [
        Self::Success,
        Self::Failed,
        Self::Cancelled,
        Self::DeadlineExceeded,
        Self::ConnectionLost,
        Self::ClosedWithoutEos,
        Self::Expired,
        Self::ProtocolViolation,
    ];
}

/// Where a sender stands.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum SenderState {
    /// Nothing was sent; the other side may not know of it.
    New,
    /// Blocks may be sent.
    Open,
    /// The reader wants no more blocks; the end and its statistics are still due.
    EarlyTerminated,
    /// It is over.
    Closed(End),
}

/// What happens to a sender.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum SenderEvent {
    /// The caller sends a block for which there is credit.
    Send,
    /// The caller ends it: success with statistics.
    Finish,
    /// The caller ends it: an error.
    Fail,
    /// The caller gives up.
    Cancel,
    /// The caller let go of it without an end.
    Dropped,
    /// The reader wants no more blocks.
    PeerEarlyTerminates,
    /// The reader gave up, or its side failed.
    PeerCancels,
    /// Time is up.
    Deadline,
    /// The connection is gone.
    ConnectionLost,
}

impl SenderEvent {
    /// Every event.
    pub const ALL: [Self; 9] = [
        Self::Send,
        Self::Finish,
        Self::Fail,
        Self::Cancel,
        Self::Dropped,
        Self::PeerEarlyTerminates,
        Self::PeerCancels,
        Self::Deadline,
        Self::ConnectionLost,
    ];
}

/// What the adapter of a sender has to do after an event, in the order of the fields.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct SenderActions {
    /// Tell the other side that the mailbox exists.
    pub open: bool,
    /// Send the block of the event. Otherwise a sent block is dropped without an error.
    pub send_data: bool,
    /// Take back the chunks of a block that is on its way: nothing may follow them in its stead.
    pub reset_block: bool,
    /// Send the last frame.
    pub send_end: Option<End>,
    /// Wake who waits for credit.
    pub wake: bool,
}

impl SenderState {
    /// The state after `event`, and what to do.
    #[must_use]
    pub fn step(self, event: SenderEvent) -> (Self, SenderActions) {
        use SenderEvent as E;
        let nothing = SenderActions::default();
        match (self, event) {
            (Self::Closed(_), _) => (self, nothing),
            (Self::New, E::Send) => (Self::Open, SenderActions { open: true, send_data: true, ..nothing }),
            (Self::Open, E::Send) => (self, SenderActions { send_data: true, ..nothing }),
            (Self::EarlyTerminated, E::Send) => (self, nothing),
            (Self::New | Self::Open, E::PeerEarlyTerminates) => {
                (Self::EarlyTerminated, SenderActions { reset_block: self == Self::Open, wake: true, ..nothing })
            }
            (Self::EarlyTerminated, E::PeerEarlyTerminates) => (self, nothing),
            (_, E::Finish) => self.ended(End::Success),
            (_, E::Fail) => self.ended(End::Failed),
            (_, E::Cancel) => self.ended(End::Cancelled),
            (_, E::Dropped) => self.ended(End::ClosedWithoutEos),
            (_, E::Deadline) => self.ended(End::DeadlineExceeded),
            (_, E::PeerCancels) => (Self::Closed(End::Cancelled), SenderActions { wake: true, ..nothing }),
            (_, E::ConnectionLost) => (Self::Closed(End::ConnectionLost), SenderActions { wake: true, ..nothing }),
        }
    }

    /// The last frame is sent even when nothing was before it: a reader may wait for it.
    fn ended(self, end: End) -> (Self, SenderActions) {
        let actions = SenderActions {
            open: self == Self::New,
            // A caller that finishes has sent its blocks whole; every other end can come in the middle of one.
            reset_block: self == Self::Open && end != End::Success,
            send_end: Some(end),
            wake: true,
            send_data: false,
        };
        (Self::Closed(end), actions)
    }

    /// How it ended, when it did.
    pub fn end(self) -> Option<End> {
        match self {
            Self::Closed(end) => Some(end),
            _ => None,
        }
    }
}

/// Where a receiver stands.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum ReceiverState {
    /// Blocks come.
    Open,
    /// All blocks are here, some wait to be taken.
    UpstreamFinished,
    /// The reader wants no more blocks; the end is still to come.
    WaitingEos,
    /// It is over; whoever asks is told this end.
    Closed(End),
}

/// What happens to a receiver.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum ReceiverEvent {
    /// A whole block came.
    Block,
    /// The sender's last frame came: success, or what else its end was.
    PeerEnds(End),
    /// The reader took the last block that waited.
    Drained,
    /// The reader wants no more blocks.
    EarlyTerminate,
    /// The reader gives up.
    Cancel,
    /// The reader let go of it.
    Dropped,
    /// Time is up.
    Deadline,
    /// Nobody came for it.
    Expire,
    /// The connection is gone.
    ConnectionLost,
    /// A frame came that has no place in the protocol.
    Violation,
}

impl ReceiverEvent {
    /// Every event, the ends of the peer included.
    pub fn all() -> impl Iterator<Item = Self> {
        let others = [
            Self::Block,
            Self::Drained,
            Self::EarlyTerminate,
            Self::Cancel,
            Self::Dropped,
            Self::Deadline,
            Self::Expire,
            Self::ConnectionLost,
            Self::Violation,
        ];
        others.into_iter().chain(End::ALL.map(Self::PeerEnds))
    }
}

/// What the adapter of a receiver has to do after an event, in the order of the fields.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct ReceiverActions {
    /// Keep the block of the event. Otherwise it is dropped, and its credit is granted again at once.
    pub enqueue: bool,
    /// Drop the blocks that wait, and the chunks of an unfinished one.
    pub discard: bool,
    /// Tell the sender that no more blocks are wanted.
    pub send_early_terminate: bool,
    /// Tell the sender that it is over.
    pub send_cancel: bool,
    /// Wake the reader.
    pub wake: bool,
}

impl ReceiverState {
    /// The state after `event`, and what to do. `waiting` is the number of blocks in the queue when the event comes.
    #[must_use]
    pub fn step(self, event: ReceiverEvent, waiting: usize) -> (Self, ReceiverActions) {
        use ReceiverEvent as E;
        let nothing = ReceiverActions::default();
        match (self, event) {
            (Self::Closed(_), _) => (self, nothing),
            (Self::Open, E::Block) => (self, ReceiverActions { enqueue: true, wake: true, ..nothing }),
            (Self::WaitingEos, E::Block) => (self, nothing),
            // A block after the end: the sender does not keep to the protocol, but the end stands.
            (Self::UpstreamFinished, E::Block) => (self, nothing),
            (Self::Open, E::PeerEnds(End::Success)) if waiting > 0 => {
                (Self::UpstreamFinished, ReceiverActions { wake: true, ..nothing })
            }
            (Self::Open | Self::WaitingEos, E::PeerEnds(end)) => {
                (Self::Closed(end), ReceiverActions { discard: true, wake: true, ..nothing })
            }
            (Self::UpstreamFinished, E::PeerEnds(_)) => (self, nothing),
            (Self::UpstreamFinished, E::Drained) => (Self::Closed(End::Success), nothing),
            (Self::Open | Self::WaitingEos, E::Drained) => (self, nothing),
            (Self::Open, E::EarlyTerminate) => {
                (Self::WaitingEos, ReceiverActions { discard: true, send_early_terminate: true, ..nothing })
            }
            (Self::WaitingEos, E::EarlyTerminate) => (self, nothing),
            (Self::UpstreamFinished, E::EarlyTerminate) => {
                (Self::Closed(End::Success), ReceiverActions { discard: true, ..nothing })
            }
            // All blocks are here: neither time nor the connection can take them away; only the reader can.
            (Self::UpstreamFinished, E::Deadline | E::ConnectionLost | E::Violation) => (self, nothing),
            (_, E::Cancel | E::Dropped) => self.ended(End::Cancelled),
            (_, E::Deadline) => self.ended(End::DeadlineExceeded),
            (_, E::Expire) => self.ended(End::Expired),
            (_, E::Violation) => self.ended(End::ProtocolViolation),
            (_, E::ConnectionLost) => {
                (Self::Closed(End::ConnectionLost), ReceiverActions { discard: true, wake: true, ..nothing })
            }
        }
    }

    fn ended(self, end: End) -> (Self, ReceiverActions) {
        // A sender that already finished need not hear of it.
        let send_cancel = self != Self::UpstreamFinished;
        (Self::Closed(end), ReceiverActions { discard: true, send_cancel, wake: true, ..ReceiverActions::default() })
    }

    /// How it ended, when it did.
    pub fn end(self) -> Option<End> {
        match self {
            Self::Closed(end) => Some(end),
            _ => None,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn sender_states() -> impl Iterator<Item = SenderState> {
        [SenderState::New, SenderState::Open, SenderState::EarlyTerminated].into_iter().chain(End::ALL.map(SenderState::Closed))
    }

    fn receiver_states() -> impl Iterator<Item = ReceiverState> {
        [ReceiverState::Open, ReceiverState::UpstreamFinished, ReceiverState::WaitingEos]
            .into_iter()
            .chain(End::ALL.map(ReceiverState::Closed))
    }

    /// The whole table of the sender, written down by hand.
    #[test]
    fn every_sender_state_answers_every_event() {
        use SenderEvent as E;
        use SenderState as S;
        for state in sender_states() {
            for event in SenderEvent::ALL {
                let (next, actions) = state.step(event);
                let terminal = |end, open, reset_block| {
                    (S::Closed(end), SenderActions { open, reset_block, send_end: Some(end), wake: true, send_data: false })
                };
                let expected = match (state, event) {
                    (S::Closed(_), _) => (state, SenderActions::default()),
                    (S::New, E::Send) => (S::Open, SenderActions { open: true, send_data: true, ..Default::default() }),
                    (S::Open, E::Send) => (S::Open, SenderActions { send_data: true, ..Default::default() }),
                    (S::EarlyTerminated, E::Send) => (state, SenderActions::default()),
                    (S::New, E::PeerEarlyTerminates) => (S::EarlyTerminated, SenderActions { wake: true, ..Default::default() }),
                    (S::Open, E::PeerEarlyTerminates) => {
                        (S::EarlyTerminated, SenderActions { reset_block: true, wake: true, ..Default::default() })
                    }
                    (S::EarlyTerminated, E::PeerEarlyTerminates) => (state, SenderActions::default()),
                    (_, E::PeerCancels) => (S::Closed(End::Cancelled), SenderActions { wake: true, ..Default::default() }),
                    (_, E::ConnectionLost) => {
                        (S::Closed(End::ConnectionLost), SenderActions { wake: true, ..Default::default() })
                    }
                    (S::New, E::Finish) => terminal(End::Success, true, false),
                    (S::New, E::Fail) => terminal(End::Failed, true, false),
                    (S::New, E::Cancel) => terminal(End::Cancelled, true, false),
                    (S::New, E::Dropped) => terminal(End::ClosedWithoutEos, true, false),
                    (S::New, E::Deadline) => terminal(End::DeadlineExceeded, true, false),
                    (S::Open | S::EarlyTerminated, E::Finish) => terminal(End::Success, false, false),
                    (_, E::Fail) => terminal(End::Failed, false, state == S::Open),
                    (_, E::Cancel) => terminal(End::Cancelled, false, state == S::Open),
                    (_, E::Dropped) => terminal(End::ClosedWithoutEos, false, state == S::Open),
                    (_, E::Deadline) => terminal(End::DeadlineExceeded, false, state == S::Open),
                };
                assert_eq!((next, actions), expected, "{state:?} {event:?}");
            }
        }
    }

    #[test]
    fn a_sender_says_at_most_one_end_and_a_closed_one_nothing() {
        for first in SenderEvent::ALL {
            for second in SenderEvent::ALL {
                for third in SenderEvent::ALL {
                    let mut state = SenderState::New;
                    let mut ends = 0;
                    for event in [first, second, third] {
                        let closed = state.end().is_some();
                        let (next, actions) = state.step(event);
                        ends += usize::from(actions.send_end.is_some());
                        assert!(!closed || actions == SenderActions::default());
                        state = next;
                    }
                    assert!(ends <= 1, "{first:?} {second:?} {third:?}");
                }
            }
        }
    }

    #[test]
    fn every_receiver_state_answers_every_event() {
        for state in receiver_states() {
            for event in ReceiverEvent::all() {
                for waiting in [0, 1, 5] {
                    let (next, actions) = state.step(event, waiting);
                    if state.end().is_some() {
                        assert_eq!((next, actions), (state, ReceiverActions::default()), "a closed mailbox stays as it ended");
                        continue;
                    }
                    let keeps_blocks =
                        matches!(event, ReceiverEvent::Block | ReceiverEvent::Drained | ReceiverEvent::PeerEnds(End::Success))
                            || state == ReceiverState::UpstreamFinished && !actions.discard;
                    assert!(
                        waiting == 0 || state == ReceiverState::WaitingEos || keeps_blocks || actions.discard,
                        "{state:?} {event:?}"
                    );
                    assert_eq!(actions.enqueue, state == ReceiverState::Open && event == ReceiverEvent::Block);
                    assert!(next != ReceiverState::Open || state == ReceiverState::Open, "nothing opens it again");
                }
            }
        }
    }

    #[test]
    fn the_receiver_walks_as_the_picture_says() {
        use ReceiverEvent as E;
        use ReceiverState as R;
        let walk = |events: &[(E, usize)]| events.iter().fold(R::Open, |state, &(event, waiting)| state.step(event, waiting).0);
        let success = E::PeerEnds(End::Success);
        assert_eq!(walk(&[(E::Block, 0), (success, 1)]), R::UpstreamFinished);
        assert_eq!(walk(&[(E::Block, 0), (success, 1), (E::Drained, 0)]), R::Closed(End::Success));
        assert_eq!(walk(&[(success, 0)]), R::Closed(End::Success));
        assert_eq!(walk(&[(E::EarlyTerminate, 3)]), R::WaitingEos);
        assert_eq!(walk(&[(E::EarlyTerminate, 3), (E::Block, 0), (success, 0)]), R::Closed(End::Success));
        assert_eq!(walk(&[(E::EarlyTerminate, 3), (E::PeerEnds(End::Failed), 0)]), R::Closed(End::Failed));
        assert_eq!(walk(&[(success, 2), (E::EarlyTerminate, 2)]), R::Closed(End::Success));
        assert_eq!(walk(&[(success, 2), (E::ConnectionLost, 2), (E::Deadline, 2)]), R::UpstreamFinished);
        assert_eq!(walk(&[(success, 2), (E::PeerEnds(End::Failed), 2)]), R::UpstreamFinished, "the first end wins");
        assert_eq!(walk(&[(E::PeerEnds(End::Failed), 2), (success, 0)]), R::Closed(End::Failed));
        assert_eq!(walk(&[(E::Cancel, 0), (success, 0)]), R::Closed(End::Cancelled));
    }
}
