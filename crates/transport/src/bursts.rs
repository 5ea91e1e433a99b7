//! Segmentation offload: the size of a burst, and when a sender defers until it can send a larger one.
//!
//! Source: Linux 6.18, `tcp_tso_autosize` (size), `tcp_cwnd_test` (half of the window), `tcp_tso_should_defer`
//! (waiting; before 6.18, and the stable versions of October 2025, a sender waited for an ACK that was up to half of a
//! round trip away).
//! Differs from Linux: segments count, not bytes; nothing waits in the host below TCP (small queues are not modelled), and a
//! retransmission that begins a recovery leaves alone.

use crate::options::Burst;
use base::{Span, Time};

/// `sysctl_tcp_min_tso_segs`.
const LEAST: u32 = 2;

/// Duration of a burst at the pacing rate, about: `sk_pacing_shift` is 10, a second over 1,024.
const LASTS: Span = Span(1_000_000_000_000 / 1024);

/// `sysctl_tcp_tso_rtt_log`: an additional size, at first the device's limit, is halved for every 512 us of the
/// smallest round-trip time.
const RTT_STEP: Span = Span::micros(512);

/// A sender that was idle for longer than this does not defer.
const RECENT: Span = Span::millis(1);

/// Longest time for which the next ACK is waited for; half of a round trip is another limit.
const SOON: Span = Span::millis(1);

/// A burst of a third of the window or more is not deferred: `sysctl_tcp_tso_win_divisor`.
const WIN_DIVISOR: u32 = 3;

/// Payload of a segment if the network does not limit bursts: 1,500 bytes on the wire with timestamps.
const USUAL_MSS: u32 = 1448;

/// Rate in segments per second (1.2 Mbit/s of 1,500 bytes) below which the segments of a law with a rate leave one by
/// one, as in BBR's `min_tso_segs`.
const SLOW: f64 = 100.0;

/// State of the sender when it may begin a burst.
#[derive(Clone, Copy, Debug)]
pub struct Ask {
    pub now: Time,
    /// Segments that the window, or PRR, allows now.
    pub room: u32,
    /// Whether that is the congestion window, and not the receive window (`is_cwnd_limited` or `is_rwnd_limited` of
    /// `tcp_tso_should_defer`).
    pub cwnd_limited: bool,
    pub cwnd: u32,
    /// Whether losses are being repaired.
    pub repairs: bool,
    /// The time of one segment at the pacing rate, if there is one.
    pub interval: Option<Span>,
    /// Whether that is the law's own rate.
    pub own_rate: bool,
    /// Smoothed round-trip time of every ACK.
    pub srtt: Span,
    pub min_rtt: Span,
    /// Time at which the oldest outstanding segment was sent, if there is one.
    pub oldest: Option<Time>,
    /// Time at which the sender last sent or, if later, at which pacing lets it send again.
    pub last: Time,
}

/// Bursts of one sender.
#[derive(Clone, Copy, Debug)]
pub struct Bursts {
    burst: Burst,
    /// Segments of the burst that began last.
    size: u32,
    /// Segments of the burst that have not been sent.
    left: u32,
    /// Start of the burst: segments not sent then do not belong to it.
    began: Time,
    /// Whether the sender waits for the next ACK to send a larger burst, and is limited by the congestion window.
    waits: bool,
}

impl Bursts {
    /// Burst state of a new connection; `None` where segments are sent one by one.
    #[must_use]
    pub fn new(burst: Burst) -> Option<Self> {
        (burst != Burst::None).then_some(Self { burst, size: 1, left: 0, began: Time::ZERO, waits: false })
    }

    /// Whether a burst that began `now` has segments left.
    #[inline]
    #[must_use]
    pub fn goes_on(&self, now: Time) -> bool {
        self.left > 0 && self.began == now
    }

    /// Decides whether a burst may begin when pacing allows it. If not, the sender waits for the next ACK.
    pub fn begin(&mut self, ask: &Ask) -> bool {
        let most = self.most(ask);
        let defers = ask.room < most && Self::defers(ask);
        self.waits = defers && ask.cwnd_limited;
        if defers {
            return false;
        }
        // A burst is at most half of the window.
        self.size = ask.room.min(most).min((ask.cwnd / 2).max(1));
        (self.left, self.began) = (self.size, ask.now);
        true
    }

    /// Notes that a segment is sent. Returns the size of its burst if it is the first one, else none.
    #[inline]
    pub fn on_transmit(&mut self, now: Time) -> Option<u32> {
        if !self.goes_on(now) {
            // A segment outside of a burst: a fast retransmit, a probe.
            return Some(1);
        }
        let first = self.left == self.size;
        self.left -= 1;
        first.then_some(self.size)
    }

    /// Whether the sender has waited for an ACK since the last call, limited by the congestion window, which then
    /// counts as full.
    #[inline]
    pub fn take_waited(&mut self) -> bool {
        std::mem::take(&mut self.waits)
    }

    /// Largest size of a burst in segments.
    fn most(&self, ask: &Ask) -> u32 {
        let device = match self.burst {
            Burst::None => return 1,
            Burst::Segments(segments) => return segments,
            Burst::Linux(device) => device.segments(USUAL_MSS),
        };
        let Some(interval) = ask.interval else { return device };
        let at_rate = (LASTS.0 as f64 / interval.0.max(1) as f64) as u32;
        let near = (ask.min_rtt.0 / RTT_STEP.0).min(31) as u32;
        let slow = ask.own_rate && 1e12 / (interval.0.max(1) as f64) < SLOW;
        at_rate.saturating_add(device.checked_shr(near).unwrap_or(0)).max(if slow { 1 } else { LEAST }).min(device)
    }

