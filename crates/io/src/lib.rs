//! The only seam to the operating system: positional reads, directories, log files.
