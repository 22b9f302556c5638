//! What is asked of a device: one form for a single list and for several that are merged.

use tsloom_model::{DataType, RowPolicy, TimeRange};

/// A column by id and type; `None` is a column nobody ever wrote.
pub(crate) type Wanted = Option<(u32, DataType)>;

/// What is asked of one list.
#[derive(Clone, Debug)]
pub(crate) struct Request {
    /// In the order of the answer.
    pub(crate) columns: Vec<Wanted>,
    pub(crate) range: TimeRange,
    pub(crate) policy: RowPolicy,
    pub(crate) is_descending: bool,
    pub(crate) offset: u64,
    pub(crate) limit: u64,
}

/// What to read, and of what: see [`DeviceQuery`](crate::DeviceQuery) and [`MergeQuery`](crate::MergeQuery).
#[derive(Clone, Debug)]
pub struct Query<S> {
    pub(crate) source: S,
    pub(crate) request: Request,
}

impl<S> Query<S> {
    /// All rows, ascending.
    pub(crate) fn of(source: S, columns: Vec<Wanted>) -> Self {
        let request = Request {
            columns,
            range: TimeRange::ALL,
            policy: RowPolicy::KeepAllNull,
            is_descending: false,
            offset: 0,
            limit: u64::MAX,
        };
        Self { source, request }
    }

    /// Only times in `range`; all times if never said.
    #[must_use]
    pub fn time(mut self, range: TimeRange) -> Self {
        self.request.range = range;
        self
    }

    /// What becomes of rows whose projected columns are all null; they are kept if never said.
    #[must_use]
    pub fn row_policy(mut self, policy: RowPolicy) -> Self {
        self.request.policy = policy;
        self
    }

    /// From the last time to the first.
    #[must_use]
    pub fn descending(mut self) -> Self {
        self.request.is_descending = true;
        self
    }

    /// Leaves out the first `offset` rows of the answer.
    #[must_use]
    pub fn offset(mut self, offset: u64) -> Self {
        self.request.offset = offset;
        self
    }

    /// At most `limit` rows.
    #[must_use]
    pub fn limit(mut self, limit: u64) -> Self {
        self.request.limit = limit;
        self
    }
}
