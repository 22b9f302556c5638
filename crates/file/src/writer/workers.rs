//! The threads that encode the columns of a page: the caller's, and helpers for the time of one page.
//!
//! Columns are taken one by one by whoever is free. Each is encoded whole by one thread and into buffers of its own, so the
//! bytes do not depend on how many threads there are.

use std::sync::Mutex;

use tsloom_codec::compress::{CompressOptions, CompressScratch};
use tsloom_model::Result;

use super::Scratch;

/// Values of a page for which helpers pay; starting one takes as long as encoding some thousand values.
const VALUES_MIN: usize = 20_000;

/// Buffers of each thread.
#[derive(Debug)]
pub(super) struct Workers {
    pub(super) own: Scratch,
    helpers: Vec<Scratch>,
}

impl Workers {
    /// For so many threads, the caller's included.
    pub(super) fn new(threads: usize, options: CompressOptions) -> Self {
        let scratch = || Scratch { compress: CompressScratch::with_options(options), ..Scratch::default() };
        Self { own: scratch(), helpers: std::iter::repeat_with(scratch).take(threads.saturating_sub(1)).collect() }
    }

    /// Values that scaled encodings have changed, in all threads.
    pub(super) fn changed_count(&self) -> u64 {
        self.own.changed_count + self.helpers.iter().map(|helper| helper.changed_count).sum::<u64>()
    }

    /// Does `work` on every item, all of which hold `value_count` values.
    pub(super) fn for_each<T: Send>(
        &mut self,
        value_count: usize,
        mut items: impl Iterator<Item = T> + Send,
        work: impl Fn(T, &mut Scratch) -> Result<()> + Sync,
    ) -> Result<()> {
        let Self { own, helpers } = self;
        if helpers.is_empty() || value_count < VALUES_MIN {
            return items.try_for_each(|item| work(item, own));
        }
        let items = Mutex::new(items);
        let next = || items.lock().expect("the next item is taken without a panic").next();
        let work_on = |scratch: &mut Scratch| -> Result<()> {
            while let Some(item) = next() {
                work(item, scratch)?;
            }
            Ok(())
        };
        std::thread::scope(|scope| {
            let handles: Vec<_> = helpers.iter_mut().map(|scratch| scope.spawn(|| work_on(scratch))).collect();
            let mine = work_on(own);
            handles
                .into_iter()
                .fold(mine, |result, handle| result.and(handle.join().unwrap_or_else(|panic| std::panic::resume_unwind(panic))))
        })
    }
}
