//! The peers: other people's libraries doing the same work, each in a program of its own.
//!
//! C++: the TsFile library inside the PyPI wheel, through `benches/peers/cpp/peer.cc`, compiled against the headers that
//! the wheel carries. `--setup-peers` makes a Python environment in the target folder, installs the wheel and compiles.

use std::path::{Path, PathBuf};
use std::process::Command;

use clap::ValueEnum;

use super::Listed;
use crate::root;

/// The wheel whose library and headers are used.
const WHEEL: &str = "tsfile==2.5.0";

#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub(super) enum Peer {
    /// The C++ library of Apache TsFile
    Cpp,
}

impl Peer {
    pub(super) fn name(self) -> &'static str {
        match self {
            Peer::Cpp => "cpp",
        }
    }

    /// The program that runs this scenario, if the peer has the same work.
    pub(super) fn command(self, listed: &Listed, data: &Path) -> Result<Option<Command>, String> {
        let Peer::Cpp = self;
        let Some(case) = &listed.cpp_case else {
            return Ok(None);
        };
        let program = cpp_program();
        if !program.is_file() {
            return Err("the C++ peer is not built: run `cargo xtask bench --setup-peers` first".to_owned());
        }
        let mut command = Command::new(program);
        command.arg(case).arg(data);
        Ok(Some(command))
    }
}

fn peers_folder() -> PathBuf {
    root::target().join("peers")
}

fn cpp_program() -> PathBuf {
    peers_folder().join("cpp-peer")
}

/// Installs and builds every peer. Nothing outside the target folder changes.
pub(super) fn set_up() -> Result<(), String> {
    let environment = peers_folder().join("venv");
    let python = environment.join("bin/python");
    if !python.is_file() {
        run(Command::new("python3").args(["-m", "venv"]).arg(&environment))?;
    }
    run(Command::new(&python).args(["-m", "pip", "install", "--quiet", WHEEL]))?;
    let script = "import sysconfig; print(sysconfig.get_path('platlib'))";
    let output = Command::new(&python).args(["-c", script]).output().map_err(|error| format!("python: {error}"))?;
    let packages = PathBuf::from(String::from_utf8_lossy(&output.stdout).trim());
    let (library, bundled) = (packages.join("tsfile"), packages.join("tsfile.libs"));
    let rpath = |folder: &Path| format!("-Wl,-rpath,{}", folder.display());
    let mut compiler = Command::new(std::env::var_os("CXX").unwrap_or_else(|| "g++".into()));
    compiler
        .args(["-std=c++17", "-O2", "-DNDEBUG", "-w"])
        .arg(format!("-I{}", library.join("include").display()))
        .arg(root::repository().join("benches/peers/cpp/peer.cc"))
        .arg("-o")
        .arg(cpp_program())
        .arg(format!("-L{}", library.display()))
        .args(["-l:libtsfile.so", "-lpthread"])
        .args([rpath(&library), rpath(&bundled)]);
    run(&mut compiler)?;
    eprintln!("bench: the C++ peer is ready");
    Ok(())
}

fn run(command: &mut Command) -> Result<(), String> {
    let status = command.status().map_err(|error| format!("{command:?}: {error}"))?;
    if status.success() { Ok(()) } else { Err(format!("{command:?}: {status}")) }
}
