//! A line and an exit status where memory ends, instead of an abort: for command lines, whose process is their own.
//!
//! An allocation that the system refuses ends the process: the standard library says how large it was and aborts, and no stable
//! function decides otherwise. What can be known before a run is refused before it (`elephan.estimate`).

#![expect(unsafe_code, reason = "signals are calls of the C library")]

use pyo3::prelude::*;

/// Exit status of a defect (`elephan.cli`): it is not known what gave up.
const STATUS: libc::c_int = 70;

const LINE: &[u8] =
    b"elephan: aborted, as a rule because the system refuses more memory (the line above says what was asked for); \
give a shorter or smaller scenario or fewer --workers: elephan estimate says what a run takes\n";

extern "C" fn end(_signal: libc::c_int) {
    // SAFETY: both calls may be made in a handler, and the line outlives them.
    unsafe {
        libc::write(libc::STDERR_FILENO, LINE.as_ptr().cast(), LINE.len());
        libc::_exit(STATUS);
    }
}

/// Lets an abort of this process end it with a line and exit status 70. Does nothing where something else handles aborts.
#[pyfunction]
pub fn say_where_memory_ends() {
    // SAFETY: both structures are plain data for which zeros mean nothing special, and `end` only makes calls that handlers may make.
    unsafe {
        let mut now: libc::sigaction = std::mem::zeroed();
        if libc::sigaction(libc::SIGABRT, std::ptr::null(), &raw mut now) == 0 && now.sa_sigaction == libc::SIG_DFL {
            let mut ours: libc::sigaction = std::mem::zeroed();
            ours.sa_sigaction = end as extern "C" fn(libc::c_int) as libc::sighandler_t;
            libc::sigaction(libc::SIGABRT, &raw const ours, std::ptr::null_mut());
        }
    }
}
