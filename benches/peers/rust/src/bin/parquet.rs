//! The peer `parquet`: W1 in a Parquet file, one row group a device, through the column readers and writers of parquet-rs.
//!
//! | case | work |
//! |---|---|
//! | `w1-lz4`, `w1-zstd` | a new file, columns in slices of 1,024 rows, to the sync at the end |
//! | `r1-lz4`, `r1-zstd` | all columns of all rows; the file is opened for each query |
//! | `r2-lz4`, `r2-zstd` | two columns of a thousand rows of each device, found by the page index; opened for each query |
//!
//! Whole numbers are `DELTA_BINARY_PACKED`, doubles `BYTE_STREAM_SPLIT`, the device has a dictionary. The suffix is the compression.

#![forbid(unsafe_code)]

use std::fs::File;
use std::path::{Path, PathBuf};
use std::process::ExitCode;
use std::sync::Arc;

use parquet::basic::{Compression, Encoding, ZstdLevel};
use parquet::column::reader::get_typed_column_reader;
use parquet::data_type::{ByteArray, ByteArrayType, DataType, DoubleType, Int64Type};
use parquet::file::metadata::RowGroupMetaData;
use parquet::file::page_index::column_index::ColumnIndexMetaData;
use parquet::file::properties::{WriterProperties, WriterPropertiesPtr};
use parquet::file::reader::{FileReader, RowGroupReader};
use parquet::file::serialized_reader::{ReadOptionsBuilder, SerializedFileReader};
use parquet::file::writer::{SerializedFileWriter, SerializedRowGroupWriter};
use parquet::schema::parser::parse_message_type;
use parquet::schema::types::ColumnPath;
use tsloom_peers::rules::{W1_TABLET_ROW_COUNT, W1Device};
use tsloom_peers::{FIELDS, Operation, Result, note_file, r2_times, serve, sum, w1};

/// Places of columns in the file: the device, the time, then the fields.
const DEVICE: usize = 0;
const TIME: usize = 1;
const FIRST_FIELD: usize = 2;

fn main() -> ExitCode {
    serve(operation)
}

fn operation(case: &str, folder: &Path) -> Result<Operation> {
    let (work, compression_name) = case.split_once('-').ok_or("expected WORK-COMPRESSION")?;
    let compression = match compression_name {
        "lz4" => Compression::LZ4_RAW,
        "zstd" => Compression::ZSTD(ZstdLevel::default()),
        _ => return Err(format!("no compression {compression_name}").into()),
    };
    let properties = properties(compression);
    let kept = folder.join(format!("w1-{compression_name}.parquet"));
    match work {
        "w1" => {
            let devices = w1();
            let path = folder.join(format!("parquet-written-{}.parquet", std::process::id()));
            Ok(Box::new(move || {
                let row_count = write(&devices, &path, &properties)?;
                note_file(&path)?;
                std::fs::remove_file(&path)?;
                Ok(row_count)
            }))
        }
        "r1" => {
            write_once(&kept, &properties)?;
            Ok(Box::new(move || read_all(&kept)))
        }
        "r2" => {
            write_once(&kept, &properties)?;
            Ok(Box::new(move || read_range(&kept)))
        }
        _ => Err(format!("no case {case}").into()),
    }
}

fn properties(compression: Compression) -> WriterPropertiesPtr {
    let mut builder = WriterProperties::builder().set_compression(compression).set_dictionary_enabled(false);
    builder = builder.set_column_dictionary_enabled(ColumnPath::from("dev"), true);
    for name in ["time"].into_iter().chain(FIELDS) {
        let encoding = if name.starts_with('f') { Encoding::BYTE_STREAM_SPLIT } else { Encoding::DELTA_BINARY_PACKED };
        builder = builder.set_column_encoding(ColumnPath::from(name), encoding);
    }
    Arc::new(builder.build())
}

fn write_once(path: &PathBuf, properties: &WriterPropertiesPtr) -> Result<()> {
    if !path.is_file() {
        // Under another name until it is whole, so that an interrupted run leaves nothing that looks whole.
        let unfinished = path.with_extension(format!("unfinished-{}", std::process::id()));
        write(&w1(), &unfinished, properties)?;
        std::fs::rename(unfinished, path)?;
    }
    note_file(path)
}

