//! Pages to a block: 1,024 rows of ten INT32 columns, uncompressed, as Java wrote them and encoded anew.

use tsloom_bitmap::{NullWords, presence, words};
use tsloom_block::{Block, BlockLayout};
use tsloom_codec::{EncodeOptions, EncodeScratch, encode};
use tsloom_file::{ChunkRef, DeviceSeries, FileReader};
use tsloom_model::{
    CompareOp, Compression, DataType, Encoding, FileOffset, Limits, RowFilter, TimeRange, TimeRanges, Values, ValuesRef,
};
use tsloom_page_reader::{ColumnPage, PageBody, PageReader, PageSet, RowRequest, ValuePage};

use crate::data::{FIRST_TIME, TABLET_ROW_COUNT, TIME_STEP, time};
use crate::registry::{Case, Figures, Params, Result, Scenario, Upstream, invalid};

pub(super) const SCENARIOS: &[Scenario] = &[
    Scenario::new("page/plain/1024x10", "page", |_| read(Pages::encoded(Encoding::Plain, None)?, Wanted::default()))
        .upstream(java(172_000, 141_000)),
    Scenario::new("page/ts_2diff/1024x10", "page", |_| read(Pages::of_java()?, Wanted::default()))
        .upstream(java(142_000, 105_000)),
    Scenario::new("page/filtered/1024x10", "page", filtered),
    Scenario::new("page/passing/1024x10", "page", passing),
    Scenario::new("page/deleted/1024x10", "page", deleted),
    Scenario::new("page/nulls/1024x10", "page", nulls),
];

const fn java(before_ns: u64, after_ns: u64) -> Upstream {
    Upstream {
        source: "apache/tsfile#1101 (Java, row batches of an aligned page)",
        before: Figures { allocs: None, bytes: None, ns: Some(before_ns) },
        after: Figures { allocs: None, bytes: None, ns: Some(after_ns) },
    }
}

const FIXTURE: &str = concat!(env!("CARGO_MANIFEST_DIR"), "/../fixtures/java/bench_aligned_1024x10_int32.tsfile");
const COLUMN_COUNT: usize = 10;

/// The bodies of one page set, uncompressed.
struct Pages {
    time: Vec<u8>,
    values: Vec<Vec<u8>>,
    encoding: Encoding,
}

impl Pages {
    /// The pages of the fixture: TS_2DIFF, no nulls.
    fn of_java() -> Result<Self> {
        let reader = FileReader::open(FIXTURE)?;
        let mut cursor = reader.all_devices();
        let mut series = DeviceSeries::default();
        if !cursor.advance(&reader)? {
            return Err(invalid("the fixture has no device".to_owned()));
        }
        cursor.read_series(&reader, &mut series)?;
        let mut bodies = Vec::new();
        let mut bytes = Vec::new();
        for one in series.iter() {
            for chunk in one.chunks() {
                reader.read_range(chunk.offset, reader.body_end() - chunk.offset, &mut bytes)?;
                for page in ChunkRef::parse(&bytes, chunk.offset)?.pages() {
                    bodies.push(page?.body.to_vec());
                }
            }
        }
        let values = bodies.split_off(1);
        match (bodies.pop(), values.len()) {
            (Some(time), COLUMN_COUNT) => Ok(Pages { time, values, encoding: Encoding::Ts2Diff }),
            (_, count) => Err(invalid(format!("the fixture has {count} value pages, expected {COLUMN_COUNT}"))),
        }
    }

    /// The same values in another encoding, without those of the rows marked in `nulls`.
    fn encoded(encoding: Encoding, nulls: Option<NullWords<'_>>) -> Result<Self> {
        let java = Self::of_java()?;
        let mut block = Block::new(&layout());
        fill(&mut PageReader::new(Limits::default()), &mut block, &java, &Wanted::default())?;
        let mut scratch = EncodeScratch::default();
        let values = block.columns().iter().map(|column| {
            let Values::Int32(all) = column.values() else {
                return Err(invalid("the fixture's columns are INT32".to_owned()));
            };
            let is_null = |row: usize| nulls.is_some_and(|nulls| nulls.is_null(row));
            let present: Vec<i32> = (0..all.len()).filter(|row| !is_null(*row)).map(|row| all[row]).collect();
            let mut body = (all.len() as i32).to_be_bytes().to_vec();
            presence::append_from_nulls(nulls, all.len(), &mut body);
            let options = EncodeOptions::default();
            encode(encoding, ValuesRef::Int32(&present), DataType::Int32, options, &mut body, &mut scratch)?;
            Ok(body)
        });
        Ok(Pages { values: values.collect::<Result<_>>()?, time: java.time, encoding })
    }
}

