//! A recovery with its own connection, for the tests of all recoveries: it takes ACKs and returns the segments
//! released.

use crate::events::{EventLog, SenderEvent};
use crate::loss::rules::Loss;
use crate::sender::core::Core;
use crate::{Ack, Options, Phase, Wire};
use base::{Flags, Span, Time};
use law::{CongestionControl, Control, LawSpec, StartSpec};

/// Segments sent (number, and whether it was a retransmission), and the log of events.
#[derive(Default)]
struct Sent(Vec<(u64, bool)>, EventLog);

impl Wire for Sent {
    fn send(&mut self, _now: Time, seq: u64, flags: Flags) {
        self.0.push((seq, flags.has(Flags::RETRANSMITTED)));
    }

    fn log(&mut self) -> Option<&mut EventLog> {
        Some(&mut self.1)
    }
}

/// A sender of Reno in congestion avoidance, with a window of ten segments that are all outstanding.
pub struct Driven<R> {
    pub core: Core<Control>,
    pub recovery: R,
    now: Time,
    log: EventLog,
}

impl<R: Loss> Driven<R> {
    /// Recovery with a connection of `data_end` segments.
    pub fn new(recovery: R, data_end: u64) -> Self {
        Self::begun(recovery, data_end, &Options::default(), false)
    }

    /// Recovery with a connection that expects duplicates, and undoes reductions.
    pub fn undoing(mut recovery: R) -> Self {
        recovery.expect_reordering();
        Self::begun(recovery, crate::NO_END, &Options::default(), true)
    }

    /// [`Self::undoing`], with timestamps.
    pub fn undoing_by_time(mut recovery: R) -> Self {
        recovery.expect_reordering();
        Self::begun(recovery, crate::NO_END, &Options { timestamps: true, ..Options::default() }, true)
    }

    fn begun(mut recovery: R, data_end: u64, options: &Options, undoes: bool) -> Self {
        let law = LawSpec::named("reno").expect("registered");
        let start = StartSpec::named("classic").expect("registered");
        let control = law.build(&start, 10.0, 2.0).expect("defaults");
        let mut core = Core::new(control, options, data_end, R::USES_DEPARTURES);
        if undoes {
            core.expect_duplicates(true);
        }
        let (now, mut sent) = (Time::ZERO + Span::secs(1), Sent::default());
        core.start(&mut recovery, now, &mut sent);
        assert_eq!(sent.0, (0..data_end.min(10)).map(|seq| (seq, false)).collect::<Vec<_>>());
        Self { core, recovery, now, log: sent.1 }
    }

    /// Takes an ACK `ms` milliseconds after the last event; returns the released segments.
    pub fn ack(&mut self, ms: u64, cum: u64, blocks: &[(u64, u64)]) -> Vec<(u64, bool)> {
        self.take(ms, &Ack::new(cum, blocks, false))
    }

    /// [`Self::ack`] of segments below `cum` that reports `duplicate`, which had arrived before.
    pub fn duplicate(&mut self, ms: u64, cum: u64, duplicate: (u64, u64)) -> Vec<(u64, bool)> {
        let mut ack = Ack::new(cum, &[], false);
        ack.report_duplicate(duplicate);
        self.take(ms, &ack)
    }

    /// [`Self::ack`] that echoes the timestamp of a retransmission.
    pub fn repaired(&mut self, ms: u64, cum: u64) -> Vec<(u64, bool)> {
        let mut ack = Ack::new(cum, &[], false);
        ack.echoes_resent = true;
        self.take(ms, &ack)
    }

    fn take(&mut self, ms: u64, ack: &Ack) -> Vec<(u64, bool)> {
        self.now += Span::millis(ms);
        self.call(|core, recovery, now, sent| core.on_ack(recovery, now, ack, sent))
    }

    /// Takes an ACK for the next `acked` segments as one of a run; returns the released segments.
    pub fn run(&mut self, ms: u64, acked: u32) -> Vec<(u64, bool)> {
        self.now += Span::millis(ms);
        self.call(|core, recovery, now, sent| core.take_plain(recovery, std::iter::once((now, acked)), sent))
    }

    /// Advances to the next timer, whichever it is.
    pub fn time_out(&mut self) -> Vec<(u64, bool)> {
        self.now = self.core.state.timers.deadline();
        self.call(Core::on_timer)
    }

    /// Calls the sender; returns the released segments.
    fn call(&mut self, does: impl FnOnce(&mut Core<Control>, &mut R, Time, &mut Sent)) -> Vec<(u64, bool)> {
        let mut sent = Sent(Vec::new(), std::mem::take(&mut self.log));
        does(&mut self.core, &mut self.recovery, self.now, &mut sent);
        self.log = sent.1;
        sent.0
    }

    /// The log, with events since the last call of [`Self::events`].
    pub fn log(&self) -> Vec<SenderEvent> {
        self.log.events.clone()
    }

    /// Events since the last call: kind, reason, segment, state after it, whole windows before and after it.
    pub fn events(&mut self) -> Vec<String> {
        let text = |event: &SenderEvent| {
            let (kind, reason, state) = (event.kind.name(), event.reason.name(), event.state.name());
            let (before, after) = (event.before.cwnd as u32, event.after.cwnd as u32);
            format!("{kind} {reason} {} {state} {before} {after}", event.segment)
        };
        self.log.events.drain(..).map(|event| text(&event)).collect()
    }

    /// Phase, segments in flight, and whether nothing is suspected.
    pub fn state(&self) -> (Phase, u32, bool) {
        (self.core.state.phase, self.recovery.in_flight(&self.core.state.seq), self.recovery.is_quiet())
    }

    /// Congestion window in whole segments.
    pub fn cwnd(&self) -> u32 {
        self.core.state.control.cwnd() as u32
    }

    /// Segments reported as duplicates, and reductions of recoveries and of timeouts that were undone.
    pub fn spurious(&self) -> (u64, u64, u64) {
        let counts = self.core.spurious().expect("it expects duplicates");
        (counts.duplicates, counts.recoveries, counts.timeouts)
    }

    /// Time until the retransmission timer expires.
    pub fn until_rto(&self) -> Span {
        self.core.state.timers.rto() - self.now
    }
}