fn write(devices: &[W1Device], path: &Path, properties: &WriterPropertiesPtr) -> Result<u64> {
    let columns: String = FIELDS
        .iter()
        .map(|name| format!("required {} {name}; ", if name.starts_with('i') { "int64" } else { "double" }))
        .collect();
    let message = format!("message w1 {{ required binary dev (STRING); required int64 time; {columns} }}");
    let schema = Arc::new(parse_message_type(&message)?);
    let mut writer = SerializedFileWriter::new(File::create(path)?, schema, Arc::clone(properties))?;
    for device in devices {
        let mut group = writer.next_row_group()?;
        let names = vec![ByteArray::from(device.name.as_str()); device.times.len()];
        write_column::<ByteArrayType>(&mut group, &names)?;
        write_column::<Int64Type>(&mut group, &device.times)?;
        for values in &device.ints {
            write_column::<Int64Type>(&mut group, values)?;
        }
        for values in &device.doubles {
            write_column::<DoubleType>(&mut group, values)?;
        }
        group.close()?;
    }
    let metadata = writer.finish()?;
    writer.inner().sync_all()?;
    Ok(u64::try_from(metadata.file_metadata().num_rows())?)
}

fn write_column<T: DataType>(group: &mut SerializedRowGroupWriter<'_, File>, values: &[T::T]) -> Result<()> {
    let mut column = group.next_column()?.ok_or("more columns than the schema has")?;
    for slice in values.chunks(W1_TABLET_ROW_COUNT) {
        column.typed::<T>().write_batch(slice, None, None)?;
    }
    Ok(column.close()?)
}

fn open(path: &Path) -> Result<SerializedFileReader<File>> {
    let options = ReadOptionsBuilder::new().with_page_index().build();
    Ok(SerializedFileReader::new_with_options(File::open(path)?, options)?)
}

fn read_all(path: &Path) -> Result<u64> {
    let file = open(path)?;
    let mut total = 0_u64;
    for index in 0..file.num_row_groups() {
        let group = file.get_row_group(index)?;
        let row_count = usize::try_from(group.metadata().num_rows())?;
        let names = read::<ByteArrayType>(&*group, DEVICE, 0, row_count)?;
        total = total.wrapping_add(sum(names.iter().map(|name| name.len() as u64)));
        for column in TIME..FIRST_FIELD + FIELDS.len() {
            total = total.wrapping_add(column_sum(&*group, column, 0, row_count)?);
        }
    }
    Ok(total)
}

fn read_range(path: &Path) -> Result<u64> {
    let (first_time, last_time) = r2_times();
    let file = open(path)?;
    let mut total = 0_u64;
    for index in 0..file.num_row_groups() {
        let group = file.get_row_group(index)?;
        let (page_start, page_end) = rows_of_pages(&file, index, group.metadata(), first_time, last_time)?;
        let times = read::<Int64Type>(&*group, TIME, page_start, page_end - page_start)?;
        let first = times.partition_point(|time| *time < first_time);
        let count = times.partition_point(|time| *time <= last_time) - first;
        total = total.wrapping_add(sum(times[first..first + count].iter().map(|time| *time as u64)));
        for column in [FIRST_FIELD + 2, FIRST_FIELD + 6] {
            total = total.wrapping_add(column_sum(&*group, column, page_start + first, count)?);
        }
    }
    Ok(total)
}

/// The rows of those pages whose times may lie in the range, as the page index tells.
fn rows_of_pages(
    file: &SerializedFileReader<File>,
    group_index: usize,
    group: &RowGroupMetaData,
    first_time: i64,
    last_time: i64,
) -> Result<(usize, usize)> {
    let page_index = file.metadata().page_index_for_row_group(group_index);
    let (Some(ColumnIndexMetaData::INT64(index)), Some(pages)) = (page_index.column_index(TIME), page_index.page_locations(TIME))
    else {
        return Err("the file has no page index".into());
    };
    let first_page = index.max_values().partition_point(|max| *max < first_time);
    let end_page = index.min_values().partition_point(|min| *min <= last_time);
    let start_of = |page: usize| pages.get(page).map_or(group.num_rows(), |page| page.first_row_index);
    Ok((usize::try_from(start_of(first_page))?, usize::try_from(start_of(end_page))?))
}

/// The sum of a column of numbers.
fn column_sum(group: &dyn RowGroupReader, column: usize, start: usize, count: usize) -> Result<u64> {
    if column < FIRST_FIELD + 5 {
        Ok(sum(read::<Int64Type>(group, column, start, count)?.into_iter().map(|value| value as u64)))
    } else {
        Ok(sum(read::<DoubleType>(group, column, start, count)?.into_iter().map(f64::to_bits)))
    }
}

/// Rows `start..start + count` of a column.
fn read<T: DataType>(group: &dyn RowGroupReader, column: usize, start: usize, count: usize) -> Result<Vec<T::T>> {
    let mut reader = get_typed_column_reader::<T>(group.get_column_reader(column)?);
    reader.skip_records(start)?;
    let mut values = Vec::with_capacity(count);
    while values.len() < count {
        let (record_count, _, _) = reader.read_records(count - values.len(), None, None, &mut values)?;
        if record_count == 0 {
            return Err(format!("column {column} ends after {} rows", start + values.len()).into());
        }
    }
    Ok(values)
}