    /// Whether a burst that could be longer is deferred to the next ACK.
    fn defers(ask: &Ask) -> bool {
        let Some(oldest) = ask.oldest else { return false };
        // The time until the ACK of the oldest segment is expected; zero if the ACK is overdue.
        let comes_soon = (oldest + ask.srtt).since(ask.now) <= SOON.min(Span(ask.srtt.0 / 2));
        !ask.repairs && ask.now <= ask.last + RECENT && ask.room < ask.cwnd / WIN_DIVISOR && comes_soon
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::options::Device;

    /// A window of 100 segments and a round trip of 40 ms, of which 39 are over for the oldest: the next ACK comes soon.
    fn ask(room: u32) -> Ask {
        Ask {
            now: Time(Span::millis(40).0),
            room,
            cwnd_limited: true,
            cwnd: 100,
            repairs: false,
            interval: Some(Span::micros(50)),
            own_rate: false,
            srtt: Span::millis(40),
            min_rtt: Span::millis(50),
            oldest: Some(Time(Span::millis(1).0)),
            last: Time(Span::millis(40).0),
        }
    }

    fn linux() -> Bursts {
        Bursts::new(Burst::Linux(Device::default())).unwrap()
    }

    #[test]
    fn a_burst_lasts_a_millisecond_at_the_rate() {
        // A second over 1,024 at 50 us each: 19. Nothing of the device's 45 is left after 97 halvings.
        let mut bursts = linux();
        assert_eq!(bursts.most(&ask(50)), 19);
        assert!(bursts.begin(&ask(50)));
        let now = ask(50).now;
        let first: Vec<Option<u32>> = (0..19).map(|_| bursts.on_transmit(now)).collect();
        assert_eq!((first[0], &first[1..]), (Some(19), &[None; 18][..]));
        assert!(!bursts.goes_on(now));
    }

    #[test]
    fn slow_senders_send_two_segments_and_senders_on_short_paths_the_limit_of_the_device() {
        let slow = Ask { interval: Some(Span::millis(20)), ..ask(50) };
        assert_eq!(linux().most(&slow), 2);
        assert_eq!(linux().most(&Ask { own_rate: true, ..slow }), 1, "BBR below 1.2 Mbit/s");
        // Up to 512 us the device's 45; at 1,100 us a quarter of them, 11, and the 19 of the rate.
        assert_eq!(linux().most(&Ask { min_rtt: Span::micros(500), ..ask(50) }), 45);
        assert_eq!(linux().most(&Ask { min_rtt: Span::micros(1_100), ..ask(50) }), 30);
        assert_eq!(linux().most(&Ask { interval: None, ..ask(50) }), 45);
        assert_eq!(linux().most(&Ask { interval: Some(Span::micros(1)), ..ask(50) }), 45);
    }

    #[test]
    fn a_burst_is_at_most_half_of_the_window() {
        let mut bursts = linux();
        assert!(bursts.begin(&Ask { cwnd: 12, ..ask(12) }));
        assert_eq!(bursts.size, 6);
    }

    #[test]
    fn a_short_burst_waits_for_the_next_ack() {
        let mut bursts = linux();
        assert!(!bursts.begin(&ask(18)), "19 would be better");
        assert!(bursts.take_waited() && !bursts.take_waited());
        assert!(bursts.begin(&ask(19)));
        let late = Ask { srtt: Span::millis(30), ..ask(18) };
        assert!(!bursts.begin(&late) && bursts.take_waited(), "an ACK that is due already may come at any moment");
        // Expected in 600 us of 1,000.
        let (near, near_by) = (Span::millis(1), Time(Span::micros(39_600).0));
        for (why, now) in [
            ("a third of the window", Ask { cwnd: 54, ..ask(18) }),
            ("a repair", Ask { repairs: true, ..ask(18) }),
            ("sent more than a millisecond ago", Ask { last: Time(Span::millis(38).0), ..ask(18) }),
            ("the next ACK is far", Ask { oldest: Some(Time(Span::micros(1_001).0)), ..ask(18) }),
            ("half of a near round trip is less", Ask { oldest: Some(near_by), srtt: near, ..ask(18) }),
            ("no ACK will come", Ask { oldest: None, ..ask(18) }),
        ] {
            assert!(bursts.begin(&now) && !bursts.take_waited(), "{why}");
        }
    }

    #[test]
    fn a_burst_fills_64_kib_at_most() {
        // By hand: 65,215 bytes in segments of 1,448, 1,460 and 8,948.
        let segments = |mss| Device::default().segments(mss);
        assert_eq!([1448, 1460, 8948, 48, 100_000].map(segments), [45, 44, 7, 1358, 1]);
        assert_eq!(Device { max_segments: Some(128) }.segments(1448), 128);
    }

    #[test]
    fn waiting_behind_the_receive_window_does_not_count_as_a_full_congestion_window() {
        let mut bursts = linux();
        assert!(!bursts.begin(&Ask { cwnd_limited: false, ..ask(18) }));
        assert!(!bursts.take_waited());
    }

    #[test]
    fn a_segment_that_is_sent_later_does_not_belong_to_the_burst() {
        let mut bursts = Bursts::new(Burst::Segments(5)).unwrap();
        assert!(bursts.begin(&ask(9)));
        let now = ask(9).now;
        bursts.on_transmit(now);
        assert!(bursts.goes_on(now) && !bursts.goes_on(now + Span(1)));
        assert_eq!(bursts.on_transmit(now + Span(1)), Some(1));
    }
}
