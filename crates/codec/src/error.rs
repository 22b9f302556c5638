//! Shorthands for the errors of decoders. All of them are cold: the good path carries no message.

use std::borrow::Cow;

use tsloom_encoding::Truncated;
use tsloom_model::{Error, ErrorKind, FileOffset};

/// Bytes at `at` that contradict the encoding.
#[cold]
pub(crate) fn corrupt(at: usize, message: impl Into<Cow<'static, str>>) -> Error {
    Error::new(ErrorKind::Corrupt, message).at(FileOffset::new(at as u64))
}

/// The column ends at `size` bytes and should go on.
#[cold]
pub(crate) fn truncated(at: usize, need: usize, size: usize) -> Error {
    Truncated { need, have: size.saturating_sub(at), at }.into()
}

/// The caller's count and the bytes do not agree.
#[cold]
pub(crate) fn wrong_count(at: usize, expected: usize, found: impl std::fmt::Display) -> Error {
    corrupt(at, format!("expected {expected} values, the bytes hold {found}"))
}

/// Bytes are left after the last value.
#[cold]
pub(crate) fn trailing(at: usize, count: usize, left: usize) -> Error {
    corrupt(at, format!("{left} bytes are left after the last of {count} values"))
}

/// A request that this crate refuses.
#[cold]
pub(crate) fn invalid(message: impl Into<Cow<'static, str>>) -> Error {
    Error::new(ErrorKind::InvalidArgument, message)
}
