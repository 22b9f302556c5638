//! Mailboxes over a socket: many on one connection, with one reading thread and no writing one.
//!
//! ```text
//! RemoteSender ── credit? ── chunks of the lent block ─┐            ┌─ connection reader ─▶ queue ─▶ RemoteReceiver
//! control frames: a queue of their own ────────────────┴▶ │socket│ ─┘   control: handled there and then
//! ```
//!
//! A sender writes its block itself, chunk by chunk, from the memory the block lies in; between two chunks the socket goes to whoever waited
//! longest, and control frames that wait go first. The connection reader never waits for a consumer: credit has promised the room. So cancel
//! and credit arrive although all the data credit is used, and a slow consumer of one mailbox does not hold up another.
//!
//! What it is not: encryption, authentication or retries; the service above brings those.

mod connection;
mod incoming;
mod options;
mod receiver;
mod sender;
mod stream;

pub use connection::Connection;
pub use incoming::Incoming;
pub use options::NetOptions;
pub use receiver::{Payload, RemoteReceiver};
pub use sender::{CancelHandle, RemoteSender};
pub use stream::Stream;

#[cfg(test)]
mod tests;
