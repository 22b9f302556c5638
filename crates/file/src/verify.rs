//! Is a file what it says it is: every page decoded, everything that is said about it checked.
//!
//! The format has no checksums, but says most things twice: counts, times, least and greatest values and sums stand in page headers,
//! in chunk metadata and in series metadata; names and types in chunk headers, in the index and in schemas. A file is sound when all
//! of it agrees with its pages, when every chunk is in the index once, when every byte of the metadata belongs to something, and when
//! the bloom filter knows every series. A value that changed into another within the same bounds and sum cannot be found.

mod claims;
mod compare;

use tsloom_format::{ChunkKind, SeriesType, Statistics};
use tsloom_io::ReadAt;
use tsloom_model::{Error, ErrorKind, FileOffset, Result};

use crate::pages::{PageDecoder, check_rise};
use crate::walk::walk;
use crate::{ChunkRef, FileReader, PageRef, RecoveredChunk, RecoveredGroup, Recovery};
use claims::{ChunkClaim, Claims};
use compare::{Rounding, disagreement};

/// How to verify.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct VerifyOptions {
    /// Findings past this number are only counted.
    pub findings_max: usize,
}

impl Default for VerifyOptions {
    /// A thousand findings.
    fn default() -> Self {
        Self { findings_max: 1000 }
    }
}

/// What kind of thing does not agree.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum FindingKind {
    /// The order of records in the body.
    Structure,
    /// The index, and what it points to.
    Index,
    /// A page that does not decode, or contradicts its chunk.
    Page,
    /// Statistics that are not those of the values.
    Statistics,
    /// The schema of a table.
    Schema,
    /// The bloom filter.
    BloomFilter,
}

impl FindingKind {
    /// One word for reports.
    pub const fn name(self) -> &'static str {
        match self {
            Self::Structure => "structure",
            Self::Index => "index",
            Self::Page => "page",
            Self::Statistics => "statistics",
            Self::Schema => "schema",
            Self::BloomFilter => "bloom_filter",
        }
    }
}

/// One thing that does not agree.
#[derive(Debug)]
pub struct Finding {
    /// Its kind.
    pub kind: FindingKind,
    /// What it is, with offset, column and file.
    pub error: Error,
}

/// What was looked at, and what was found.
#[derive(Debug, Default)]
pub struct Verification {
    /// What does not agree, in the order in which it was found.
    pub findings: Vec<Finding>,
    /// Findings past the greatest number.
    pub findings_left_out: u64,
    /// Devices in the index.
    pub device_count: u64,
    /// Series in the index, the time columns included.
    pub series_count: u64,
    /// Chunks that were read.
    pub chunk_count: u64,
    /// Pages that were decoded.
    pub page_count: u64,
    /// Times of aligned devices that were decoded.
    pub row_count: u64,
    /// Values that were decoded.
    pub value_count: u64,
}

impl Verification {
    /// True when nothing was found.
    pub fn is_sound(&self) -> bool {
        self.findings.is_empty()
    }
}

/// Verifies an open file, whose values are read as its [`ReadOptions`](crate::ReadOptions) say. `progress` hears how many bytes of how many are done.
///
/// # Errors
/// When the file cannot be read at all: what the operating system says, and what goes past the limits. Everything else is a finding.
pub fn verify<R: ReadAt>(
    reader: &FileReader<R>,
    options: VerifyOptions,
    progress: &mut dyn FnMut(u64, u64),
) -> Result<Verification> {
    let recovery = Recovery::of(reader.source(), reader.limits()).map_err(|error| reader.blame(error))?;
    let mut findings = Findings { reader, findings_max: options.findings_max, verification: Verification::default() };
    findings.check_body(&recovery);
    let mut claims = Claims::gather(&mut findings);
    walk(reader, &mut claims);
    let mut claims = claims.finish();
    let mut pages = PageDecoder::new(reader.options());
    let mut bytes = Vec::new();
    for group in &recovery.groups {
        let mut times = GroupTimes::default();
        for chunk in &group.chunks {
            reader.read_range(chunk.offset, chunk.size, &mut bytes)?;
            let claim = claims.take(chunk, group, &mut findings);
            findings.check_chunk(&bytes, chunk, claim, &mut times, &mut pages, &mut claims);
            progress(chunk.offset + chunk.size, reader.body_end());
        }
    }
    claims.check_rest(&mut findings);
    Ok(findings.verification)
}

/// The times of the chunk group at hand, page by page.
#[derive(Default)]
struct GroupTimes {
    pages: Vec<Vec<i64>>,
    /// Those of a page that has its own; nobody asks for them.
    of_page: Vec<i64>,
    is_there: bool,
}

struct Findings<'a, R> {
    reader: &'a FileReader<R>,
    findings_max: usize,
    verification: Verification,
}

