//! What a device of the tree model looks like: its measurements, and whether they share their times.

use crate::{ColumnSchema, DeviceId, Error, ErrorKind, Result, TableSchema};

/// A device of the tree model.
///
/// ```
/// use tsloom_model::{ColumnSchema, DataType, DeviceSchema};
/// let device = DeviceSchema::aligned("root.sg.d1", vec![ColumnSchema::field("temp", DataType::Double)])?;
/// assert_eq!((device.device().table(), device.columns().len()), ("root.sg", 1));
/// # Ok::<(), tsloom_model::Error>(())
/// ```
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct DeviceSchema {
    device: DeviceId,
    is_aligned: bool,
    /// Its columns, as a table of no name.
    columns: TableSchema,
}

impl DeviceSchema {
    /// A device whose measurements share one time column.
    ///
    /// # Errors
    /// [`ErrorKind::SchemaMismatch`] for a measurement without a name or with that of another, and for an encoding that does not
    /// fit its type.
    pub fn aligned(path: &str, columns: Vec<ColumnSchema>) -> Result<Self> {
        Self::new(DeviceId::from_path(path), true, columns)
    }

    /// A device whose measurements have times of their own.
    ///
    /// # Errors
    /// As [`aligned`](Self::aligned).
    pub fn not_aligned(path: &str, columns: Vec<ColumnSchema>) -> Result<Self> {
        Self::new(DeviceId::from_path(path), false, columns)
    }

    /// The same from an id. Names keep their case: that is the tree model's rule.
    ///
    /// # Errors
    /// As [`aligned`](Self::aligned).
    pub fn new(device: DeviceId, is_aligned: bool, columns: Vec<ColumnSchema>) -> Result<Self> {
        if columns.iter().any(|column| column.name.is_empty()) {
            return Err(Error::new(ErrorKind::SchemaMismatch, format!("device {device}: a measurement needs a name")));
        }
        Ok(Self { device, is_aligned, columns: TableSchema::from_stored("", columns)? })
    }

    /// Whose measurements they are.
    pub fn device(&self) -> &DeviceId {
        &self.device
    }

    /// True when they share one time column.
    pub fn is_aligned(&self) -> bool {
        self.is_aligned
    }

    /// The measurements.
    pub fn columns(&self) -> &[ColumnSchema] {
        self.columns.columns()
    }

    /// The measurements as the FIELDs of a table of no name.
    pub fn as_table(&self) -> &TableSchema {
        &self.columns
    }
}
