//! A bar on standard error while long work runs, on a terminal only.

use std::io::{self, IsTerminal, Write};
use std::time::{Duration, Instant};

const BAR_WIDTH: u64 = 40;
const PAUSE: Duration = Duration::from_millis(100);

/// The bar; it goes away when it is dropped.
pub(crate) struct Progress {
    /// `None` where nobody would see it.
    next: Option<Instant>,
    is_drawn: bool,
}

impl Progress {
    /// A bar that shows itself when the work takes a while.
    pub(crate) fn new() -> Self {
        Self { next: io::stderr().is_terminal().then(|| Instant::now() + PAUSE), is_drawn: false }
    }

    /// So much of so much is done.
    pub(crate) fn show(&mut self, done: u64, total: u64) {
        let now = Instant::now();
        if self.next.is_some_and(|next| now >= next) {
            self.next = Some(now + PAUSE);
            self.is_drawn = true;
            eprint!("\r{}", bar(done, total));
            let _ = io::stderr().flush();
        }
    }
}

impl Drop for Progress {
    fn drop(&mut self) {
        if self.is_drawn {
            eprint!("\r\x1b[K");
        }
    }
}

fn bar(done: u64, total: u64) -> String {
    let share = (done.min(total) as f64 / total.max(1) as f64).min(1.0);
    let filled = (share * BAR_WIDTH as f64) as usize;
    format!("[{}{}] {:3.0} %", "#".repeat(filled), "-".repeat(BAR_WIDTH as usize - filled), share * 100.0)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_bar_fills() {
        assert_eq!(bar(0, 10), format!("[{}]   0 %", "-".repeat(40)));
        assert_eq!(bar(5, 10), format!("[{}{}]  50 %", "#".repeat(20), "-".repeat(20)));
        assert_eq!(bar(11, 10), format!("[{}] 100 %", "#".repeat(40)));
        assert_eq!(bar(0, 0), format!("[{}]   0 %", "-".repeat(40)));
    }
}
