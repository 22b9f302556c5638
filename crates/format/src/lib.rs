//! TsFile structures: parse and write, no file handle.
