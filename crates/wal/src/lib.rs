//! The write-ahead log: entries, frames with checksums, segments, replay.
