//! Progress of a part of a network, and the length of its next window.

use base::{Span, Time};

/// Target number of arrivals per window: many, so that the cost of visiting flows and slots is shared, but few enough
/// for the caches.
pub const ARRIVALS: u64 = 8192;

/// Largest factor by which a window is shortened when flows send much more than a link carries.
const MOST_PARTS: u64 = 16;

/// Progress of a part of the network, and the limits of its windows.
#[derive(Clone, Debug)]
pub struct Course {
    /// Start of the next window: every packet that arrives at a link before this time has been served.
    pub now: Time,
    /// End of the run.
    pub last: Time,
    pub window: Span,
    /// Longest windows allowed, on one thread and on several threads.
    pub windows: [Span; 2],
    /// The element of `windows` that applies now.
    pub longest: Span,
    /// Typical time between arrivals, see [`super::Engine::gap`].
    pub gap: u64,
    /// Whether several threads are faster than one in this part.
    pub threadable: bool,
    /// Whether some of its links share memory.
    pub pooled: bool,
}

impl Course {
    /// Chooses the length of the next window. `arrivals`: the largest number of arrivals at one link in the last
    /// window, which had the length `length`. If flows send much more than the link carries, as when many open at once,
    /// the next windows are shorter, because the arrivals of a window take memory.
    pub fn after(&mut self, length: Span, arrivals: u64) {
        let most = 2 * (self.longest.0 / self.gap).max(ARRIVALS);
        if self.window == self.longest && arrivals <= most {
            return;
        }
        let window = length.0 as f64 * most as f64 / arrivals.max(1) as f64;
        self.window = Span(window as u64).clamp(Span(self.longest.0.div_ceil(MOST_PARTS)), self.longest);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn windows_are_shorter_if_flows_send_more_than_the_link_carries() {
        let longest = Span(40_000_000);
        let mut course = Course {
            now: Time::ZERO,
            last: Time::NEVER,
            window: longest,
            windows: [longest; 2],
            longest,
            gap: 1000,
            threadable: false,
            pooled: false,
        };
        // The link carries 40,000 packets in a window.
        let mut next = |length: u64, arrivals| {
            course.after(Span(length), arrivals);
            course.window.0
        };
        assert_eq!([next(40_000_000, 80_000), next(40_000_000, 160_000)], [40_000_000, 20_000_000]);
        assert_eq!([next(20_000_000, 80_000), next(20_000_000, 10_000_000)], [20_000_000, 2_500_000]);
        // A window without arrivals is followed by the longest one.
        assert_eq!([next(2_500_000, 9_000), next(22_222_222, 0)], [22_222_222, 40_000_000]);
    }
}
