//! From what is left of the senders when a run is over to the results of flows and groups, the same for both engines.

use crate::meter::Tally;
use crate::places::OpenTransfer;
use crate::plan::{Identity, Marks};
use crate::transfers::TransferMeter;
use crate::writes::FlowWrites;
use crate::{FlowOutcome, TransferOutcome};
use base::Time;

/// What is left of one sender when the run is over.
pub struct FinalTally {
    /// Which flow of the scenario it belongs to.
    pub flow: u32,
    /// The transfer that is still open, if it is a place of a session.
    pub open: Option<OpenTransfer>,
    /// What its application has written.
    pub writes: Option<Box<FlowWrites>>,
    pub tally: Tally,
}

impl FinalTally {
    /// Adds it to the tally of its flow, which the places of a session share, and to the transfers of its group.
    pub fn merge_into(self, identities: &[Identity], tallies: &mut [Tally], meters: &mut [TransferMeter], end: Time) {
        let (who, tally) = (&identities[self.flow as usize], &mut tallies[self.flow as usize]);
        if let Some(open) = self.open {
            meters[who.group as usize].transfer(who, open, self.tally.meter.finished, end);
        }
        if let Some(writes) = self.writes {
            writes.report(who, &mut meters[who.group as usize], end);
        }
        if who.session {
            tally.add(&self.tally);
        } else {
            *tally = self.tally;
        }
    }
}

/// The results of all flows and groups.
pub fn outcomes(
    tallies: Vec<Tally>,
    identities: &[Identity],
    mut meters: Vec<TransferMeter>,
    marks: &Marks,
) -> (Vec<FlowOutcome>, Vec<Option<TransferOutcome>>) {
    let mut any = vec![false; meters.len()];
    let flows: Vec<FlowOutcome> =
        tallies.into_iter().zip(identities).map(|(tally, who)| tally.outcome(who, marks)).collect();
    for (flow, who) in flows.iter().zip(identities) {
        let group = who.group as usize;
        any[group] |= who.session || who.writes || who.finite.is_some();
        if let Some(segments) = who.finite {
            let ended = flow.finished.unwrap_or(marks.end);
            let open = OpenTransfer { opened: who.start.min(marks.end), segments };
            meters[group].transfer(who, open, flow.finished, ended);
        }
    }
    let transfers = meters.into_iter().zip(any).map(|(meter, any)| any.then(|| meter.outcome())).collect();
    (flows, transfers)
}

#[cfg(test)]
mod tests {
    use super::*;
    use base::Span;
    use transport::Counters;

    const MARKS: Marks = Marks { warmup: Time(0), end: Time(100), every: None };

    /// Flow 0 is a session, flow 1 a transfer of 5 segments that started at 10 ps; each is a group of its own.
    fn identities() -> Vec<Identity> {
        let who = |group, session, finite| Identity {
            group,
            index: 0,
            base_rtt: Span(1),
            start: Time(10),
            packet: 1000,
            one_way_latency: Span(8),
            bottleneck_tx_time: Span(1),
            session,
            writes: false,
            finite,
        };
        vec![who(0, true, None), who(1, false, Some(5))]
    }

    fn sent(sent: u64) -> Tally {
        Tally { counters: Counters { sent, ..Counters::default() }, ..Tally::default() }
    }

    #[test]
    fn the_places_of_a_session_are_one_flow_and_what_is_open_counts_as_opened() {
        let identities = identities();
        let mut meters = TransferMeter::by_group(&identities, MARKS, false);
        let mut tallies = vec![Tally::default(), Tally::default()];
        let open = Some(OpenTransfer { opened: Time(60), segments: 3 });
        for (flow, open, tally) in [(0, None, sent(7)), (0, open, sent(4)), (1, None, sent(9))] {
            FinalTally { flow, open, writes: None, tally }.merge_into(
                &identities,
                &mut tallies,
                &mut meters,
                MARKS.end,
            );
        }
        tallies[1].meter.finished = Some(Time(42));
        let (flows, transfers) = outcomes(tallies, &identities, meters, &MARKS);
        assert_eq!([flows[0].sent, flows[1].sent], [11, 9]);
        let [session, transfer] = transfers.try_into().map(|both: [_; 2]| both.map(Option::unwrap_or_default)).unwrap();
        assert_eq!((session.opened, session.completed, session.open_mean), (1, 0, 0.4));
        // From 10 to 42 ps; at best 8 ps for the first segment, and 1 more for each of the others.
        assert_eq!((transfer.opened, transfer.completed, transfer.duration_sum), (1, 1, 32));
        assert_eq!(transfer.slowdown_sum, (32 * 1024_u64).div_ceil(12));
    }
}
