//! Tablets and their wire form, both ways. The memory copy beside each copies as many bytes as the wire form has.

use tsloom_model::{ColumnSchema, DataType, Value};
use tsloom_tablet::{Tablet, TabletLayout, TabletView};

use crate::data::{TABLET_ROW_COUNT, time, typed_tablet};
use crate::registry::{Case, Figures, Params, Result, Scenario, Upstream};

pub(super) const SCENARIOS: &[Scenario] = &[
    Scenario::new("tablet/write_into/1024x10", "tablet", |params| write_into(typed(params)?)).params(ROWS).upstream(SERIALIZE),
    Scenario::new("tablet/to_bytes/1024x10", "tablet", to_bytes).params(ROWS).upstream(SERIALIZE),
    Scenario::new("tablet/write_io/1024x10", "tablet", write_io).params(ROWS).upstream(SERIALIZE),
    Scenario::new("tablet/view/1024x10", "tablet", |params| view(&typed(params)?)).params(ROWS),
    Scenario::new("tablet/view/no_text", "tablet", |params| view(&without_text(params)?)).params(ROWS),
    Scenario::new("tablet/owned/1024x10", "tablet", |params| owned(typed(params)?)).params(ROWS),
    Scenario::new("tablet/owned/no_text", "tablet", |params| owned(without_text(params)?)).params(ROWS),
    Scenario::new("tablet/write_into/fixed64x1024", "tablet", |params| write_into(int32s(params)?)).params(FIXED),
    Scenario::new("tablet/write_into/fixed64x1024_double", "tablet", |params| write_into(doubles(params)?)).params(FIXED),
    Scenario::new("tablet/write_into/sparse3000x64", "tablet", |params| write_into(sparse(params)?))
        .params(&[("columns", 3_000), ("rows", 64)]),
];

const ROWS: &[(&str, u64)] = &[("rows", TABLET_ROW_COUNT as u64)];
const FIXED: &[(&str, u64)] = &[("columns", 64), ("rows", TABLET_ROW_COUNT as u64)];

/// 3,500 and 38,000 tablets a second, as the pull request says.
const SERIALIZE: Upstream = Upstream {
    source: "apache/tsfile#1101 (Java, Tablet.serialize)",
    before: Figures { allocs: None, bytes: None, ns: Some(285_714) },
    after: Figures { allocs: None, bytes: None, ns: Some(26_316) },
};

fn typed(params: &Params) -> Result<Tablet> {
    typed_tablet(params.count("rows")?)
}

/// The same rows without TEXT, STRING and BLOB: a reader that need not walk over cells.
fn without_text(params: &Params) -> Result<Tablet> {
    let all = typed(params)?;
    let kept: Vec<usize> = (0..all.columns().len()).filter(|index| !all.columns()[*index].data_type.is_text()).collect();
    let schema = kept.iter().map(|index| all.columns()[*index].clone()).collect();
    let mut tablet = Tablet::for_device("root.sg.bench", schema);
    tablet.extend_times(all.times());
    for (index, from) in kept.into_iter().enumerate() {
        if let Some(column) = all.column(from) {
            tablet.column_mut(index).extend_from(column)?;
        }
    }
    Ok(tablet)
}

/// INT32 columns only: the byte swap without the walk over text cells.
fn int32s(params: &Params) -> Result<Tablet> {
    fixed(params, DataType::Int32, |column, row| Value::Int32((31 * row + column) as i32))
}

/// DOUBLE columns only: the byte swap, and NaN in its one form.
fn doubles(params: &Params) -> Result<Tablet> {
    fixed(params, DataType::Double, |column, row| Value::Double(0.25 * row as f64 + column as f64))
}

fn fixed(params: &Params, data_type: DataType, value: impl Fn(usize, usize) -> Value<'static>) -> Result<Tablet> {
    let (mut tablet, columns, rows) = (empty(params, data_type)?, params.count("columns")?, params.count("rows")?);
    for column in 0..columns {
        let mut column_mut = tablet.column_mut(column);
        (0..rows).try_for_each(|row| column_mut.push(value(column, row)))?;
    }
    Ok(tablet)
}

/// Many columns of which one was written.
fn sparse(params: &Params) -> Result<Tablet> {
    let (mut tablet, columns, rows) = (empty(params, DataType::Int64)?, params.count("columns")?, params.count("rows")?);
    tablet.column_mut(columns / 2).extend_i64s(&(0..rows).map(|row| 31 * row as i64).collect::<Vec<_>>())?;
    Ok(tablet)
}

fn empty(params: &Params, data_type: DataType) -> Result<Tablet> {
    let (columns, rows) = (params.count("columns")?, params.count("rows")?);
    let schema = (0..columns).map(|column| ColumnSchema::field(format!("s{column:03}"), data_type));
    let mut tablet = Tablet::for_device("root.sg.bench", schema.collect());
    tablet.extend_times(&(0..rows).map(time).collect::<Vec<_>>());
    Ok(tablet)
}

fn write_into(tablet: Tablet) -> Result<Case> {
    let size = tablet.serialized_size();
    let mut out = vec![0_u8; size];
    Ok(Case::new(size, move || Ok(std::hint::black_box(&tablet).write_into(&mut out)? as u64)))
}

fn to_bytes(params: &Params) -> Result<Case> {
    let tablet = typed(params)?;
    Ok(Case::new(tablet.serialized_size(), move || Ok(std::hint::black_box(&tablet).to_bytes().len() as u64)))
}

fn write_io(params: &Params) -> Result<Case> {
    let tablet = typed(params)?;
    let mut out: Vec<u8> = Vec::with_capacity(tablet.serialized_size());
    Ok(Case::new(tablet.serialized_size(), move || {
        out.clear();
        Ok(std::hint::black_box(&tablet).write_io(&mut out)? as u64)
    }))
}

fn view(tablet: &Tablet) -> Result<Case> {
    let wire = tablet.to_bytes();
    let mut layout = TabletLayout::new();
    Ok(Case::new(wire.len(), move || {
        let view = TabletView::parse_with(std::hint::black_box(&wire), &mut layout)?;
        Ok(view.row_count() as u64)
    }))
}

fn owned(mut tablet: Tablet) -> Result<Case> {
    let wire = tablet.to_bytes();
    Ok(Case::new(wire.len(), move || {
        tablet.read(std::hint::black_box(&wire))?;
        Ok(tablet.row_count() as u64)
    }))
}
