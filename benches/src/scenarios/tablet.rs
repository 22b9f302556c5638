//! Tablets and their wire form, both ways. The memory copy beside each copies as many bytes as the wire form has.

use tsloom_model::{ColumnSchema, DataType};
use tsloom_tablet::{Tablet, TabletLayout, TabletView};

use crate::data::{TABLET_ROW_COUNT, time, typed_tablet};
use crate::registry::{Case, Figures, Params, Result, Scenario, Upstream};

pub(super) const SCENARIOS: &[Scenario] = &[
    Scenario::new("tablet/write_into/1024x10", "tablet", |params| write_into(typed(params)?)).params(ROWS).upstream(SERIALIZE),
    Scenario::new("tablet/to_bytes/1024x10", "tablet", to_bytes).params(ROWS).upstream(SERIALIZE),
    Scenario::new("tablet/write_io/1024x10", "tablet", write_io).params(ROWS).upstream(SERIALIZE),
    Scenario::new("tablet/view/1024x10", "tablet", view).params(ROWS),
    Scenario::new("tablet/owned/1024x10", "tablet", owned).params(ROWS),
    Scenario::new("tablet/write_into/fixed64x1024", "tablet", |params| write_into(fixed(params)?))
        .params(&[("columns", 64), ("rows", TABLET_ROW_COUNT as u64)]),
];

const ROWS: &[(&str, u64)] = &[("rows", TABLET_ROW_COUNT as u64)];

/// 3,500 and 38,000 tablets a second, as the pull request says.
const SERIALIZE: Upstream = Upstream {
    source: "apache/tsfile#1101 (Java, Tablet.serialize)",
    before: Figures { allocs: None, bytes: None, ns: Some(285_714) },
    after: Figures { allocs: None, bytes: None, ns: Some(26_316) },
};

fn typed(params: &Params) -> Result<Tablet> {
    typed_tablet(params.count("rows")?)
}

/// INT32 columns only: the byte swap without the walk over text cells.
fn fixed(params: &Params) -> Result<Tablet> {
    let (columns, rows) = (params.count("columns")?, params.count("rows")?);
    let schema = (0..columns).map(|column| ColumnSchema::field(format!("s{column:03}"), DataType::Int32));
    let mut tablet = Tablet::for_device("root.sg.bench", schema.collect());
    tablet.extend_times(&(0..rows).map(time).collect::<Vec<_>>());
    for column in 0..columns {
        let values: Vec<i32> = (0..rows).map(|row| (31 * row + column) as i32).collect();
        tablet.column_mut(column).extend_i32s(&values)?;
    }
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

fn view(params: &Params) -> Result<Case> {
    let wire = typed(params)?.to_bytes();
    let mut layout = TabletLayout::new();
    Ok(Case::new(wire.len(), move || {
        let view = TabletView::parse_with(std::hint::black_box(&wire), &mut layout)?;
        Ok(view.row_count() as u64)
    }))
}

fn owned(params: &Params) -> Result<Case> {
    let mut tablet = typed(params)?;
    let wire = tablet.to_bytes();
    Ok(Case::new(wire.len(), move || {
        tablet.read(std::hint::black_box(&wire))?;
        Ok(tablet.row_count() as u64)
    }))
}
