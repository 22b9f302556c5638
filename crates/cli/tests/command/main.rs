//! Tests of the command as people run it: the binary, its flags, what it prints and how it ends.
#![expect(clippy::unwrap_used, reason = "a test stops where it fails")]

mod cat;
mod formats;
mod help;
mod import_csv;
mod import_json;
mod import_store;
#[cfg(unix)]
mod interrupt;
mod lab;
mod official;
mod pictures;
mod quickstart;
mod rewrite;
mod store;
mod tablet;
mod verify;
mod views;
