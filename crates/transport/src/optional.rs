//! Optional state that a control or a key needs: delivery rates, headers, pacing, bursts, validation of the window.
//! A plain sender has none of it and does not pay for it. Large parts are in boxes of their own.

use crate::autotuning::WindowLimits;
use crate::deliveries::Deliveries;
use crate::pacing::Pacer;
use crate::sequence::SequenceSpace;
use crate::state::SenderState;
use crate::validation::Validation;
use crate::{Ack, Options};
use base::{Header, Span, Time};
use law::{CongestionControl, Needs};

/// See the [module](self).
#[derive(Clone, Debug)]
pub struct OptionalState {
    deliveries: Option<Box<Deliveries>>,
    pacer: Option<Box<Pacer>>,
    headers: bool,
    /// Limits of the receiver's window until it has grown to its maximum.
    window: Option<WindowLimits>,
    /// Whether ACKs carry more than sequence numbers: headers, windows.
    reads_acks: bool,
    validation: Option<Box<Validation>>,
    /// Largest number of segments by which one ACK grows the window in slow start.
    abc_limit: f64,
}

/// Optional state that a run of ACKs of a paced sender uses.
pub struct PacedParts<'a> {
    pub deliveries: Option<&'a mut Deliveries>,
    pub pacer: &'a mut Pacer,
}

impl OptionalState {
    /// Optional state for a control and its options, if they need any. `names_rate` says that the control sets a pacing rate.
    #[must_use]
    pub fn new(needs: Needs, options: &Options, names_rate: bool) -> Option<Box<Self>> {
        let pacer = Pacer::new(options.pacing, options.burst, names_rate);
        // No limit and the default limit are kept in `Switches` and need no optional state.
        let other_limit = options.abc_limit.is_some() && options.abc_limit != Options::default().abc_limit;
        if !(needs.deliveries || needs.headers || pacer.is_some() || other_limit) {
            return None;
        }
        Some(Box::new(Self {
            deliveries: needs.deliveries.then(Box::default),
            pacer: pacer.map(Box::new),
            headers: needs.headers,
            reads_acks: needs.headers,
            ..Self::none(options)
        }))
    }

    /// State with no optional part.
    #[must_use]
    pub fn none(options: &Options) -> Self {
        Self {
            deliveries: None,
            pacer: None,
            headers: false,
            window: None,
            reads_acks: false,
            validation: None,
            abc_limit: options.abc_limit.map_or(f64::INFINITY, f64::from),
        }
    }

    /// Enables window validation.
    pub fn validate(&mut self, validation: Validation) {
        self.validation = Some(Box::new(validation));
    }

    /// Whether the window is validated.
    #[inline]
    #[must_use]
    pub fn validates(&self) -> bool {
        self.validation.is_some()
    }

    /// Window validation, for a sender whose application may write too little to fill the window.
    #[inline]
    pub fn validation(&mut self) -> Option<&mut Validation> {
        self.validation.as_deref_mut()
    }

    /// Sets the number of the first segment to `first`.
    pub fn begin_at(&mut self, first: u64) {
        if let Some(deliveries) = &mut self.deliveries {
            deliveries.begin_at(first);
        }
        if let Some(pacer) = &mut self.pacer {
            pacer.begin_at(first);
        }
    }

    /// Whether this state lets ACKs be taken in runs.
    #[inline]
    #[must_use]
    pub fn allows_runs(&self) -> bool {
        !self.reads_acks && self.deliveries.is_none() && self.pacer.is_none() && self.validation.is_none()
    }

    /// Whether this state lets paced segments be sent, and their ACKs be taken, in runs.
    #[inline]
    #[must_use]
    pub fn allows_pace(&self) -> bool {
        !self.reads_acks
            && self.validation.is_none()
            && self.pacer.as_deref().is_some_and(|pacer| !pacer.makes_bursts())
    }

    /// Whether this state lets ACKs in a recovery be taken in runs.
    #[inline]
    #[must_use]
    pub fn allows_repairs(&self) -> bool {
        !self.reads_acks && self.validation.is_none() && !self.pacer.as_deref().is_some_and(Pacer::makes_bursts)
    }

    /// Notes that the next new segment is sent, with `in_flight` segments in flight before it, for a sender that
    /// [`Self::allows_repairs`].
    #[inline(always)]
    #[expect(clippy::inline_always, reason = "for every segment that leaves in a short way")]
    pub fn on_new_segment<C: CongestionControl>(&mut self, now: Time, in_flight: u32, state: &SenderState<C>) {
        if let Some(deliveries) = &mut self.deliveries {
            deliveries.sent_next(now, in_flight);
        }
        if let Some(pacer) = &mut self.pacer {
            let interval = pacer.interval(&state.control, &state.seq);
            pacer.pace().on_transmit(now, interval, || state.control.burst());
        }
    }

