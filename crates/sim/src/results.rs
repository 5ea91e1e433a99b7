//! Results of flows and groups, computed from the final state of the senders, for both engines.

use crate::identity::Identity;
use crate::marks::Marks;
use crate::meter::Tally;
use crate::places::OpenTransfer;
use crate::transfers::TransferMeter;
use crate::writes::FlowWrites;
use crate::{FlowOutcome, TransferOutcome};

/// Final state of one sender.
pub struct FinalTally {
    /// Number of its flow in the scenario.
    pub flow: u32,
    /// The open transfer, if the sender is a place of a session.
    pub open: Option<OpenTransfer>,
    /// Data written by its application.
    pub writes: Option<FlowWrites>,
    /// Fault of its control, if it had one.
    pub fault: Option<String>,
    pub tally: Tally,
}

/// Final results of all flows and groups.
pub struct FinalResults {
    /// First flow with a fault: its group, and the fault.
    pub fault: Option<(u32, String)>,
    pub flows: Vec<FlowOutcome>,
    pub transfers: Vec<Option<TransferOutcome>>,
}

/// Computes the results of flows and groups from the tallies of the senders, which come in the order of their flows. Each
/// flow has at least one; its tally is kept only until the first one of the next flow.
pub struct FlowResults<'a> {
    identities: &'a [Identity],
    /// Size of each group's data packets.
    packets: &'a [u32],
    marks: &'a Marks,
    transfers: Vec<TransferMeter>,
    /// The first fault, and its group.
    fault: Option<(u32, String)>,
    /// The flow whose senders are being added, and its tally so far.
    flow: usize,
    tally: Tally,
}

impl<'a> FlowResults<'a> {
    /// `transfers`: the results of each group's transfers that have ended.
    pub fn new(
        identities: &'a [Identity],
        packets: &'a [u32],
        transfers: Vec<TransferMeter>,
        marks: &'a Marks,
    ) -> Self {
        Self { identities, packets, marks, transfers, fault: None, flow: 0, tally: Tally::default() }
    }

    /// Results for `senders`, whose final state `tally` returns. The results reuse the memory of the senders if a
    /// sender is at least as large as a result, because with a million flows the memory use is largest at the end of a
    /// run.
    pub fn of<S>(mut self, senders: Vec<S>, mut tally: impl FnMut(usize, S) -> FinalTally) -> FinalResults {
        let any = !senders.is_empty();
        let ended = senders.into_iter().enumerate().filter_map(|(f, sender)| self.add(tally(f, sender)));
        let mut flows: Vec<FlowOutcome> = ended.collect();
        if any {
            flows.push(self.complete());
        }
        flows.shrink_to_fit();
        debug_assert_eq!(flows.len(), self.identities.len());
        let mut any = vec![false; self.transfers.len()];
        for who in self.identities {
            any[who.group as usize] |= who.transfers.is_some();
        }
        let transfers = self.transfers.into_iter().zip(any);
        let transfers = transfers.map(|(meter, any)| any.then(|| meter.outcome())).collect();
        FinalResults { fault: self.fault, flows, transfers }
    }

    /// Adds a sender to its flow (a session has several) and to the transfers of its group. Returns the result of the
    /// previous flow if this is the first sender of a new one.
    fn add(&mut self, last: FinalTally) -> Option<FlowOutcome> {
        let before = (self.flow < last.flow as usize).then(|| self.complete());
        let who = &self.identities[self.flow];
        if self.fault.is_none() {
            self.fault = last.fault.map(|fault| (who.group, fault));
        }
        let meter = &mut self.transfers[who.group as usize];
        if let Some(open) = last.open {
            meter.transfer(who, open, last.tally.meter.finished(), self.marks.end);
        }
        if let Some(writes) = last.writes {
            writes.report(who, meter, self.marks.end);
        }
        if who.is_session() {
            self.tally.add(&last.tally);
        } else {
            self.tally = last.tally;
        }
        before
    }

    /// Returns the flow's result; its tally must be complete.
    fn complete(&mut self) -> FlowOutcome {
        let who = &self.identities[self.flow];
        self.flow += 1;
        let flow = std::mem::take(&mut self.tally).outcome(who, self.packets[who.group as usize], self.marks);
        if let Some(segments) = who.finite() {
            let ended = flow.finished.unwrap_or(self.marks.end);
            let open = OpenTransfer { opened: who.start.min(self.marks.end), segments };
            self.transfers[who.group as usize].transfer(who, open, flow.finished, ended);
        }
        flow
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::identity::Transfers;
    use base::{Span, Time};
    use transport::Counters;

    const MARKS: Marks = Marks { warmup: Time(0), end: Time(100), every: None };

    /// Flow 0 is a session, flow 1 is a transfer of 5 segments that started at 10 ps; each flow is a group of its own.
    fn identities() -> Vec<Identity> {
        let who = |group, session, finite| Identity {
            group,
            index: 0,
            base_rtt: Span(1),
            start: Time(10),
            transfers: Some(Box::new(Transfers {
                one_way_latency: Span(8),
                bottleneck_tx_time: Span(1),
                session,
                finite,
            })),
        };
        vec![who(0, true, None), who(1, false, std::num::NonZeroU64::new(5))]
    }

    fn sent(sent: u64) -> Tally {
        Tally { counters: Counters { sent, ..Counters::default() }, ..Tally::default() }
    }

    #[test]
    fn the_places_of_a_session_are_one_flow_and_an_open_transfer_counts_as_opened() {
        let identities = identities();
        let meters = TransferMeter::by_group(&identities, MARKS, false);
        let results = FlowResults::new(&identities, &[1000, 1000], meters, &MARKS);
        let mut finished = sent(9);
        finished.meter.finish(Time(42));
        let open = Some(OpenTransfer { opened: Time(60), segments: 3 });
        let senders = vec![(0, None, sent(7)), (0, open, sent(4)), (1, None, finished)];
        let FinalResults { flows, transfers, .. } =
            results.of(senders, |_, (flow, open, tally)| FinalTally { flow, open, writes: None, fault: None, tally });
        assert_eq!([flows[0].sent, flows[1].sent], [11, 9]);
        let [session, transfer] = transfers.try_into().map(|both: [_; 2]| both.map(Option::unwrap_or_default)).unwrap();
        assert_eq!((session.opened, session.completed, session.open_mean), (1, 0, 0.4));
        // From 10 to 42 ps; the ideal is 8 ps for the first segment and 1 ps more for each of the others.
        assert_eq!((transfer.opened, transfer.completed, transfer.duration_sum), (1, 1, 32));
        assert_eq!(transfer.slowdown_sum, (32 * 1024_u64).div_ceil(12));
    }
}
