//! The aligned memtable: absence costs nothing, readers never wait.