    /// Largest number of segments by which one ACK grows the window in slow start.
    #[inline]
    #[must_use]
    pub fn abc_limit(&self) -> f64 {
        self.abc_limit
    }

    /// Whether the sender needs the transmission times of segments for it.
    #[must_use]
    pub fn asks_departures(&self) -> bool {
        self.pacer.as_deref().is_some_and(Pacer::asks_departures)
    }

    /// Whether segments are spaced.
    #[inline]
    #[must_use]
    pub fn spaces(&self) -> bool {
        self.pacer.as_deref().is_some_and(Pacer::spaces)
    }

    /// Whether the control wants to know of deliveries.
    #[inline]
    #[must_use]
    pub fn counts_deliveries(&self) -> bool {
        self.deliveries.is_some()
    }

    /// Takes the round-trip time of an ACK.
    #[inline]
    pub fn on_rtt(&mut self, rtt: Span) {
        if let Some(pacer) = &mut self.pacer {
            pacer.on_rtt(rtt);
        }
    }

    /// Delivery-rate estimator, if the control wants rates.
    #[inline]
    pub fn deliveries(&mut self) -> Option<&mut Deliveries> {
        self.deliveries.as_deref_mut()
    }

    /// Delivery rate in segments per second, if the control wants rates and there was a sample.
    #[must_use]
    pub fn delivery_rate(&self) -> Option<f64> {
        self.deliveries.as_deref()?.rate()
    }

    /// Rate in segments per second at which segments are spaced, or from which the sizes of bursts follow.
    #[must_use]
    pub fn pacing_rate(&self, control: &impl CongestionControl, numbers: &SequenceSpace) -> Option<f64> {
        self.pacer.as_deref()?.rate(control, numbers)
    }

    /// Pacer, if the sender has one.
    #[inline]
    pub fn pacer(&mut self) -> Option<&mut Pacer> {
        self.pacer.as_deref_mut()
    }

    /// Optional state that a run of ACKs of a paced sender uses.
    #[inline]
    pub fn paced_parts(&mut self) -> Option<PacedParts<'_>> {
        Some(PacedParts { deliveries: self.deliveries.as_deref_mut(), pacer: self.pacer.as_deref_mut()? })
    }

    /// Whether the window counts as full although it is not; `waits` says whether a segment waits for its pacing time.
    #[inline]
    #[must_use]
    pub fn counts_as_full(&self, control: &impl CongestionControl, waits: bool) -> bool {
        self.pacer.as_ref().is_some_and(|pacer| pacer.counts_as_full(control, waits))
            || self
                .validation
                .as_ref()
                .is_some_and(|validation| validation.counts_as_full(control.cwnd(), control.ssthresh()))
    }

    /// Uses the limits within which the receiver tunes its window.
    pub fn follow_window(&mut self, limits: WindowLimits) {
        (self.window, self.reads_acks) = (Some(limits), true);
    }

    /// Reads the headers of an ACK and its receive window, which includes the bit that data echoes.
    #[inline(never)]
    fn read_ack<C: CongestionControl>(&mut self, ack: &Ack, limited: bool, state: &mut SenderState<C>) {
        if self.headers {
            state.control.on_feedback(f64::from(ack.feedback), limited);
        }
        let Some(limits) = self.window else { return };
        state.receive_window = state.receive_window.max(limits.read(ack.tuning));
        let done = state.receive_window == limits.max();
        state.ecn.set_echo(!done && WindowLimits::timestamp(ack.tuning));
        if done {
            // The window does not change any more, so ACKs may be taken in runs.
            (self.window, self.reads_acks) = (None, self.headers);
        }
    }

    /// Processes the rest of an ACK at `now`: its headers and window, and its deliveries. `limited` says whether the window
    /// limited the sender.
    pub fn on_ack<C: CongestionControl>(&mut self, now: Time, ack: &Ack, limited: bool, state: &mut SenderState<C>) {
        if self.reads_acks {
            self.read_ack(ack, limited, state);
        }
        if let Some(deliveries) = &mut self.deliveries {
            deliveries.advance(ack.cum, now);
        }
    }

    /// Notes that segment `seq` is sent, with `in_flight` segments in flight after it. Returns its header, if it has one.
    pub fn on_transmit<C: CongestionControl>(
        &mut self,
        now: Time,
        seq: u64,
        in_flight: u32,
        state: &SenderState<C>,
    ) -> Option<Header> {
        if let Some(validation) = &mut self.validation {
            validation.on_transmit(now);
        }
        if let Some(deliveries) = &mut self.deliveries {
            deliveries.sent(seq, now, in_flight.saturating_sub(1));
        }
        if let Some(pacer) = &mut self.pacer {
            let interval = pacer.interval(&state.control, &state.seq);
            pacer.on_transmit(now, interval, || state.control.burst());
        }
        self.headers.then(|| state.control.header(state.rtt.srtt()))
    }
}
