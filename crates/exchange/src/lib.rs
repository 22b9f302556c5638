//! Blocks and tablets between processes, without copies and without unbounded memory.
//!
//! What it is: frames with a checksum ([`FrameWriter`], [`FrameReader`]), buffers that come back by themselves ([`BufferPool`]) and the
//! life of a mailbox ([`SenderState`], [`ReceiverState`]). What it is not: it knows no store, no Arrow type and no async runtime.
//!
//! ```text
//! Block ─▶ head + its own columns ─▶ chunks ─▶ frames ─▶ │ stream │ ─▶ frames ─▶ pooled buffers ─▶ views ─▶ you
//!                                         ◀── credit, early terminate, cancel: never behind data ──
//! ```
#![forbid(unsafe_code)]

mod assembly;
mod block;
mod control;
mod frame;
mod mailbox;
#[cfg(feature = "net")]
pub mod net;
mod pool;
mod state;
mod writer;

pub use assembly::{Assembly, Chunks};
pub use block::{BlockDecoder, BlockEncoder, BlockView, ColumnPart, EncodedBlock};
pub use control::{Control, Credit, Failure, Open, PayloadCodec, Role, Stats};
pub use frame::{Frame, FrameHead, FrameKind, FrameReader, FrameWriter, HEADER_LEN, PAYLOAD_ALIGN};
pub use mailbox::{Last, MailboxOptions, Received, ReceivingMailbox, SendingMailbox, Sent, mailbox};
pub use pool::{Buffer, BufferMut, BufferPool, PoolUsage};
pub use state::{End, ReceiverActions, ReceiverEvent, ReceiverState, SenderActions, SenderEvent, SenderState};
pub use writer::{ChunkedWriter, PresizedWriter};
