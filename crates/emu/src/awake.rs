//! Keeps processors out of idle states during a measurement.
//!
//! Source: sched(7). A processor that sleeps is late for the next packet; a virtual processor is late by milliseconds,
//! because its host must schedule it again. A busy thread keeps its CPU out of idle states. The busy threads have
//! the lowest scheduling class, `SCHED_IDLE`, but this applies only within their own group of tasks. They may take time
//! from normal tasks of other groups, but never from the relay and the senders, which have a real-time priority.

#![expect(unsafe_code, reason = "affinity and scheduling class are calls of the C library")]

use std::sync::atomic::{AtomicBool, Ordering};
use std::thread::{Builder, available_parallelism};

/// On machines with more processors than this, no processor is kept awake, because their power consumption would lower
/// the clock rate of all.
const MAX_CPUS: usize = 16;

/// Runs `work` while a thread on each processor of this process spins in the lowest class (`SCHED_IDLE`). In a
/// container with a CPU quota no processor is kept awake, because spinning would use up the quota.
pub fn with_cpus_awake<R>(work: impl FnOnce() -> R) -> R {
    let done = AtomicBool::new(false);
    std::thread::scope(|scope| {
        for cpu in cpus_to_keep_awake() {
            let done = &done;
            // If the thread cannot be created, this processor is not kept awake.
            let _ = Builder::new().name("awake".into()).spawn_scoped(scope, move || {
                // Spin only in the lowest class; in any other class the thread would take time from `work`.
                if set_lowest_class() && pin_to(cpu) {
                    // There is no spin-loop hint here: a host may take the processor away from a guest that executes
                    // it.
                    while !done.load(Ordering::Relaxed) {}
                }
            });
        }
        let _stop = StopOnDrop(&done);
        work()
    })
}

/// Stops the threads when the work ends, also by a panic.
struct StopOnDrop<'a>(&'a AtomicBool);

impl Drop for StopOnDrop<'_> {
    fn drop(&mut self) {
        self.0.store(true, Ordering::Relaxed);
    }
}

/// The processors to keep awake.
fn cpus_to_keep_awake() -> Vec<usize> {
    let list = allowed_cpus();
    // The number of processors that may be used at once, with the quotas of containers.
    let usable = available_parallelism().map_or(0, usize::from);
    if list.len() <= MAX_CPUS.min(usable) { list } else { Vec::new() }
}

/// The processors that this thread may run on.
fn allowed_cpus() -> Vec<usize> {
    // SAFETY: a bit set, for which all zeros are a valid value.
    let mut set: libc::cpu_set_t = unsafe { std::mem::zeroed() };
    // SAFETY: the set outlives the call, which gets its size; 0 means this thread.
    if unsafe { libc::sched_getaffinity(0, size_of_val(&set), &raw mut set) } != 0 {
        return Vec::new();
    }
    // SAFETY: the numbers are within the size of the set.
    (0..libc::CPU_SETSIZE as usize).filter(|&cpu| unsafe { libc::CPU_ISSET(cpu, &set) }).collect()
}

/// Puts this thread into the lowest scheduling class. Returns whether the system allowed it.
fn set_lowest_class() -> bool {
    let parameters = libc::sched_param { sched_priority: 0 };
    // SAFETY: the parameters outlive the call; 0 means this thread.
    (unsafe { libc::sched_setscheduler(0, libc::SCHED_IDLE, &raw const parameters) }) == 0
}

/// Pins this thread to a processor. Returns whether the system allowed it.
fn pin_to(cpu: usize) -> bool {
    // SAFETY: a bit set, for which all zeros are a valid value.
    let mut set: libc::cpu_set_t = unsafe { std::mem::zeroed() };
    // SAFETY: the number came from such a set.
    unsafe { libc::CPU_SET(cpu, &mut set) };
    // SAFETY: the set outlives the call, which gets its size; 0 means this thread.
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

    /// Scheduling policy of a thread.
    fn policy(thread: i32) -> i32 {
        // SAFETY: the argument is only a number.
        unsafe { libc::sched_getscheduler(thread) }
    }

    /// Waits up to 2 s until `count` threads exist, because the system takes some time to start and end threads.
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
