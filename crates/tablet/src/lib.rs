//! Row batches and their wire form: what a client sends, a log keeps and a memtable takes in.
//!
//! A [`Tablet`] is a batch of rows of one table, or of one device of the tree model: times, and columns of which only those are
//! there that were written. It is sent byte for byte as `Tablet.serialize()` of apache/tsfile (Java) does, from an exactly known
//! size, into the caller's memory. A [`TabletView`] reads such bytes where they lie; [`TabletRef`] sends rows that lie elsewhere.
//!
//! What it is not: a store of rows (that is `memtable`) or a page of a file (`format`, `codec`). Nothing here does I/O beyond
//! `std::io::Write`, and nothing runs in threads.
//!
//! The layout of the bytes stands in `wire.rs`. Start at [`Tablet::push_row`] or [`Tablet::column_mut`] to fill one,
//! [`Tablet::write_to`] to send it, [`TabletView::parse`] to receive it.
//!
//! ```
//! use tsloom_model::{DataType, TableSchema};
//! use tsloom_tablet::{Tablet, TabletView};
//!
//! let table = TableSchema::builder("weather").tag("city").field("temp", DataType::Double).build()?;
//! let mut tablet = Tablet::new(&table);
//! tablet.push_row(1_000, &["Oslo".into(), 3.5.into()])?;
//!
//! let mut buffer = vec![0xaa; 4]; // what was there before stays
//! tablet.write_to(&mut buffer)?;
//! let view = TabletView::parse(&buffer[4..])?;
//! assert_eq!(view.column(0).cell(0), Some(&b"Oslo"[..]));
//! # Ok::<(), tsloom_model::Error>(())
//! ```

mod body;
mod check;
mod column;
mod column_mut;
mod devices;
mod head;
mod insert;
mod layout;
mod order;
mod parse;
mod rows;
mod spare;
mod tablet;
mod view;
mod wire;

pub use column_mut::ColumnMut;
pub use devices::{DeviceRun, Devices};
pub use head::TabletHead;
pub use layout::TabletLayout;
pub use rows::TabletRef;
pub use tablet::Tablet;
pub use view::{TabletView, WireColumn};
