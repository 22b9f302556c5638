//! A copy of a store that takes no time and next to no space, and looking whether all of a store is sound.

use std::path::Path;

use tsloom_file::{Verification, VerifyOptions, verify};
use tsloom_io::{Dir, StdDir};
use tsloom_model::{Error, ErrorKind, Result};

use crate::files::{self, OpenFile};
use crate::manifest::{self, Manifest, Unwritten};
use crate::store::Store;

/// What [`Store::verify`] found in one file.
#[derive(Debug)]
pub struct VerifiedFile {
    /// Its name in the store's directory.
    pub file: String,
    /// What was looked at, and what does not agree.
    pub verification: Verification,
}

impl Store {
    /// Makes a store of its own in `to`: all that was written before, without a log. Files are hard links where the file system has
    /// them, so they take no space until this store has merged its own away. Writes and scans go on meanwhile.
    ///
    /// # Errors
    /// [`ErrorKind::AlreadyExists`] when there is a store, and what the operating system says; what is left in `to` then is no
    /// store.
    pub fn backup(&self, to: impl AsRef<Path>) -> Result<()> {
        let (shared, to) = (self.shared(), to.as_ref());
        let in_target = |error: std::io::Error| Error::from(error).in_file(to);
        shared.flush()?;
        let target = StdDir::create(to).map_err(in_target)?;
        if Manifest::read(&target, &shared.options.limits)?.is_some() {
            return Err(Error::new(ErrorKind::AlreadyExists, format!("there is a store in {}", to.display())));
        }
        target.create_folder(files::FOLDER).map_err(in_target)?;
        // Held until the files are linked: no merge takes one away.
        let manifest = shared.manifest.lock();
        for file in &manifest.files {
            let name = files::name(file.number);
            shared.dir.link(&name, &to.join(&name)).map_err(|error| Error::from(error).in_file(to.join(&name)))?;
        }
        target.sync(files::FOLDER).and_then(|()| target.sync("")).map_err(in_target)?;
        // A merge may have carried out what the log has behind `flushed`; the log that the copy begins must go on behind that.
        let met = manifest.files.iter().map(|file| file.erased_through).max().unwrap_or(0);
        let copy = Manifest { log_segment: 0, flushed: manifest.flushed.max(met), ..manifest.clone() };
        copy.write(&target)
            .map_err(|(Unwritten::Refused(error) | Unwritten::Unknown(error))| error.in_file(to.join(manifest::NAME)))
    }

    /// Decodes every page of every file, and compares statistics, index and schemas with what is there. The log was read, to its
    /// last checksum, when the store was opened.
    ///
    /// # Errors
    /// A file that cannot be read at all. Everything else is a finding.
    pub fn verify(&self) -> Result<Vec<VerifiedFile>> {
        let files: Vec<OpenFile> = self.shared().memory.lock().files.clone();
        let look = |file: &OpenFile| {
            let verification = verify(&*file.reader, VerifyOptions::default(), &mut |_, _| {})?;
            Ok(VerifiedFile { file: files::name(file.entry.number), verification })
        };
        files.iter().map(look).collect()
    }
}
