//! Processes items on all cores and writes the results in the order of the items. Each thread holds at most one item
//! and waits to write its result, so that memory stays bounded however fast the input is.

use std::io;
use std::thread;

use parking_lot::{Condvar, Mutex};

/// Threads per core: some wait for their turn to write while others work.
const THREADS_PER_CORE: usize = 3;

struct Output<P> {
    /// Number of the item whose result is written next.
    next: usize,
    write: P,
    error: Option<io::Error>,
}

/// Maps each item with `work` and passes the results to `write`, in order. `work` must not panic.
///
/// # Errors
/// The first error of `write`; later items are not processed.
pub(super) fn in_order<T, R>(
    items: impl Iterator<Item = T> + Send,
    work: impl Fn(T) -> R + Sync,
    write: impl FnMut(R) -> io::Result<()> + Send,
) -> io::Result<()> {
    let cores = thread::available_parallelism().map_or(1, usize::from);
    let input = Mutex::new(items.enumerate());
    let output = Mutex::new(Output {
        next: 0,
        write,
        error: None,
    });
    let next_changed = Condvar::new();
    let worker = || {
        loop {
            let Some((number, item)) = input.lock().next() else {
                return;
            };
            let result = work(item);
            let mut output = output.lock();
            next_changed.wait_while(&mut output, |output| output.next != number);
            if output.error.is_none() {
                output.error = (output.write)(result).err();
            }
            output.next += 1;
            next_changed.notify_all();
            if output.error.is_some() {
                return;
            }
        }
    };
    thread::scope(|scope| {
        for _ in 0..cores * THREADS_PER_CORE {
            scope.spawn(worker);
        }
    });
    let output = output.into_inner();
    output.error.map_or(Ok(()), Err)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn results_have_the_order_of_the_items() {
        let mut results = Vec::new();
        let work = |number: usize| {
            // The first of each ten is the slowest.
            (0..(10 - number % 10) * 1000).fold(number, |sum, step| sum ^ step ^ step)
        };
        in_order(0..500, work, |result| {
            results.push(result);
            Ok(())
        })
        .unwrap();
        assert_eq!(results, (0..500).collect::<Vec<_>>());
    }

    #[test]
    fn a_closed_output_ends_the_work() {
        let mut written = 0;
        let result = in_order(
            0..,
            |number: usize| number,
            |_| {
                written += 1;
                match written {
                    5 => Err(io::ErrorKind::BrokenPipe.into()),
                    _ => Ok(()),
                }
            },
        );
        assert_eq!(result.unwrap_err().kind(), io::ErrorKind::BrokenPipe);
        assert_eq!(written, 5);
    }
}
