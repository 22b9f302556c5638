//! Wall and CPU time of a batch of operations.

use std::cell::Cell;
use std::time::{Duration, Instant};

use rustix::time::{ClockId, Timespec, clock_gettime};
use serde::Serialize;

use crate::registry::{Case, Result};

/// A batch of operations and what it took in all.
#[derive(Clone, Copy, Debug, Serialize)]
pub struct Batch {
    /// Operations.
    pub op_count: u64,
    /// Nanoseconds of wall time.
    pub ns: u64,
    /// Nanoseconds of CPU time of all threads of this process.
    pub cpu_ns: u64,
    /// The checksum of the last operation.
    pub checksum: u64,
    /// Bytes that one operation has to move at least once.
    pub payload_bytes: usize,
    /// Bytes of the files that an operation writes or reads, where it does.
    pub file_bytes: Option<u64>,
}

thread_local! {
    /// Nanoseconds of wall and CPU time that are no part of the batch being timed.
    static ASIDE: Cell<(u64, u64)> = const { Cell::new((0, 0)) };
    static FILE_BYTES: Cell<Option<u64>> = const { Cell::new(None) };
}

/// Does what an operation needs now and then but is not: the next list, when one is full. Its time is left out.
pub fn aside<T>(work: impl FnOnce() -> T) -> T {
    let (cpu, wall) = (process_cpu_time(), Instant::now());
    let result = work();
    let (ns, cpu_ns) = ASIDE.get();
    ASIDE.set((ns + nanoseconds(wall.elapsed()), cpu_ns + process_cpu_time() - cpu));
    result
}

/// Notes how large the files are that the scenario at hand writes or reads.
pub fn note_file_bytes(bytes: u64) {
    FILE_BYTES.set(Some(bytes));
}

/// Runs `op_count` operations.
///
/// # Errors
///
/// What an operation meets.
pub fn time(case: &mut Case, op_count: u64) -> Result<Batch> {
    ASIDE.set((0, 0));
    let cpu = process_cpu_time();
    let wall = Instant::now();
    let mut checksum = 0;
    for _ in 0..op_count {
        checksum = std::hint::black_box(case.run()?);
    }
    let (ns, cpu_ns) = (nanoseconds(wall.elapsed()), process_cpu_time() - cpu);
    let (ns_aside, cpu_ns_aside) = ASIDE.get();
    Ok(Batch {
        op_count,
        ns: ns.saturating_sub(ns_aside),
        cpu_ns: cpu_ns.saturating_sub(cpu_ns_aside),
        checksum,
        payload_bytes: case.payload_size,
        file_bytes: FILE_BYTES.get(),
    })
}

/// How many operations take about `batch` of wall time: at least one. Warms the case up on the way.
///
/// # Errors
///
/// What an operation meets.
pub fn calibrate(case: &mut Case, batch: Duration) -> Result<u64> {
    let wanted = nanoseconds(batch).max(1);
    let mut op_count = 1_u64;
    loop {
        let taken = time(case, op_count)?.ns.max(1);
        if taken >= wanted / 4 {
            let scaled = u128::from(op_count) * u128::from(wanted) / u128::from(taken);
            return Ok(u64::try_from(scaled).unwrap_or(u64::MAX).max(1));
        }
        op_count = op_count.saturating_mul(4);
    }
}

/// A case that only copies `size` bytes from one buffer to another: the floor that work on bytes is held against.
pub fn copy_case(size: usize) -> Case {
    let source = vec![0x5A_u8; size];
    let mut target = vec![0_u8; size];
    Case::new(size, move || {
        std::hint::black_box(&mut target[..]).copy_from_slice(std::hint::black_box(&source));
        Ok(0)
    })
}

fn nanoseconds(duration: Duration) -> u64 {
    u64::try_from(duration.as_nanos()).unwrap_or(u64::MAX)
}

fn process_cpu_time() -> u64 {
    let Timespec { tv_sec, tv_nsec } = clock_gettime(ClockId::ProcessCPUTime);
    tv_sec as u64 * 1_000_000_000 + tv_nsec as u64
}

#[cfg(test)]
mod tests {
    use super::{calibrate, copy_case, time};
    use crate::Case;
    use std::time::Duration;

    #[test]
    fn a_batch_is_not_longer_than_asked_for_when_operations_take_their_time() {
        let mut sleeper = Case::new(0, || {
            std::thread::sleep(Duration::from_millis(2));
            Ok(7)
        });
        let op_count = calibrate(&mut sleeper, Duration::from_millis(20)).expect("sleeping does not fail");
        assert!((1..=10).contains(&op_count), "{op_count} operations of at least 2 ms each in 20 ms");
        let batch = time(&mut sleeper, 3).expect("sleeping does not fail");
        assert_eq!((batch.op_count, batch.checksum), (3, 7));
        assert!(batch.ns >= 6_000_000, "{batch:?}");
    }

    #[test]
    fn what_is_aside_takes_no_time() {
        let mut case = Case::new(0, || {
            super::aside(|| std::thread::sleep(Duration::from_millis(20)));
            Ok(0)
        });
        let batch = time(&mut case, 2).expect("sleeping does not fail");
        assert!(batch.ns < 20_000_000, "{batch:?}");
    }

    #[test]
    fn an_operation_longer_than_the_batch_runs_once() {
        let mut slow = Case::new(0, || {
            std::thread::sleep(Duration::from_millis(5));
            Ok(0)
        });
        assert_eq!(calibrate(&mut slow, Duration::from_millis(1)).ok(), Some(1));
        assert_eq!(copy_case(100).payload_size, 100);
    }
}
