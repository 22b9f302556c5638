//! The tsloom command.
fn main() {}
