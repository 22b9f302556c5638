//! Table scans over files and memtables, one lent block.
