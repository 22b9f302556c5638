//! Does a value fit its column? Asked once, before anything is changed.

use tsloom_bitmap::NullWords;
use tsloom_encoding::bulk;
use tsloom_model::{DataType, Date, Error, ErrorKind, Result, TextRef, Value, ValuesRef};

use crate::column::Column;

/// Bytes of text that one column of one tablet may hold: lengths on the wire are signed and 32 bits wide.
pub(crate) const TEXT_BYTES_MAX: usize = i32::MAX as usize;

/// Rows of one tablet: their count on the wire is signed and 32 bits wide.
pub(crate) const ROW_COUNT_MAX: usize = i32::MAX as usize;

/// There are no more rows than the wire form can count.
#[inline]
pub(crate) fn row_count(row_count: usize) -> Result<()> {
    if row_count <= ROW_COUNT_MAX { Ok(()) } else { Err(too_many_rows(row_count)) }
}

#[cold]
fn too_many_rows(row_count: usize) -> Error {
    Error::new(ErrorKind::LimitExceeded, format!("a tablet of {row_count} rows; {ROW_COUNT_MAX} are the most"))
}

/// True when the value fits the column for sure: null, or a number of its very form of which any will do.
#[inline]
pub(crate) fn is_plain(data_type: DataType, value: Value<'_>) -> bool {
    match value {
        Value::Null => true,
        Value::Boolean(_) => data_type == DataType::Boolean,
        Value::Int32(_) => data_type == DataType::Int32,
        Value::Int64(_) => matches!(data_type, DataType::Int64 | DataType::Timestamp),
        Value::Float(_) => data_type == DataType::Float,
        Value::Double(_) => data_type == DataType::Double,
        Value::Text(_) => false,
    }
}

/// The value in the form of the column, widened where nothing is lost.
pub(crate) fn value<'v>(column: &Column, name: &str, is_tag: bool, value: Value<'v>) -> Result<Value<'v>> {
    let data_type = column.data_type();
    let Some(value) = value.widen_to(data_type.physical()) else {
        return Err(refuse(name, format!("{value:?} is not a {data_type}")));
    };
    match value {
        Value::Int32(day) if data_type == DataType::Date => date(name, day)?,
        Value::Text(cell) => {
            text_room(column, name, cell.len())?;
            if is_tag {
                tag(name, cell)?;
            }
        }
        _ => {}
    }
    Ok(value)
}

/// All values of a slice that are not null.
pub(crate) fn values(
    column: &Column,
    name: &str,
    is_tag: bool,
    values: ValuesRef<'_>,
    nulls: Option<NullWords<'_>>,
) -> Result<()> {
    form(column.data_type(), name, values)?;
    if let ValuesRef::Text(text) = values {
        text_room(column, name, text.byte_count())?;
    }
    content(column.data_type(), name, is_tag, values, nulls)
}

/// The values lie in memory as the type wants it.
pub(crate) fn form(data_type: DataType, name: &str, values: ValuesRef<'_>) -> Result<()> {
    if values.physical() == data_type.physical() {
        return Ok(());
    }
    Err(refuse(name, format!("{:?} values do not fit a {data_type} column", values.physical())))
}

/// Days are days, tags are UTF-8.
pub(crate) fn content(
    data_type: DataType,
    name: &str,
    is_tag: bool,
    values: ValuesRef<'_>,
    nulls: Option<NullWords<'_>>,
) -> Result<()> {
    let is_null = |row: usize| nulls.is_some_and(|nulls| nulls.is_null(row));
    match values {
        ValuesRef::Int32(days) if data_type == DataType::Date => {
            if bulk::are_dates(days) {
                return Ok(());
            }
            days.iter().enumerate().filter(|(row, _)| !is_null(*row)).try_for_each(|(_, day)| date(name, *day))
        }
        ValuesRef::Text(text) if is_tag => tags(name, text, is_null),
        _ => Ok(()),
    }
}

fn tags(name: &str, text: TextRef<'_>, is_null: impl Fn(usize) -> bool) -> Result<()> {
    text.iter().enumerate().filter(|(row, _)| !is_null(*row)).try_for_each(|(_, cell)| tag(name, cell))
}

fn date(name: &str, day: i32) -> Result<()> {
    match Date::from_yyyymmdd(day) {
        Some(_) => Ok(()),
        None => Err(refuse(name, format!("{day} is not a day between 10000101 and 99991231"))),
    }
}

/// Tags become part of device ids, which are text.
fn tag(name: &str, cell: &[u8]) -> Result<()> {
    match std::str::from_utf8(cell) {
        Ok(_) => Ok(()),
        Err(_) => Err(refuse(name, "a TAG is UTF-8 text".to_owned())),
    }
}

/// So much more text has room in the column.
pub(crate) fn text_room(column: &Column, name: &str, more: usize) -> Result<()> {
    let used = match column.values() {
        Some(ValuesRef::Text(text)) => text.byte_count(),
        _ => 0,
    };
    if more <= TEXT_BYTES_MAX.saturating_sub(used) {
        return Ok(());
    }
    let message = format!("{more} bytes of text after {used} are past the {TEXT_BYTES_MAX} of one tablet");
    Err(Error::new(ErrorKind::LimitExceeded, message).in_column(name))
}

#[cold]
fn refuse(name: &str, message: String) -> Error {
    Error::new(ErrorKind::SchemaMismatch, message).in_column(name)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn more_rows_than_the_wire_can_count_are_refused() {
        row_count(0).unwrap();
        row_count(i32::MAX as usize).unwrap();
        let error = row_count(1 << 31).unwrap_err();
        assert_eq!(error.kind(), ErrorKind::LimitExceeded);
        assert!(error.to_string().contains("2147483648 rows"), "{error}");
    }
}
