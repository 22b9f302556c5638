//! The encoding that the data chooses, column by column and chunk by chunk.
//!
//! ```text
//! first page with a value   in every lossless encoding of the type, compressed: the fastest to read of those that are
//!                           within 3 % of the smallest becomes the rival of the default encoding
//! later pages               in both, as long as the rival is not larger and gives back every bit
//! end of the chunk          the rival, if there still is one
//! ```
//!
//! So no chunk is larger than its default, whatever the first page promised, and no value is changed. Both forms count as
//! memory of the writer. What is lossless, and for whom, is told in [`lossless_encodings`].

use tsloom_codec::compress::compress;
use tsloom_codec::{encode_lossless, lossless_encodings};
use tsloom_model::{Encoding, Result, ValuesRef};

use super::Scratch;
use super::chunk::{ChunkBuffer, Pages};
use super::table::Field;

/// How the encoding of a column is chosen: see [`WriterOptionsBuilder::encoding`](crate::WriterOptionsBuilder::encoding).
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum EncodingChoice {
    /// As the schema says.
    #[default]
    Schema,
    /// This one, whatever the schema says.
    Fixed(Encoding),
    /// For each chunk the one that its data takes the least room in, of those that keep every bit and that Java and C++ read.
    /// What the schema says is not asked. The chunk is never larger than in the default encoding of its type.
    ///
    /// Writing takes two to three times as long, and pages wait for their chunk group in two forms, which brings the memory
    /// bound nearer.
    Auto,
}

/// Which of the two forms of a chunk is ahead.
#[derive(Debug, Default)]
pub(super) struct Contest {
    state: State,
    /// The pages in the rival's encoding; of use while there is one.
    pages: Pages,
}

#[derive(Clone, Copy, Debug, Default)]
enum State {
    /// No page had a value yet.
    #[default]
    Open,
    Rival(Encoding),
    /// The default is the best, or the only one.
    Over,
}

impl Contest {
    pub(super) fn clear(&mut self) {
        self.state = State::Open;
        self.pages.clear();
    }

    pub(super) fn byte_count(&self) -> usize {
        self.pages.byte_count()
    }

    /// The form to write in place of the default.
    pub(super) fn rival(&self) -> Option<(Encoding, &Pages)> {
        match self.state {
            State::Rival(encoding) => Some((encoding, &self.pages)),
            State::Open | State::Over => None,
        }
    }

    pub(super) fn push_empty_page(&mut self) {
        if let State::Rival(_) = self.state {
            self.pages.push_empty(1);
        }
    }

    /// Takes the page that `chunk` has just got, whose body is in `scratch`: its first `head_size` bytes are the same in all
    /// encodings.
    pub(super) fn push_page(
        &mut self,
        head_size: usize,
        values: ValuesRef<'_>,
        field: &Field,
        chunk: &ChunkBuffer,
        scratch: &mut Scratch,
    ) -> Result<()> {
        if let State::Open = self.state {
            self.state = match choose(head_size, values, field, scratch)? {
                Some(encoding) => State::Rival(encoding),
                None => State::Over,
            };
            // The pages before had no value.
            self.pages.push_empty(chunk.pages.count() - 1);
        }
        let State::Rival(encoding) = self.state else {
            return Ok(());
        };
        let Scratch { body, encode, compress, .. } = scratch;
        body.truncate(head_size);
        let is_lossless = encode_lossless(encoding, values, field.data_type, body, encode);
        if is_lossless {
            self.pages.push(&chunk.page_statistics, body, field.compression, compress)?;
        }
        if !is_lossless || self.pages.byte_count() > chunk.pages.byte_count() {
            self.state = State::Over;
            self.pages.clear();
        }
        Ok(())
    }
}

/// The encoding that suits a page best, if that is not the field's own. The body of the page in the latter is in `scratch`.
fn choose(head_size: usize, values: ValuesRef<'_>, field: &Field, scratch: &mut Scratch) -> Result<Option<Encoding>> {
    let Scratch { body, encode, compress: compress_scratch, trial, .. } = scratch;
    let mut size_of = |body: &[u8]| -> Result<usize> {
        trial.clear();
        compress(field.compression, body, trial, compress_scratch)?;
        Ok(trial.len())
    };
    let default_size = size_of(body)?;
    let encodings = lossless_encodings(field.data_type);
    let mut sizes = [usize::MAX; Encoding::ALL.len()];
    for (size, encoding) in sizes.iter_mut().zip(encodings) {
        if *encoding == field.encoding {
            *size = default_size;
            continue;
        }
        body.truncate(head_size);
        if encode_lossless(*encoding, values, field.data_type, body, encode) {
            *size = size_of(body)?;
        }
    }
    let smallest = sizes.iter().fold(default_size, |smallest, size| smallest.min(*size));
    let enough = default_size.min(smallest + smallest / 32);
    let chosen = encodings.iter().zip(sizes).find(|(_, size)| *size <= enough);
    Ok(chosen.map(|(encoding, _)| *encoding).filter(|encoding| *encoding != field.encoding))
}
