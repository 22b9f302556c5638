//! What the metadata says about chunks, gathered before the chunks are looked at.

use std::collections::HashMap;
use std::sync::Arc;

use tsloom_encoding::{WirePut, WireReader};
use tsloom_format::{ChunkMeta, IndexNode, SeriesMetadata, SeriesType, Statistics, StatisticsRef};
use tsloom_io::ReadAt;
use tsloom_model::{ColumnCategory, DeviceId, Error, ErrorKind, FileOffset};

use super::compare::{Rounding, disagreement};
use super::{FindingKind, Findings};
use crate::walk::{Place, Visit};
use crate::{RecoveredChunk, RecoveredGroup};

/// What the index says about one chunk.
pub(super) struct ChunkClaim {
    pub(super) device: Arc<DeviceId>,
    pub(super) measurement: Arc<str>,
    pub(super) series_type: SeriesType,
    /// Statistics of the chunk.
    said: Said,
    /// Which series it is of.
    series: usize,
}

impl ChunkClaim {
    /// Values of the chunk, or rows of a time chunk.
    pub(super) fn count(&self) -> u32 {
        self.said.get(self.series_type).count()
    }
}

/// Statistics in wire form.
struct Said(Box<[u8]>);

impl Said {
    fn new(statistics: &StatisticsRef<'_>) -> Self {
        let mut bytes = Vec::with_capacity(5 + statistics.body().len());
        bytes.put_uvar(statistics.count());
        bytes.extend_from_slice(statistics.body());
        Self(bytes.into())
    }

    fn get(&self, series_type: SeriesType) -> StatisticsRef<'_> {
        StatisticsRef::read(&mut WireReader::new(&self.0), series_type).expect("it was read from the file before")
    }
}

/// A series of more than one chunk: what is said about it, and what its chunks have so far.
struct SeriesClaim {
    device: Arc<DeviceId>,
    measurement: Arc<str>,
    offset: u64,
    said: Said,
    found: Statistics,
    rounding: Rounding,
    /// False once a chunk of it was not whole.
    is_sure: bool,
}

/// All of it.
pub(super) struct Claims {
    /// By the offset of the chunk.
    chunks: HashMap<u64, ChunkClaim>,
    series: Vec<SeriesClaim>,
}

/// Gathers claims while the metadata is walked.
pub(super) struct Gathering<'f, 'a, R> {
    claims: Claims,
    findings: &'f mut Findings<'a, R>,
    places: Vec<Place>,
    device: Option<Arc<DeviceId>>,
    last_name: Option<Arc<str>>,
}

impl Claims {
    pub(super) fn gather<'f, 'a, R: ReadAt>(findings: &'f mut Findings<'a, R>) -> Gathering<'f, 'a, R> {
        let claims = Self { chunks: HashMap::new(), series: Vec::new() };
        Gathering { claims, findings, places: Vec::new(), device: None, last_name: None }
    }

    /// The claim of a chunk of the body.
    pub(super) fn take<R: ReadAt>(
        &mut self,
        chunk: &RecoveredChunk,
        group: &RecoveredGroup,
        findings: &mut Findings<'_, R>,
    ) -> Option<ChunkClaim> {
        let Some(claim) = self.chunks.remove(&chunk.offset) else {
            let message = format!("this chunk of {}, column {:?}, is not in the index", group.device, chunk.measurement);
            findings.say(FindingKind::Index, chunk.offset, "chunk", message);
            return None;
        };
        findings.check_identity(&claim, chunk, group);
        (claim.series_type == chunk.series_type).then_some(claim)
    }

    /// Compares what is said about a chunk with the statistics of its values.
    pub(super) fn compare<R: ReadAt>(
        &mut self,
        claim: &ChunkClaim,
        chunk: &RecoveredChunk,
        found: &Statistics,
        is_sure: bool,
        findings: &mut Findings<'_, R>,
    ) {
        let rounding = Rounding::of(chunk.series_type, chunk.encoding);
        if let Some(series) = self.series.get_mut(claim.series) {
            series.is_sure &= is_sure;
            series.found.merge(found);
            if rounding != Rounding::Exact {
                series.rounding = rounding;
            }
        }
        if !is_sure {
            return;
        }
        if let Some(message) = disagreement(&claim.said.get(claim.series_type), found, rounding) {
            let error =
                Error::new(ErrorKind::Corrupt, message).at(FileOffset::new(chunk.offset)).in_place("metadata of the chunk");
            findings.add(FindingKind::Statistics, error.in_column(&chunk.measurement));
        }
    }

    /// What is left when all chunks of the body were seen.
    pub(super) fn check_rest<R: ReadAt>(&mut self, findings: &mut Findings<'_, R>) {
        let mut missing: Vec<(u64, ChunkClaim)> = self.chunks.drain().collect();
        missing.sort_by_key(|(offset, _)| *offset);
        for (offset, claim) in missing {
            if let Some(series) = self.series.get_mut(claim.series) {
                series.is_sure = false;
            }
            let message = format!("no chunk begins here; the index has one of {}, column {:?}", claim.device, claim.measurement);
            findings.say(FindingKind::Index, offset, "chunk", message);
        }
        for series in self.series.drain(..).filter(|series| series.is_sure) {
            let said = series.said.get(series.found.series_type());
            if let Some(message) = disagreement(&said, &series.found, series.rounding) {
                let message = format!("device {}: {message}", series.device);
                let error =
                    Error::new(ErrorKind::Corrupt, message).at(FileOffset::new(series.offset)).in_place("series metadata");
                findings.add(FindingKind::Statistics, error.in_column(&series.measurement));
            }
        }
    }
}