impl<R: ReadAt> Findings<'_, R> {
    fn add(&mut self, kind: FindingKind, error: Error) {
        if self.verification.findings.len() < self.findings_max {
            self.verification.findings.push(Finding { kind, error: self.reader.blame(error) });
        } else {
            self.verification.findings_left_out += 1;
        }
    }

    fn say(&mut self, kind: FindingKind, offset: u64, place: &'static str, message: String) {
        self.add(kind, Error::new(ErrorKind::Corrupt, message).at(FileOffset::new(offset)).in_place(place));
    }

    fn check_body(&mut self, recovery: &Recovery) {
        if let Some(error) = &recovery.stopped_by {
            let offset = error.offset().map_or(recovery.whole_size, FileOffset::get);
            self.say(FindingKind::Structure, offset, "body", format!("the walk over the body ends here: {error}"));
        }
        let body_end = self.reader.body_end();
        match recovery.separator {
            Some(separator) if separator == body_end => {}
            Some(separator) => {
                let message = format!("the body ends here, the footer says at {body_end}");
                self.say(FindingKind::Structure, separator, "separator", message);
            }
            None if recovery.stopped_by.is_none() => {
                self.say(FindingKind::Structure, body_end, "separator", "the body has no end".to_owned());
            }
            None => {}
        }
    }

    /// Decodes the pages of a chunk and compares them with what page headers and metadata say.
    fn check_chunk(
        &mut self,
        bytes: &[u8],
        chunk: &RecoveredChunk,
        claim: Option<ChunkClaim>,
        times: &mut GroupTimes,
        pages: &mut PageDecoder,
        claims: &mut Claims,
    ) {
        self.verification.chunk_count += 1;
        let parsed = match ChunkRef::parse(bytes, chunk.offset) {
            Ok(parsed) => parsed,
            Err(error) => return self.add(FindingKind::Structure, error.in_column(&chunk.measurement)),
        };
        let before = self.finding_count();
        match chunk.kind {
            ChunkKind::Time if times.is_there => {
                let message = "a second time chunk in one chunk group".to_owned();
                self.say(FindingKind::Structure, chunk.offset, "chunk group", message);
            }
            ChunkKind::Value if !times.is_there => {
                let message = format!("column {} has no time chunk before it", chunk.measurement);
                return self.say(FindingKind::Structure, chunk.offset, "chunk group", message);
            }
            ChunkKind::Value if chunk.page_count != 0 && chunk.page_count != times.pages.len() => {
                let message = format!("{} pages of values for {} pages of times", chunk.page_count, times.pages.len());
                let error = Error::new(ErrorKind::Corrupt, message).at(FileOffset::new(chunk.offset)).in_place("chunk");
                return self.add(FindingKind::Page, error.in_column(&chunk.measurement));
            }
            _ => {}
        }
        if chunk.kind == ChunkKind::Time {
            times.is_there = true;
            times.pages.clear();
        }
        let rounding = Rounding::of(chunk.series_type, chunk.encoding);
        let mut whole = Statistics::new(chunk.series_type);
        for (index, page) in parsed.pages().enumerate() {
            let Ok(page) = page else { break }; // the walk over the body has read them all
            self.verification.page_count += 1;
            let said = page.statistics.map(|statistics| statistics.count());
            let said = said.or_else(|| claim.as_ref().map(ChunkClaim::count));
            match decode_page(&page, said, index, &parsed, times, pages) {
                Ok(found) => {
                    whole.merge(&found);
                    if let Some(message) = page.statistics.and_then(|said| disagreement(&said, &found, rounding)) {
                        let error = Error::new(ErrorKind::Corrupt, message).at(FileOffset::new(page.offset));
                        self.add(FindingKind::Statistics, error.in_place("page header").in_column(&chunk.measurement));
                    }
                }
                Err(error) => self.add(FindingKind::Page, error.in_column(&chunk.measurement)),
            }
        }
        if chunk.kind == ChunkKind::Time {
            self.verification.row_count += u64::from(whole.count());
        } else {
            self.verification.value_count += u64::from(whole.count());
        }
        // Statistics over pages that did not decode would only repeat it.
        let decoded = self.finding_count() == before;
        if let Some(claim) = claim {
            claims.compare(&claim, chunk, &whole, decoded, self);
        }
    }

    fn finding_count(&self) -> u64 {
        self.verification.findings.len() as u64 + self.verification.findings_left_out
    }

    /// Compares the device, name and type that the index gave a chunk with those in the body.
    fn check_identity(&mut self, claim: &ChunkClaim, chunk: &RecoveredChunk, group: &RecoveredGroup) {
        let mut differs = |what: String| self.say(FindingKind::Index, chunk.offset, "chunk header", what);
        if *claim.device != group.device {
            differs(format!("a chunk of device {}, which the index gives to {}", group.device, claim.device));
        }
        if *claim.measurement != *chunk.measurement {
            differs(format!("a chunk of column {:?}, which the index gives to {:?}", chunk.measurement, claim.measurement));
        }
        if claim.series_type != chunk.series_type {
            let name = |series_type: SeriesType| series_type.data_type().map_or("VECTOR", |data_type| data_type.name());
            differs(format!("a chunk of {}, which the index has as {}", name(chunk.series_type), name(claim.series_type)));
        }
    }
}

/// Statistics of one page, which has `said` rows where that is known. The times of a time page are kept for the value pages
/// behind it.
fn decode_page(
    page: &PageRef<'_>,
    said: Option<u32>,
    index: usize,
    chunk: &ChunkRef<'_>,
    times: &mut GroupTimes,
    pages: &mut PageDecoder,
) -> Result<Statistics> {
    match chunk.header().kind {
        ChunkKind::Time => {
            let mut decoded = Vec::new();
            let outcome = pages.times(page, chunk.header(), said, &mut decoded).and_then(|()| {
                let previous = times.pages.iter().rev().find_map(|page| page.last());
                check_rise(&decoded)?;
                match (previous, decoded.first()) {
                    (Some(last), Some(first)) if last >= first => check_rise(&[*last, *first]),
                    _ => Ok(()),
                }
            });
            let mut statistics = Statistics::new(chunk.header().series_type);
            statistics.add_times(&decoded);
            times.pages.push(decoded);
            outcome.map_err(|error| error.at(FileOffset::new(page.offset)).in_place("time page"))?;
            Ok(statistics)
        }
        ChunkKind::Value => pages.values(page, chunk.header(), times.pages.get(index).map_or(&[], Vec::as_slice)),
        ChunkKind::Plain => {
            times.of_page.clear();
            pages.plain(page, chunk.header(), &mut times.of_page)
        }
    }
}
