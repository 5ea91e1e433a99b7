//! From what is left of the senders when a run is over to the results of flows and groups, the same for both engines.

use crate::meter::Tally;
use crate::places::OpenTransfer;
use crate::plan::{Identity, Marks};
use crate::transfers::TransferMeter;
use crate::{FlowOutcome, TransferOutcome};
use base::Time;

/// What is left of one sender when the run is over.
pub struct FinalTally {
    /// Which flow of the scenario it belongs to.
    pub flow: u32,
    /// The transfer that is still open, if it is a place of a session.
    pub open: Option<OpenTransfer>,
    pub tally: Tally,
}

impl FinalTally {
    /// Adds it to the tally of its flow, which the places of a session share, and to the transfers of its group.
    pub fn merge_into(self, identities: &[Identity], tallies: &mut [Tally], meters: &mut [TransferMeter], end: Time) {
        let (who, tally) = (&identities[self.flow as usize], &mut tallies[self.flow as usize]);
        if let Some(open) = self.open {
            meters[who.group as usize].transfer(who, open, self.tally.meter.finished, end);
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
        any[group] |= who.session || who.finite.is_some();
        if let Some(segments) = who.finite {
            let ended = flow.finished.unwrap_or(marks.end);
            let open = OpenTransfer { opened: who.start.min(marks.end), segments };
            meters[group].transfer(who, open, flow.finished, ended);
        }
    }
    let transfers = meters.into_iter().zip(any).map(|(meter, any)| any.then(|| meter.outcome())).collect();
    (flows, transfers)
}
