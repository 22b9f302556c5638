//! TsFile writer and reader.
