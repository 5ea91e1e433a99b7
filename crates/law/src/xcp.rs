//! XCP at the sender: each packet carries the window and the round-trip time to the routers, and the window changes by the
//! feedback that they write into it. The response to losses is Reno's. The slow start of a scenario is not used.
//!
//! Source: Katabi, Handley and Rohrs 2002, Sections 3.2 and 3.3.
//! Differs from the source: the sender asks for as much as possible while its window limits it, and for nothing
//! otherwise; in the paper the application knows the rate that it wants. If no router on the path implements XCP, the
//! law is Reno. While a loss is repaired, grants raise the window at most to ssthresh, because the narrow link may not
//! be an XCP router, as it always is in the paper.

use crate::{AckSample, CongestionControl, CongestionEvent, Controller, MIN_SSTHRESH, Needs, Signal};
use base::{Card, Header, Need, ParamError, Registered, Span};

base::params! {
    /// Katabi, Handley and Rohrs 2002.
    pub struct Params {
        /// Share of the window given up on loss.
        decrease: f64 = 0.5, "";
    }
}

/// See the [module](self).
#[derive(Clone, Debug)]
pub struct Xcp {
    decrease: f64,
    cwnd: f64,
    ssthresh: f64,
    /// Whether a router has given feedback. Paths do not change, so all later packets get feedback, too.
    answered: bool,
    /// Whether a loss is being repaired.
    repairing: bool,
    /// Whether the window limits the sender, according to the last ACK.
    limited: bool,
}

impl Registered for Xcp {
    type Params = Params;
    const CARD: Card = Card {
        name: "xcp",
        aliases: &["XCP"],
        title: "XCP (explicit control protocol)",
        source: "Katabi, Handley and Rohrs 2002",
        differs: "Asks for nothing while something else than its window holds it back; Reno where no router implements XCP.",
    };
    const NEEDS: &'static [Need] = &[Need::XcpRouter];
    const WITHOUT: &'static str = "reno";
}

impl Controller for Xcp {
    fn new(p: &Params, initial_window: f64) -> Result<Self, ParamError> {
        if p.decrease <= 0.0 || p.decrease >= 1.0 {
            return Err(ParamError::new("decrease", "must lie strictly between 0 and 1"));
        }
        Ok(Self {
            decrease: p.decrease,
            cwnd: initial_window,
            ssthresh: f64::INFINITY,
            answered: false,
            repairing: false,
            limited: true,
        })
    }
}

impl CongestionControl for Xcp {
    fn needs(&self) -> Needs {
        Needs { headers: true, ..Needs::default() }
    }

    /// Section 3.3: cwnd = max(cwnd + feedback, one segment).
    fn on_feedback(&mut self, feedback: f64, limited: bool) {
        self.limited = limited;
        self.answered |= feedback.is_finite();
        // A window that is not fully used must not grow (RFC 7661).
        if feedback < 0.0 || (limited && feedback.is_finite()) {
            let most = if self.repairing { self.ssthresh.max(self.cwnd) } else { f64::INFINITY };
            self.cwnd = (self.cwnd + feedback).clamp(1.0, most);
        }
    }

    fn header(&self, srtt: Span) -> Header {
        // Before the first answer it always asks: only the answer shows whether the path has XCP routers.
        let wish = if self.limited || !self.answered { f32::INFINITY } else { 0.0 };
        Header { rtt: srtt.as_secs() as f32, cwnd: self.cwnd as f32, feedback: wish }
    }

    fn on_ack(&mut self, ack: &AckSample) {
        if self.answered || !ack.cwnd_limited {
            return;
        }
        if self.cwnd < self.ssthresh {
            self.cwnd = (self.cwnd + ack.acked.min(ack.abc_limit)).min(self.ssthresh);
        } else {
            self.cwnd += ack.acked / self.cwnd;
        }
    }