fn layout() -> BlockLayout {
    BlockLayout::new(TABLET_ROW_COUNT, (0..COLUMN_COUNT).map(|column| (format!("s{column}"), DataType::Int32)))
}

fn body(bytes: &[u8], encoding: Encoding) -> PageBody<'_> {
    let uncompressed_size = bytes.len() as u64;
    PageBody { bytes, uncompressed_size, compression: Compression::Uncompressed, encoding, offset: FileOffset::new(0) }
}

/// Which rows and cells of the page set.
struct Wanted {
    times: TimeRange,
    deleted_rows: TimeRanges,
    deleted_cells: TimeRanges,
    filter: Option<RowFilter<usize>>,
}

impl Default for Wanted {
    /// All of them.
    fn default() -> Self {
        Self { times: TimeRange::ALL, deleted_rows: TimeRanges::default(), deleted_cells: TimeRanges::default(), filter: None }
    }
}

/// Decodes one page set into the block.
fn fill(reader: &mut PageReader, block: &mut Block, pages: &Pages, wanted: &Wanted) -> Result<()> {
    let last = time(TABLET_ROW_COUNT - 1);
    let page_of = |bytes| ValuePage { body: body(bytes, pages.encoding), data_type: DataType::Int32 };
    let column_of = |column: usize| ColumnPage { page: Some(page_of(&pages.values[column])), deleted: &wanted.deleted_cells };
    let set = PageSet {
        time: body(&pages.time, Encoding::Ts2Diff),
        row_count: TABLET_ROW_COUNT as u64,
        times: TimeRange { start: FIRST_TIME, end: last },
        columns: &std::array::from_fn::<_, COLUMN_COUNT, _>(column_of),
    };
    let mut request = RowRequest {
        times: wanted.times,
        deleted: &wanted.deleted_rows,
        filter: wanted.filter.as_ref(),
        ..RowRequest::default()
    };
    block.clear();
    reader.read(&set, &mut request, block)?;
    Ok(())
}

fn read(pages: Pages, wanted: Wanted) -> Result<Case> {
    let mut reader = PageReader::new(Limits::default());
    let mut block = Block::new(&layout());
    fill(&mut reader, &mut block, &pages, &wanted)?;
    let payload_size = block.row_count() * (8 + 4 * COLUMN_COUNT);
    Ok(Case::new(payload_size, move || {
        fill(&mut reader, &mut block, &pages, &wanted)?;
        Ok(block.row_count() as u64)
    }))
}

/// The middle half of the rows.
fn filtered(_: &Params) -> Result<Case> {
    let range = TimeRange { start: FIRST_TIME + 256 * TIME_STEP, end: FIRST_TIME + 767 * TIME_STEP };
    read(Pages::of_java()?, Wanted { times: range, ..Wanted::default() })
}

/// Rows 100 to 149 and 600 to 609 were deleted, and cells of every column in rows 300 to 399.
fn deleted(_: &Params) -> Result<Case> {
    let rows = |from: usize, to: usize| TimeRange { start: time(from), end: time(to) };
    let wanted = Wanted {
        deleted_rows: TimeRanges::new([rows(100, 149), rows(600, 609)]),
        deleted_cells: TimeRanges::new([rows(300, 399)]),
        ..Wanted::default()
    };
    read(Pages::of_java()?, wanted)
}

/// The rows whose first column is above the middle of its values: about half, in no order.
fn passing(_: &Params) -> Result<Case> {
    let filter = RowFilter::Compare(0, CompareOp::Gt, 0_i64.into());
    read(Pages::of_java()?, Wanted { filter: Some(filter), ..Wanted::default() })
}

/// Every eighth row is null in every column.
fn nulls(_: &Params) -> Result<Case> {
    let mut marks = vec![0_u64; words::word_count(TABLET_ROW_COUNT)];
    (0..TABLET_ROW_COUNT).step_by(8).for_each(|row| words::set(&mut marks, row));
    read(Pages::encoded(Encoding::Ts2Diff, Some(NullWords::new(&marks, 0, TABLET_ROW_COUNT)))?, Wanted::default())
}
