//! Limits of a connection.

use std::time::Duration;

use crate::control::Credit;

/// Limits of a connection; error texts name the field to raise.
#[derive(Clone, Debug)]
pub struct NetOptions {
    /// Blocks travel in chunks of this many bytes, so that mailboxes share the connection.
    pub chunk_bytes: usize,
    /// The largest payload of one frame that is accepted.
    pub frame_bytes_max: usize,
    /// The largest block that is accepted.
    pub block_bytes_max: usize,
    /// Bytes of received blocks that may be in memory at once, over all mailboxes.
    pub pool_bytes_max: usize,
    /// Room that a receiver promises when the caller names none.
    pub credit: Credit,
    /// Mailboxes that may be open at once.
    pub mailboxes_max: usize,
    /// How long an opened mailbox waits for somebody to take it.
    pub expire_after: Duration,
    /// How long a write may make no progress before the connection counts as lost.
    pub write_timeout: Duration,
    /// How long the peer may be silent while mailboxes are open before the connection counts as lost; it is pinged before that.
    pub silence_max: Duration,
}

impl Default for NetOptions {
    /// Chunks of 512 KiB, frames to 1 MiB, blocks to 64 MiB, 256 MiB in all, 16 MiB and 8 blocks of credit, 1,024 mailboxes, 300 s to take
    /// one, 30 s for a write, 60 s of silence.
    fn default() -> Self {
        Self {
            chunk_bytes: 512 << 10,
            frame_bytes_max: 1 << 20,
            block_bytes_max: 64 << 20,
            pool_bytes_max: 256 << 20,
            credit: Credit { bytes: 16 << 20, blocks: 8 },
            mailboxes_max: 1_024,
            expire_after: Duration::from_secs(300),
            write_timeout: Duration::from_secs(30),
            silence_max: Duration::from_secs(60),
        }
    }
}