    fn on_congestion(&mut self, event: &CongestionEvent) {
        self.repairing = event.signal != Signal::Ecn;
        self.ssthresh = ((1.0 - self.decrease) * self.cwnd).max(MIN_SSTHRESH);
        self.cwnd = if event.signal == Signal::Timeout { 1.0 } else { self.ssthresh };
    }

    fn on_recovered(&mut self) {
        self.repairing = false;
    }

    fn collapse(&mut self) {
        self.cwnd = 1.0;
    }

    fn cwnd(&self) -> f64 {
        self.cwnd
    }

    fn ssthresh(&self) -> f64 {
        self.ssthresh
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use base::Time;

    fn xcp() -> Xcp {
        Xcp::new(&Params::default(), 10.0).unwrap()
    }

    fn ack(xcp: &mut Xcp, feedback: f64) -> f64 {
        xcp.on_feedback(feedback, true);
        xcp.on_ack(&AckSample::plain(Time::ZERO, Span::millis(100)));
        xcp.cwnd()
    }

    #[test]
    fn the_window_changes_by_the_routers_feedback_but_stays_at_least_one_segment() {
        let mut xcp = xcp();
        assert_eq!(ack(&mut xcp, 0.0), 10.0, "no slow start");
        assert_eq!(ack(&mut xcp, 2.5), 12.5);
        assert_eq!(ack(&mut xcp, -4.0), 8.5);
        assert_eq!(ack(&mut xcp, -20.0), 1.0);
    }

    #[test]
    fn a_header_carries_window_and_rtt_and_requests_unlimited_feedback() {
        let mut xcp = xcp();
        assert_eq!(xcp.header(Span::ZERO), Header { rtt: 0.0, cwnd: 10.0, feedback: f32::INFINITY });
        ack(&mut xcp, 1.0);
        assert_eq!(xcp.header(Span::millis(250)), Header { rtt: 0.25, cwnd: 11.0, feedback: f32::INFINITY });
        // A sender that the application or the receiver limits requests nothing.
        xcp.on_feedback(3.0, false);
        assert_eq!((xcp.cwnd(), xcp.header(Span::millis(250)).feedback), (11.0, 0.0));
        xcp.on_feedback(-3.0, false);
        assert_eq!(xcp.cwnd(), 8.0);
    }

    #[test]
    fn grants_lift_the_window_to_ssthresh_at_most_while_a_loss_is_repaired() {
        let mut xcp = xcp();
        ack(&mut xcp, 0.0);
        xcp.on_congestion(&CongestionEvent::plain(Time::ZERO, Signal::Timeout, Span::millis(100)));
        assert_eq!(ack(&mut xcp, 3.0), 4.0);
        assert_eq!(ack(&mut xcp, 3.0), 5.0, "ssthresh");
        xcp.on_recovered();
        assert_eq!(ack(&mut xcp, 3.0), 8.0);
    }

    #[test]
    fn is_reno_where_no_router_answers() {
        let mut xcp = xcp();
        assert_eq!(ack(&mut xcp, f64::INFINITY), 11.0);
        xcp.on_congestion(&CongestionEvent::plain(Time::ZERO, Signal::Loss, Span::millis(100)));
        assert_eq!((xcp.cwnd(), xcp.ssthresh()), (5.5, 5.5));
        assert_eq!(ack(&mut xcp, f64::INFINITY), 5.5 + 1.0 / 5.5);
        xcp.on_congestion(&CongestionEvent::plain(Time::ZERO, Signal::Timeout, Span::millis(100)));
        assert_eq!(xcp.cwnd(), 1.0);
        assert_eq!(ack(&mut xcp, f64::INFINITY), 2.0);
    }

    #[test]
    fn refuses_invalid_parameters() {
        let error = Xcp::new(&Params { decrease: 1.0 }, 10.0).unwrap_err();
        assert_eq!(error.to_string(), "decrease: must lie strictly between 0 and 1");
    }
}
