//! Keeps processors out of idle states during a measurement.
//!
//! Source: sched(7). A processor that sleeps is late for the next packet; a virtual one, which its host must schedule again,
//! by milliseconds. A busy thread keeps its CPU out of idle states. `SCHED_IDLE` is the lowest class within its own group of
//! tasks only: from tasks of other groups without a priority it may take time, from the relay and the senders, which have one,
//! never.

#![expect(unsafe_code, reason = "affinity and scheduling class are calls of the C library")]

use std::sync::atomic::{AtomicBool, Ordering};
use std::thread::{Builder, available_parallelism};

/// On machines with more processors none is kept awake: the power that it takes would slow them all down.
const MAX_CPUS: usize = 16;

/// Does `work` while a thread on each processor of this process spins in the lowest class (`SCHED_IDLE`). No processor is kept
/// awake in a container that has a share of their time, which spinning would use up.
pub fn with_cpus_awake<R>(work: impl FnOnce() -> R) -> R {
    let done = AtomicBool::new(false);
    std::thread::scope(|scope| {
        for cpu in cpus_to_keep_awake() {
            let done = &done;
            // If there is no thread, this processor sleeps as it would have done anyway.
            let _ = Builder::new().name("awake".into()).spawn_scoped(scope, move || {
                // In any other class it would take time from the work.
                if set_lowest_class() && pin_to(cpu) {
                    // Without the processor's hint for such loops, on which a host may take the processor away.
                    while !done.load(Ordering::Relaxed) {}
                }
            });
        }
        let _stop = StopOnDrop(&done);
        work()
    })
}

/// Stops the threads however the work ends.
struct StopOnDrop<'a>(&'a AtomicBool);

impl Drop for StopOnDrop<'_> {
    fn drop(&mut self) {
        self.0.store(true, Ordering::Relaxed);
    }
}

/// The processors that are kept awake.
fn cpus_to_keep_awake() -> Vec<usize> {
    let list = allowed_cpus();
    // What may be used at once, shares of containers included.
    let usable = available_parallelism().map_or(0, usize::from);
    if list.len() <= MAX_CPUS.min(usable) { list } else { Vec::new() }
}

/// The processors that this thread may run on.
fn allowed_cpus() -> Vec<usize> {
    // SAFETY: a set of bits, for which all zeros are a value.
    let mut set: libc::cpu_set_t = unsafe { std::mem::zeroed() };
    // SAFETY: the set outlives the call, which gets its size; 0 is this thread.
    if unsafe { libc::sched_getaffinity(0, size_of_val(&set), &raw mut set) } != 0 {
        return Vec::new();
    }
    // SAFETY: only numbers that the set has room for.
    (0..libc::CPU_SETSIZE as usize).filter(|&cpu| unsafe { libc::CPU_ISSET(cpu, &set) }).collect()
}

/// Puts this thread into the lowest scheduling class. Returns whether the system allowed it.
fn set_lowest_class() -> bool {
    let parameters = libc::sched_param { sched_priority: 0 };
    // SAFETY: parameters that outlive the call; 0 is this thread.
    (unsafe { libc::sched_setscheduler(0, libc::SCHED_IDLE, &raw const parameters) }) == 0
}

/// Keeps this thread on a processor. Returns whether the system allowed it.
fn pin_to(cpu: usize) -> bool {
    // SAFETY: a set of bits, for which all zeros are a value.
    let mut set: libc::cpu_set_t = unsafe { std::mem::zeroed() };
    // SAFETY: a number that came out of such a set.
    unsafe { libc::CPU_SET(cpu, &mut set) };
    // SAFETY: the set outlives the call, which gets its size; 0 is this thread.
    (unsafe { libc::sched_setaffinity(0, size_of_val(&set), &raw const set) }) == 0
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Number of threads of this process that keep a processor awake, all in the lowest class.
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

    /// Whether as many as that are there soon: the system takes its time to start and to end threads.
    fn soon(count: usize) -> bool {
        (0..2000).any(|_| {
            #[expect(clippy::disallowed_methods, reason = "there is nothing else to wait for")]
            std::thread::sleep(std::time::Duration::from_millis(1));
            awake() == count
        })
    }

    #[test]
    fn each_processor_has_a_thread_until_the_work_is_done() {
        if cpus_to_keep_awake().is_empty() {
            eprintln!("skipped: too many processors, or only a share of them");
            return;
        }
        assert!(with_cpus_awake(|| soon(cpus_to_keep_awake().len())));
        assert!(soon(0));
        let panics = std::panic::catch_unwind(|| with_cpus_awake(|| panic!("the work fails")));
        assert!(panics.is_err() && soon(0));
    }
}
