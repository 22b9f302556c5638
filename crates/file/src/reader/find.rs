//! Finding one device by its id.

use tsloom_io::ReadAt;
use tsloom_model::{DeviceId, Result};

use super::{DeviceSeries, FileReader};

impl<R: ReadAt> FileReader<R> {
    /// Reads the metadata of all series of one device. False when the file does not have it.
    ///
    /// # Errors
    /// When the index contradicts itself or cannot be read.
    ///
    /// To look up many devices, keep one cursor and [`seek`](super::DeviceCursor::seek) with it: it keeps what it read.
    pub fn find_device(&self, device: &DeviceId, into: &mut DeviceSeries) -> Result<bool> {
        let mut cursor = self.devices(device.table());
        let found = cursor.seek(self, device)?;
        if found {
            cursor.read_series(self, into)?;
        } else {
            into.clear();
        }
        Ok(found)
    }
}
