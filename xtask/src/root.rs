//! Where the repository is, and how its own cargo is started.

use std::path::PathBuf;
use std::process::Command;

/// The root of the repository this xtask was compiled from.
pub(crate) fn repository() -> PathBuf {
    let manifest = PathBuf::from(env!("CARGO_MANIFEST_DIR"));
    manifest.parent().map_or(manifest.clone(), PathBuf::from)
}

/// The cargo that started us (it passes itself on), in the root of the repository.
pub(crate) fn cargo() -> Command {
    let mut command = Command::new(std::env::var_os("CARGO").unwrap_or_else(|| "cargo".into()));
    command.current_dir(repository());
    command
}
