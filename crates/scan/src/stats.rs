//! What a scan did: the numbers that tests and people judge it by.

/// Counters of one scan, from its opening on.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct ScanStats {
    /// Blocks that were built to be lent; one, unless blocks were taken.
    pub block_builds: u64,
    /// Reads from files, after their footers.
    pub reads: u64,
    /// Bytes of those reads.
    pub bytes_read: u64,
    /// Pages decoded, time pages included.
    pub pages_decoded: u64,
    /// Pages passed over by their statistics, time pages included. Pages of chunks that were not even read are not counted.
    pub pages_pruned: u64,
    /// Chunk groups passed over because the statistics of their values rule them out.
    pub groups_pruned: u64,
    /// Devices that gave a row; one that was read in several passes (slices of time) is counted in each.
    pub devices: u64,
    /// Rows given.
    pub rows: u64,
}

impl ScanStats {
    /// Adds what a worker did; its rows are counted where they are given.
    pub(crate) fn add(&mut self, worker: &Self) {
        self.block_builds += worker.block_builds;
        self.reads += worker.reads;
        self.bytes_read += worker.bytes_read;
        self.pages_decoded += worker.pages_decoded;
        self.pages_pruned += worker.pages_pruned;
        self.groups_pruned += worker.groups_pruned;
        self.devices += worker.devices;
    }
}
