//! The peers: other people's libraries doing the same work, each in a program of its own.
//!
//! | peer | library | program |
//! |---|---|---|
//! | `cpp` | the TsFile library inside the PyPI wheel | `benches/peers/cpp`, compiled against the headers that the wheel carries |
//! | `parquet` | parquet-rs | `benches/peers/rust`, a workspace of its own |
//! | `sqlite` | SQLite, through rusqlite | the same |
//! | `java` | the TsFile library in a jar that the user names | `benches/peers/java`, compiled by `java` as it starts |
//!
//! `--setup-peers` installs and builds what it takes (all but the jar) in the target folder.

use std::fs::File;
use std::io::Read;
use std::path::{Path, PathBuf};
use std::process::Command;

use clap::ValueEnum;

use crate::root;

/// The wheel whose library and headers are used.
pub(super) const TSFILE_VERSION: &str = "2.5.0";

#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub(super) enum Peer {
    /// The C++ library of Apache TsFile
    Cpp,
    /// Parquet files, through parquet-rs
    Parquet,
    /// An SQLite database in WAL mode
    Sqlite,
    /// The Java library of Apache TsFile; needs --java-jar
    Java,
}

impl Peer {
    pub(super) fn name(self) -> &'static str {
        match self {
            Peer::Cpp => "cpp",
            Peer::Parquet => "parquet",
            Peer::Sqlite => "sqlite",
            Peer::Java => "java",
        }
    }

    /// The program that does this work; none when it is Java's and no jar was given.
    pub(super) fn command(self, case: &str, data: &Path, java_jar: Option<&Path>) -> Result<Option<Command>, String> {
        let mut command = match (self, java_jar) {
            (Peer::Cpp, _) => Command::new(built(cpp_program())?),
            (Peer::Parquet, _) => Command::new(built(rust_program("parquet-peer"))?),
            (Peer::Sqlite, _) => Command::new(built(rust_program("sqlite-peer"))?),
            (Peer::Java, None) => return Ok(None),
            (Peer::Java, Some(jar)) => {
                let mut java = Command::new("java");
                java.arg("-cp").arg(jar).arg(root::repository().join("benches/peers/java/Peer.java"));
                java
            }
        };
        command.arg(case).arg(data);
        Ok(Some(command))
    }
}

/// The jar, when it is an archive. Java takes any path for a class path, and then names every class that it does not find there.
pub(super) fn checked_jar(jar: &Path) -> Result<&Path, String> {
    let mut head = [0; 4];
    let read = File::open(jar).and_then(|mut file| file.read_exact(&mut head));
    match read {
        Ok(()) if head == *b"PK\x03\x04" => Ok(jar),
        Err(error) if error.kind() != std::io::ErrorKind::UnexpectedEof => Err(format!("--java-jar {}: {error}", jar.display())),
        _ => Err(format!("--java-jar {}: no jar: it does not begin as an archive does", jar.display())),
    }
}

fn built(program: PathBuf) -> Result<PathBuf, String> {
    if program.is_file() {
        Ok(program)
    } else {
        Err(format!("{} is not built: run `cargo xtask bench --setup-peers` first", program.display()))
    }
}

fn peers_folder() -> PathBuf {
    root::target().join("peers")
}

fn cpp_program() -> PathBuf {
    peers_folder().join("cpp-peer")
}

fn rust_folder() -> PathBuf {
    peers_folder().join("rust")
}

fn rust_program(name: &str) -> PathBuf {
    rust_folder().join("release").join(name)
}

/// Installs and builds every peer. Nothing outside the target folder changes.
pub(super) fn set_up() -> Result<(), String> {
    set_up_rust()?;
    set_up_cpp()
}

fn set_up_rust() -> Result<(), String> {
    let manifest = root::repository().join("benches/peers/rust/Cargo.toml");
    run(root::cargo()
        .args(["build", "--quiet", "--release", "--locked", "--manifest-path"])
        .arg(manifest)
        .arg("--target-dir")
        .arg(rust_folder()))?;
    eprintln!("bench: the Rust peers are ready");
    Ok(())
}

fn set_up_cpp() -> Result<(), String> {
    let environment = peers_folder().join("venv");
    let python = environment.join("bin/python");
    if !python.is_file() {
        run(Command::new("python3").args(["-m", "venv"]).arg(&environment))?;
    }
    run(Command::new(&python).args(["-m", "pip", "install", "--quiet"]).arg(format!("tsfile=={TSFILE_VERSION}")))?;
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

#[cfg(test)]
mod tests {
    use super::checked_jar;
    use std::fs;

    #[test]
    fn only_an_archive_is_a_jar() {
        let folder = std::env::temp_dir().join(format!("tsloom-xtask-jar-{}", std::process::id()));
        fs::create_dir_all(&folder).expect("a folder for temporary files");
        let verdict = |name: &str, bytes: &[u8]| {
            let path = folder.join(name);
            fs::write(&path, bytes).expect("a file is written");
            checked_jar(&path).map(|_| ())
        };
        // The signature of a local file header, with which an archive begins.
        assert_eq!(verdict("good.jar", b"PK\x03\x04\x14\x00"), Ok(()));
        for bytes in [&b""[..], b"PK", b"not a jar"] {
            assert!(verdict("bad.jar", bytes).is_err_and(|message| message.contains("no jar")), "{bytes:?}");
        }
        let path = folder.join("missing.jar");
        assert!(checked_jar(&path).is_err_and(|message| message.contains("missing.jar") && !message.contains("no jar")));
        let _ = fs::remove_dir_all(&folder);
    }
}