impl<R: ReadAt> Gathering<'_, '_, R> {
    /// The claims, after a look at whether every byte of the metadata area belongs to something.
    pub(super) fn finish(mut self) -> Claims {
        let reader = self.findings.reader;
        self.places.sort_by_key(|place| place.offset);
        let mut end = reader.body_end() + 1;
        for place in &self.places {
            if place.offset != end {
                let (least, what) = if place.offset > end {
                    (end, format!("{} bytes belong to nothing", place.offset - end))
                } else {
                    (place.offset, "these bytes belong to two records".to_owned())
                };
                self.findings.say(FindingKind::Index, least, "metadata", what);
            }
            end = end.max(place.offset + place.size);
        }
        let footer = reader.footer_offset();
        if end < footer {
            self.findings.say(FindingKind::Index, end, "metadata", format!("{} bytes belong to nothing", footer - end));
        }
        self.claims
    }

    fn check_bloom_filter(&mut self, place: Place, device: &DeviceId, name: &str) {
        let Some(filter) = &self.findings.reader.metadata().bloom_filter else { return };
        // C++ keeps null tags at the end of an id, Java drops them; the name in the filter is that of the writer.
        let tag_count = self.findings.reader.metadata().schema(device.table()).map_or(0, tsloom_model::TableSchema::tag_count);
        let mut path = device.to_string();
        let mut is_known = filter.may_contain(format!("{path}.{name}").as_bytes());
        for _ in device.segment_count()..=tag_count {
            path.push_str(".null");
            is_known |= filter.may_contain(format!("{path}.{name}").as_bytes());
        }
        if !is_known {
            let message = format!("the filter does not know {device}.{name}; readers will miss it");
            self.findings.say(FindingKind::BloomFilter, place.offset, "bloom filter", message);
        }
    }

    fn check_schema(&mut self, place: Place, device: &DeviceId, series: &SeriesMetadata<'_>) {
        let Some(table) = self.findings.reader.metadata().schema(device.table()) else { return };
        let SeriesType::Value(data_type) = series.series_type else { return };
        let column = table.columns().iter().find(|column| column.name == series.measurement);
        let message = match column {
            None => format!("table {} has no column {}", table.name(), series.measurement),
            Some(column) if column.category != ColumnCategory::Field => {
                format!("column {} of table {} is a {}, and has values", column.name, table.name(), column.category)
            }
            Some(column) if column.data_type != data_type => {
                format!("column {} of table {} is {}, its values are {data_type}", column.name, table.name(), column.data_type)
            }
            Some(_) => return,
        };
        self.findings.say(FindingKind::Schema, place.offset, "series metadata", message);
    }
}

impl<R: ReadAt> Gathering<'_, '_, R> {
    /// Notes a chunk of the series that comes next.
    fn claim(&mut self, place: Place, device: &Arc<DeviceId>, measurement: &Arc<str>, chunk: &ChunkMeta<'_>) {
        let claim = ChunkClaim {
            device: Arc::clone(device),
            measurement: Arc::clone(measurement),
            series_type: chunk.statistics.series_type(),
            said: Said::new(&chunk.statistics),
            series: self.claims.series.len(),
        };
        if self.claims.chunks.insert(chunk.offset, claim).is_some() {
            let message = format!("the chunk at {} is in the index twice", chunk.offset);
            self.findings.say(FindingKind::Index, place.offset, "series metadata", message);
        }
    }
}

impl<R: ReadAt> Visit for Gathering<'_, '_, R> {
    fn node(&mut self, place: Place, _node: &IndexNode<'_>, _device: Option<&DeviceId>) {
        self.places.push(place);
    }

    fn series(&mut self, place: Place, device: &DeviceId, series: &SeriesMetadata<'_>) {
        self.places.push(place);
        self.findings.verification.series_count += 1;
        let device = match &self.device {
            Some(last) if **last == *device => Arc::clone(last),
            _ => {
                self.findings.verification.device_count += 1;
                self.last_name = None;
                Arc::clone(self.device.insert(Arc::new(device.clone())))
            }
        };
        let measurement: Arc<str> = series.measurement.into();
        if let Some(last) =
            self.last_name.replace(Arc::clone(&measurement)).filter(|last| *last >= measurement && measurement.is_ascii())
        {
            let message = format!("series {measurement} of device {device} comes behind {last}");
            self.findings.say(FindingKind::Index, place.offset, "series metadata", message);
        }
        self.check_bloom_filter(place, &device, &measurement);
        self.check_schema(place, &device, series);
        let mut chunk_count = 0;
        for chunk in series.chunks() {
            match chunk {
                Ok(chunk) => self.claim(place, &device, &measurement, &chunk),
                Err(error) => self.findings.add(FindingKind::Index, error.in_place("series metadata")),
            }
            chunk_count += 1;
        }
        if chunk_count == 0 {
            self.findings.say(FindingKind::Index, place.offset, "series metadata", format!("series {measurement} has no chunk"));
        }
        self.claims.series.push(SeriesClaim {
            device,
            measurement,
            offset: place.offset,
            said: Said::new(&series.statistics),
            found: Statistics::new(series.series_type),
            rounding: Rounding::Exact,
            // What is said about a single chunk is what is said about the series: once is enough.
            is_sure: chunk_count > 1,
        });
    }

    fn problem(&mut self, error: Error) {
        self.findings.add(FindingKind::Index, error);
    }
}
