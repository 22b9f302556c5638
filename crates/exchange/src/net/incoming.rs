//! A mailbox that the other side opened: [`Incoming`].

use std::fmt;
use std::sync::Arc;
use std::time::Duration;

use tsloom_block::BlockColumn;
use tsloom_model::{Error, ErrorKind, Result};

use super::connection::Shared;
use super::receiver::{RemoteReceiver, Side as ReceivingSide};
use super::sender::{RemoteSender, Side as SendingSide};
use crate::control::{Control, Credit, Failure, Open, Role, Stats};
use crate::state::End;

/// To be taken with [`send`](Self::send) or [`receive`](Self::receive), whichever the other side did not choose; dropped, it is refused.
pub struct Incoming {
    shared: Arc<Shared>,
    number: u64,
    open: Open,
    answered: bool,
}

impl Incoming {
    pub(super) fn new(shared: Arc<Shared>, number: u64, open: Open) -> Self {
        Self { shared, number, open, answered: false }
    }

    /// What the other side said.
    pub fn open(&self) -> &Open {
        &self.open
    }

    /// Takes it as the sender of blocks with these columns, within the credit that the reader promised.
    ///
    /// # Errors
    /// `InvalidArgument` when the other side wants to send itself, `Closed` when the connection is gone.
    pub fn send(mut self, schema: Vec<BlockColumn>) -> Result<RemoteSender> {
        self.check(Role::Receiver)?;
        let side = Arc::new(SendingSide::new(&self.open.id, self.deadline(), Some(self.open.credit)));
        self.shared.answer_sender(&side, self.number)?;
        self.answered = true;
        self.shared.send_control(self.number, Control::Accept { credit: Credit::default(), schema })?;
        Ok(RemoteSender::new(Arc::clone(&self.shared), side))
    }

    /// Takes it as the reader and promises this room.
    ///
    /// # Errors
    /// `InvalidArgument` when the other side wants to receive itself, `Closed` when the connection is gone, `LimitExceeded` when the
    /// connection has no room for the credit.
    pub fn receive(mut self, credit: Credit) -> Result<RemoteReceiver> {
        self.check(Role::Sender)?;
        let side = Arc::new(ReceivingSide::new(&self.open.id, credit, self.deadline(), &self.shared.options));
        self.shared.answer_receiver(&side, self.number, credit)?;
        self.answered = true;
        self.shared.send_control(self.number, Control::Accept { credit, schema: Vec::new() })?;
        Ok(RemoteReceiver::new(Arc::clone(&self.shared), side).with_schema(std::mem::take(&mut self.open.schema)))
    }

    /// Says no, and why.
    pub fn refuse(mut self, text: &str) {
        self.answer_no(text);
    }

    fn answer_no(&mut self, text: &str) {
        self.answered = true;
        let failure = Failure { end: End::Failed, origin: String::new(), text: text.to_owned(), stats: Stats::new() };
        // A connection that is gone has told the other side already.
        let _ = self.shared.send_control(self.number, Control::Error(failure));
    }

    fn deadline(&self) -> Option<Duration> {
        self.open.deadline_ms.map(Duration::from_millis)
    }

    fn check(&self, opener: Role) -> Result<()> {
        if self.open.role == opener {
            return Ok(());
        }
        let message = format!("mailbox {}: the other side is the {:?} too", self.open.id, self.open.role);
        Err(Error::new(ErrorKind::InvalidArgument, message).in_file(&self.shared.peer))
    }
}

impl Drop for Incoming {
    fn drop(&mut self) {
        if !self.answered {
            self.answer_no("nobody took the mailbox");
        }
    }
}

impl fmt::Debug for Incoming {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "Incoming({}: {:?})", self.number, self.open)
    }
}
