//! Data that the application of a flow has written, and the part of it that has not arrived yet, for both engines.
//!
//! In the results a write is a transfer of its own: from the time of the write (although older data may be sent first)
//! until its receiver has it. Its last segment is pushed (RFC 9293, Section 3.9.1): the receiver acknowledges it at once.

use crate::identity::Identity;
use crate::places::OpenTransfer;
use crate::transfers::TransferMeter;
use base::Time;
use law::CongestionControl;
use std::collections::VecDeque;
use traffic::{AnyApplication, ApplicationProcess, Write};
use transport::{Receiver, Sender, Wire};

/// Number of segments written but not acknowledged at which a connection accepts no more data, like a socket with a
/// full send buffer: 1.5 GB in segments of 1,448 bytes, more than any path can have in flight. Without this bound, an
/// application that writes faster than its path would use up all memory.
pub const MOST_WRITTEN: u64 = 1 << 20;

/// See the [module](self).
#[derive(Clone, Debug)]
pub struct FlowWrites {
    application: AnyApplication,
    stop: Time,
    /// For each write that has not arrived, oldest first: one past its last segment, and the transfer.
    pending: VecDeque<(u64, OpenTransfer)>,
    /// Writes that have arrived, and their times of arrival.
    arrived: Vec<(OpenTransfer, Time)>,
    /// Whether the application waits until everything has arrived.
    waits: bool,
    /// Whether the connection accepts no more data for now.
    is_full: bool,
}

impl FlowWrites {
    /// An application that does nothing from `stop` on.
    pub fn new(application: AnyApplication, stop: Time) -> Self {
        Self { application, stop, pending: VecDeque::new(), arrived: Vec::new(), waits: false, is_full: false }
    }

    /// Time of the application's next action, as far as is known.
    pub fn due(&self) -> Time {
        let due = self.application.due();
        if self.is_full || due >= self.stop { Time::NEVER } else { due }
    }

    /// Whether the application waits for the ACK after which the connection takes data again.
    pub fn is_full(&self) -> bool {
        self.is_full
    }

    /// Performs the writes due at `now`.
    pub fn write<C: CongestionControl>(
        &mut self,
        now: Time,
        sender: &mut Sender<C>,
        receiver: &mut Receiver,
        wire: &mut impl Wire,
    ) {
        match self.application.write(now) {
            Write::Segments(segments) => {
                let segments = u64::from(segments);
                self.pending.push_back((sender.seq().data_end() + segments, OpenTransfer { opened: now, segments }));
                self.waits = true;
                self.announce(receiver);
                sender.write(now, Some(segments), wire);
                self.is_full = sender.seq().data_end() - sender.seq().una() >= MOST_WRITTEN;
            }
            Write::Unlimited => sender.write(now, None, wire),
            Write::Pause => sender.stop(),
        }
    }

    /// Handles an ACK: tells the application if everything is now acknowledged, or if there is room for data again.
    /// Returns whether the application was told.
    pub fn acknowledged<C: CongestionControl>(&mut self, now: Time, sender: &Sender<C>) -> bool {
        let freed = self.is_full && sender.seq().data_end() - sender.seq().una() < MOST_WRITTEN;
        if freed {
            self.is_full = false;
            self.application.resume(now);
        }
        let ended = self.waits && sender.seq().is_done();
        if ended {
            self.waits = false;
            self.application.ended(now);
        }
        ended || freed
    }

    /// Notes a delivery at `at`.
    pub fn delivered(&mut self, at: Time, receiver: &mut Receiver) {
        while let Some(&(end, transfer)) = self.pending.front()
            && end <= receiver.next()
        {
            self.pending.pop_front();
            self.arrived.push((transfer, at));
        }
        self.announce(receiver);
    }

    /// Tells the receiver the end of the oldest incomplete write; this may happen before any segment of the write
    /// arrives.
    fn announce(&self, receiver: &mut Receiver) {
        if let Some(&(end, _)) = self.pending.front() {
            receiver.expect_end(end);
        }
    }

    /// Whether the writes count as transfers: those of a source without end do not.
    pub fn has_transfers(&self) -> bool {
        !matches!(self.application, AnyApplication::PausingBulk(_))
    }

    /// Reports all transfers at the `end` of the run.
    pub fn report(self, who: &Identity, meter: &mut TransferMeter, end: Time) {
        for (transfer, done) in self.arrived {
            meter.transfer(who, transfer, Some(done), done);
        }
        for (_, transfer) in self.pending {
            meter.transfer(who, transfer, None, end);
        }
    }
}
