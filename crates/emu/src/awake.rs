//! Keeps the processors out of idle states while something is measured.
//!
//! Source: sched(7). A processor that wakes from an idle state serves the next packet late; a virtual one, which its host must
//! schedule again, by milliseconds. A busy thread on each processor keeps it out of idle states. `SCHED_IDLE` yields to all
//! tasks of its own group, but may take time from tasks of other groups without a priority. The relay and the senders have
//! a priority, so it never takes theirs.

#![expect(unsafe_code, reason = "affinity and scheduling policy are calls of the C library")]

use std::sync::atomic::{AtomicBool, Ordering};
use std::thread::{Builder, available_parallelism};

/// More processors are not kept busy: their clocks would slow down for the power it takes.
const MOST: usize = 16;

/// Does some work while a thread on each processor of this process spins at the lowest priority (`SCHED_IDLE`). No thread
/// spins if a container has only a share of the processors' time, which it would use up.
pub fn kept_awake<R>(work: impl FnOnce() -> R) -> R {
    let done = AtomicBool::new(false);
    std::thread::scope(|scope| {
        for processor in kept() {
            let done = &done;
            // Without the thread this processor is only as late as it would have been.
            let _ = Builder::new().name("awake".into()).spawn_scoped(scope, move || {
                // Otherwise it must not spin: it would take time from the others.
                if comes_last() && stays_on(processor) {
                    // No spin-loop hint: at that a host may deschedule a virtual processor.
                    while !done.load(Ordering::Relaxed) {}
                }
            });
        }
        let _end = End(&done);
        work()
    })
}

/// Ends the spinning, also if the work panics.
struct End<'a>(&'a AtomicBool);

impl Drop for End<'_> {
    fn drop(&mut self) {
        self.0.store(true, Ordering::Relaxed);
    }
}

/// Processors that are kept busy.
fn kept() -> Vec<usize> {
    let list = processors();
    // What may be used at once, shares of containers included.
    let usable = available_parallelism().map_or(0, usize::from);
    if list.len() <= MOST.min(usable) { list } else { Vec::new() }
}

/// Processors that this thread may run on.
fn processors() -> Vec<usize> {
    // SAFETY: a set of bits, for which all zeros are a value.
    let mut set: libc::cpu_set_t = unsafe { std::mem::zeroed() };
    // SAFETY: the set outlives the call, which gets its size; 0 is this thread.
    if unsafe { libc::sched_getaffinity(0, size_of_val(&set), &raw mut set) } != 0 {
        return Vec::new();
    }
    // SAFETY: only numbers that the set has room for.
    (0..libc::CPU_SETSIZE as usize).filter(|&processor| unsafe { libc::CPU_ISSET(processor, &set) }).collect()
}

/// Gives this thread the lowest priority; whether the system allowed it.
fn comes_last() -> bool {
    let parameters = libc::sched_param { sched_priority: 0 };
    // SAFETY: parameters that outlive the call; 0 is this thread.
    (unsafe { libc::sched_setscheduler(0, libc::SCHED_IDLE, &raw const parameters) }) == 0
}

/// Binds this thread to a processor; whether the system allowed it.
fn stays_on(processor: usize) -> bool {
    // SAFETY: a set of bits, for which all zeros are a value.
    let mut set: libc::cpu_set_t = unsafe { std::mem::zeroed() };
    // SAFETY: a number that came out of such a set.
    unsafe { libc::CPU_SET(processor, &mut set) };
    // SAFETY: the set outlives the call, which gets its size; 0 is this thread.
    (unsafe { libc::sched_setaffinity(0, size_of_val(&set), &raw const set) }) == 0
}

#[cfg(test)]
mod tests {
    use super::*;

    /// How many threads of this process keep a processor busy at the lowest priority.
    fn awake() -> usize {
        let list = std::fs::read_dir("/proc/self/task").unwrap().filter_map(Result::ok);
        let named = list.filter(|task| std::fs::read_to_string(task.path().join("comm")).is_ok_and(|n| n == "awake\n"));
        named.filter(|task| policy(task.file_name().to_str().unwrap().parse().unwrap()) == libc::SCHED_IDLE).count()
    }

    /// Policy of a thread.
    fn policy(thread: i32) -> i32 {
        // SAFETY: a number only.
        unsafe { libc::sched_getscheduler(thread) }
    }

    /// Whether that many run within two seconds: the system takes a while to start and to end threads.
    fn soon(count: usize) -> bool {
        (0..2000).any(|_| {
            #[expect(clippy::disallowed_methods, reason = "there is nothing else to wait for")]
            std::thread::sleep(std::time::Duration::from_millis(1));
            awake() == count
        })
    }

    #[test]
    fn each_processor_has_a_thread_until_the_work_is_done() {
        if kept().is_empty() {
            eprintln!("skipped: too many processors, or only a share of them");
            return;
        }
        assert!(kept_awake(|| soon(kept().len())));
        assert!(soon(0));
        let panics = std::panic::catch_unwind(|| kept_awake(|| panic!("the work fails")));
        assert!(panics.is_err() && soon(0));
    }
}
