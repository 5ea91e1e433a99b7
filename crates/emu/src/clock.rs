//! The clock of a run, and waiting for an instant. This is the only file of the crate that reads a clock.
//!
//! Source: POSIX `clock_nanosleep`, `ppoll`, `sched_setscheduler`.

#![expect(unsafe_code, reason = "waiting and priorities are calls of the C library")]

use base::{Span, Time};
use std::io;
use std::time::{Duration, Instant};

/// Nanoseconds by which the kernel may delay a wake-up to combine it with other wake-ups: the smallest possible value.
const SLACK_NS: libc::c_ulong = 1;

/// A clock that measures the time since its start.
#[derive(Clone, Copy, Debug)]
pub struct Clock(Instant);

impl Clock {
    /// A clock that starts at zero now.
    #[expect(clippy::disallowed_methods, reason = "real packets arrive in real time")]
    #[must_use]
    pub fn start() -> Self {
        Self(Instant::now())
    }

    /// Time since the start.
    #[must_use]
    pub fn now(&self) -> Time {
        Time::ZERO + Span(u64::try_from(self.0.elapsed().as_nanos()).unwrap_or(u64::MAX / 1000) * 1000)
    }

    /// Sleeps until `time`.
    #[expect(clippy::disallowed_methods, reason = "as above")]
    pub fn sleep_until(&self, time: Time) {
        let left = time.since(self.now());
        if left > Span::ZERO {
            std::thread::sleep(Duration::from_nanos(left.0.div_ceil(1000)));
        }
    }

    /// Sleeps until `time`, or until one of the files is readable.
    ///
    /// # Errors
    /// An error of the operating system.
    pub fn wait_until(&self, time: Time, files: [i32; 2]) -> io::Result<()> {
        let left = Duration::from_nanos(time.since(self.now()).0.div_ceil(1000));
        let limit = libc::timespec {
            tv_sec: left.as_secs().try_into().unwrap_or(libc::time_t::MAX),
            tv_nsec: left.subsec_nanos().into(),
        };
        let mut list = files.map(|fd| libc::pollfd { fd, events: libc::POLLIN, revents: 0 });
        // SAFETY: two entries and a time, all of which outlive the call; no signals are masked.
        let found = unsafe { libc::ppoll(list.as_mut_ptr(), 2, &raw const limit, std::ptr::null()) };
        if found < 0 {
            let error = io::Error::last_os_error();
            return if error.kind() == io::ErrorKind::Interrupted { Ok(()) } else { Err(error) };
        }
        Ok(())
    }
}

/// Gives this thread a real-time priority and precise wake-ups. Returns whether the system allowed it.
#[must_use]
pub fn set_realtime_priority(priority: i32) -> bool {
    // SAFETY: the arguments are only numbers.
    unsafe { libc::prctl(libc::PR_SET_TIMERSLACK, SLACK_NS) };
    let parameters = libc::sched_param { sched_priority: priority };
    // SAFETY: the parameters outlive the call; 0 means this thread.
    (unsafe { libc::sched_setscheduler(0, libc::SCHED_FIFO | libc::SCHED_RESET_ON_FORK, &raw const parameters) }) == 0
}
