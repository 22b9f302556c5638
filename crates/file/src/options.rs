//! How a file is read.

use tsloom_codec::RlbeFloats;
use tsloom_model::Limits;

/// What a caller may choose about reading a file. [`Limits`] alone are options, too.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct ReadOptions {
    /// Bounds that lengths in the file must keep.
    pub limits: Limits,
    /// How columns of FLOAT and DOUBLE in RLBE are read, which no byte of the file tells.
    pub rlbe_floats: RlbeFloats,
}

impl From<Limits> for ReadOptions {
    fn from(limits: Limits) -> Self {
        Self { limits, ..Self::default() }
    }
}
