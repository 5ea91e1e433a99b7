//! The fast path of a TCP flow through a repair: consecutive segments above all those that its receiver holds.

use super::TcpFlow;
use crate::observer::Observer;
use crate::plan::FlowControl;
use crate::window::bucket::{Bucket, Window};
use crate::window::headers::Headers;
use crate::window::ring::{Rec, Ring, tag};
use base::PacketNumber;

impl<O: Observer, C: FlowControl> TcpFlow<O, C> {
    /// Processes segments that only extend the highest block that the receiver holds.
    pub(super) fn run_repairs(
        &mut self,
        ring: &mut Ring,
        bucket: &mut Bucket,
        headers: &mut Headers,
        Window { horizon, until, .. }: Window<'_>,
    ) {
        let limit = horizon.min(self.next_mark).min(self.stop);
        while let Some(top) = self.plan.receiver.extends_plainly() {
            let expected = tag(self.access.id, PacketNumber::of(top.1), self.data_flags);
            let ready = ring.peek().is_some_and(|rec| rec.time < limit && rec.tag == expected);
            if !ready || !self.plan.sender.repairs(self.plan.receiver.next(), top) {
                return;
            }
            // Consecutive segments have consecutive tags up to the last 32-bit number; the tag after that belongs to
            // another flow.
            let recs = ring.all();
            let alike = |(rec, tag): &(&Rec, u64)| rec.tag == *tag && rec.time < limit;
            let n = match self.plan.sender.row_in_repair() {
                Some(row) if row.most > 0 && recs[0].time <= row.deadline => {
                    let acks = recs.iter().zip(expected..).take(row.most as usize);
                    let n = acks.take_while(|pair| alike(pair) && pair.0.time <= row.deadline).count();
                    let (plan, mut wire) = self.plan_and_wire(bucket, headers, until);
                    plan.sender.take_row(&row, recs[..n].iter().map(|rec| rec.time), &mut wire);
                    n as u32
                }
                _ => {
                    let (plan, mut wire) = self.plan_and_wire(bucket, headers, until);
                    let row = recs.iter().zip(expected..).take_while(alike);
                    plan.sender.take_repairs(row.map(|(rec, _)| rec.time), &mut wire)
                }
            };
            ring.consume(n as usize);
            self.plan.receiver.extend(n);
            self.delivered += u64::from(n);
            // Only a row can end before its records do; in all other cases nothing is left to process.
            if n == 0 || self.plan.sender.row_in_repair().is_none() {
                return;
            }
        }
    }
}
