//! Largest number of segments that a flow can have outstanding. Packets carry the lower 32 bits of their number, which are
//! unambiguous as long as fewer than 2^31 are outstanding; nothing else in a run is limited to 32 bits.
//!
//! Source: RFC 9293, Section 3.4; RFC 7323, Section 2.3 (TCP windows are limited for the same reason).

use crate::{Group, Scenario, ScenarioError};
use base::{Rate, Span, Stream, Time};
use queue::Limit;
use traffic::{Offer, Sort};
use transport::{MAX_OUTSTANDING, ReceiveWindow, WindowLimits};

/// Refuses `flows[index]` if its flows could have more segments outstanding.
pub(crate) fn check(place: &str, group: &Group, scenario: &Scenario) -> Result<(), ScenarioError> {
    let most = most(group, scenario);
    if most <= f64::from(MAX_OUTSTANDING) {
        return Ok(());
    }
    let reason = format!(
        "a flow could have more segments on their way than can be told apart, {MAX_OUTSTANDING}; set it, or limit the buffers on \
         the flow's path"
    );
    Err(ScenarioError::wrong(format!("{place}.tcp.receive_window"), reason))
}

/// Upper bound of the segments that a flow of `group` has sent but not acknowledged; infinite if nothing limits them.
fn most(group: &Group, scenario: &Scenario) -> f64 {
    if !matches!(group.traffic.sort(), Sort::Transfer | Sort::Application) {
        // Datagrams are not acknowledged, and transfers of sessions have at most 10^9 segments.
        return 0.0;
    }
    let window = match group.tcp.receive_window {
        ReceiveWindow::None => f64::INFINITY,
        ReceiveWindow::Segments(segments) => f64::from(segments),
        ReceiveWindow::Autotuned(tuning) => f64::from(WindowLimits::new(&tuning, group.mss()).max()),
    };
    let chance = || Stream::new(0, 0, ("check", 0), "traffic");
    let data = match group.traffic.offer(&group.site(scenario, 0, Time::ZERO), chance) {
        Ok(Offer::Segments(Some(segments))) => segments as f64,
        _ => f64::INFINITY,
    };
    let initial = f64::from(group.tcp.initial_window);
    window.min(data).min(initial + passed(group, scenario, scenario.duration)).min(held(group, scenario))
}

/// Segments that the narrowest link passes in `time`. A window grows by at most one segment for each that arrives.
fn passed(group: &Group, scenario: &Scenario, time: Span) -> f64 {
    let links = group.path.iter().map(|hop| scenario.links[hop.link].rate.max());
    let narrowest = links.chain(group.access.rate.as_ref().map(base::Values::max)).min().unwrap_or(Rate(0));
    narrowest.bytes_in(time) / group.packet.0 as f64
}

/// Upper bound of the segments in flight: a round trip with all buffers full, as much again when slow start overshoots, and
/// the segments sent until a timeout has repaired the losses, which takes at most three round trips or the smallest
/// timeout.
fn held(group: &Group, scenario: &Scenario) -> f64 {
    let packet = group.packet.0 as f64;
    let links = group.path.iter().map(|hop| match scenario.links[hop.link].buffer {
        Limit::Packets(n) => f64::from(n),
        Limit::Bytes(bytes) => bytes.0 as f64 / packet,
        Limit::Unlimited => f64::INFINITY,
    });
    let own = match (&group.access.rate, group.access.buffer) {
        (None, _) => 0.0,
        (Some(_), Some(packets)) => f64::from(packets.0),
        (Some(_), None) => f64::INFINITY,
    };
    let round_trip = links.sum::<f64>() + own + passed(group, scenario, group.max_rtt(scenario));
    let timeout = (3.0 * round_trip).max(passed(group, scenario, group.tcp.min_rto.max(Span::secs(1))));
    2.0 * round_trip + timeout
}

#[cfg(test)]
mod tests {
    use crate::read;

    /// The error message for a flow over a link with this rate and buffer, in a run of this duration; `flow` has other keys
    /// of the flow.
    fn refused([rate, buffer, duration]: [&str; 3], flow: &str) -> Option<String> {
        let text = format!(
            "duration = \"{duration}\"\n[[links]]\nname = \"l\"\nrate = \"{rate}\"\nbuffer = \"{buffer}\"\n\
             [[flows]]\npath = [\"l\"]\n{flow}\n"
        );
        read(&text).err().map(|error| error.to_string())
    }

    #[test]
    fn a_terabit_for_an_hour_is_no_matter_whatever_the_packets() {
        // With 64 bytes these are 7e12 packets.
        for (packet, rtt) in [(64, "20 ms"), (1500, "200 ms"), (9000, "1 s")] {
            let flow = format!("rtt = \"{rtt}\"\npacket = \"{packet} B\"");
            assert_eq!(refused(["1 Tbit/s", "8000000 packets", "3600 s"], &flow), None, "{packet}");
        }
        assert_eq!(refused(["400 Gbit/s", "1 bdp", "1000000 s"], "rtt = \"100 ms\""), None);
    }

    #[test]
    fn what_the_senders_own_link_does_not_pass_does_not_count() {
        // The link would pass 8.3e9 packets, but the sender can send at most 8.3e5.
        let flow = "rtt = \"100 ms\"\naccess = { rate = \"10 Mbit/s\" }";
        assert_eq!(refused(["100 Gbit/s", "unlimited", "1000 s"], flow), None);
        assert!(refused(["100 Gbit/s", "unlimited", "1000 s"], "rtt = \"100 ms\"").is_some());
    }

    #[test]
    fn a_queue_that_could_hold_more_than_numbers_tell_apart_is_refused_unless_something_else_ends_it() {
        let link = ["100 Gbit/s", "unlimited", "1000 s"];
        let rtt = "rtt = \"100 ms\"\n";
        let said = "flows[0].tcp.receive_window: a flow could have more segments on their way than can be told apart, \
                    2147483647; set it, or limit the buffers on the flow's path";
        assert_eq!(refused(link, rtt).as_deref(), Some(said));
        assert_eq!(refused(["100 Gbit/s", "2000000000 packets", "1000 s"], rtt).as_deref(), Some(said));
        // The access link has a queue of its own.
        let own = format!("{rtt}access = {{ rate = \"50 Gbit/s\" }}");
        assert_eq!(refused(["100 Gbit/s", "1 bdp", "1000 s"], &own).as_deref(), Some(said));
        for ends in [
            "tcp = { receive_window = 1000000000 }",
            "traffic = { kind = \"finite\", size = \"1000 GB\" }",
            "traffic = { kind = \"cbr\", rate = \"90 Gbit/s\" }",
            "traffic = { kind = \"engset\", size = \"1 MB\", think = \"1 s\" }",
        ] {
            assert_eq!(refused(link, &format!("{rtt}{ends}")), None, "{ends}");
        }
        // The link passes fewer than 2^31 packets in 83 s.
        assert_eq!(refused(["100 Gbit/s", "unlimited", "83 s"], rtt), None);
    }
}
