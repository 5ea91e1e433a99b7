//! The fast path of a TCP flow through a repair: consecutive segments above all those that its receiver holds.

use super::TcpFlow;
use crate::observer::Observer;
use crate::plan::FlowControl;
use crate::window::bucket::{Bucket, Window};
use crate::window::headers::Headers;
use crate::window::ring::{Ring, tag};
use base::{PacketNumber, Time};

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
            let Some(first) = ring.peek().filter(|rec| rec.time < limit && rec.tag == expected).map(|rec| rec.time)
            else {
                return;
            };
            let Some(row) = self.plan.sender.row_in_repair(self.plan.receiver.next(), top, first) else { return };
            // Consecutive segments have consecutive tags up to the last 32-bit number; the tag after that belongs to
            // another flow.
            let recs = ring.all();
            let last = row.deadline.min(Time(limit.0 - 1));
            let acks = recs.iter().zip(expected..).take(row.most as usize);
            let most = acks.take_while(|(rec, tag)| rec.tag == *tag && rec.time <= last).count();
            let (plan, mut wire) = self.plan_and_wire(bucket, headers, until);
            let n = plan.sender.take_row(&row, recs[..most].iter().map(|rec| rec.time), &mut wire);
            ring.consume(n as usize);
            self.plan.receiver.extend(n);
            self.delivered += u64::from(n);
            if n == 0 {
                return;
            }
        }
    }
}
