//! What a block must look like to be filled: row budget, column names and types.

use tsloom_model::DataType;

/// One column of a layout.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct BlockColumn {
    /// As the caller knows it.
    pub name: String,
    /// What it holds.
    pub data_type: DataType,
}

/// Row budget and columns of a block.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct BlockLayout {
    /// How many rows the block may hold.
    pub row_budget: usize,
    /// The columns in order.
    pub columns: Vec<BlockColumn>,
}

impl BlockLayout {
    /// A layout of `row_budget` rows with these columns.
    pub fn new<N: Into<String>>(row_budget: usize, columns: impl IntoIterator<Item = (N, DataType)>) -> Self {
        let columns = columns.into_iter().map(|(name, data_type)| BlockColumn { name: name.into(), data_type }).collect();
        Self { row_budget, columns }
    }
}
