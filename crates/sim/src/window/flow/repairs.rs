//! The short way of a TCP flow through a repair: segments in a row above all that its receiver holds.

use super::TcpFlow;
use crate::observer::Observer;
use crate::plan::FlowControl;
use crate::window::bucket::{Bucket, Window};
use crate::window::headers::Headers;
use crate::window::ring::{Ring, tag};
use base::PacketNumber;

impl<O: Observer, C: FlowControl> TcpFlow<O, C> {
    /// Takes segments that do no more than extend the highest run of those that the receiver holds.
    pub(super) fn run_repairs(
        &mut self,
        ring: &mut Ring,
        bucket: &mut Bucket,
        headers: &mut Headers,
        Window { horizon, until }: Window,
    ) {
        let Some(top) = self.plan.receiver.extends_plainly() else { return };
        let limit = horizon.min(self.next_mark).min(self.receiver_warm).min(self.stop);
        let expected = tag(self.access.id, PacketNumber::of(top.1), self.data_flags);
        let ready = ring.peek().is_some_and(|rec| rec.time < limit && rec.tag == expected);
        if !ready || !self.plan.sender.repairs(self.plan.receiver.next(), top) {
            return;
        }
        // Tags go on by one up to the last number of 32 bits, and then belong to another flow.
        let recs = ring.all().iter().zip(expected..).take_while(|(rec, tag)| rec.tag == *tag && rec.time < limit);
        let (plan, mut wire) = self.plan_and_wire(bucket, headers, until);
        let n = plan.sender.take_repairs(recs.map(|(rec, _)| rec.time), &mut wire);
        ring.consume(n as usize);
        self.plan.receiver.extend(n);
        self.delivered += u64::from(n);
    }
}
