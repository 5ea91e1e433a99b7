//! ECN state of a sender: the codepoints that its segments carry.
//!
//! Source: RFC 3168, Section 6.1; RFC 8257 (retransmissions that can be marked).

use base::Flags;

/// ECN state of one sender.
#[derive(Clone, Copy, Debug)]
pub struct EcnSender {
    /// Flags of data: its ECN codepoint, and CWR.
    data: Flags,
    /// Flags packed into a byte: another field would make every sender eight bytes larger.
    state: u8,
}

/// Flag: the next new segment carries CWR, because the window was reduced.
const REDUCED: u8 = 1;
/// Flag: new segments wait for the retransmission timer, because marks were echoed at a window of one segment.
const HELD: u8 = 2;
/// Flag: the smallest window after a mark is two segments, not one.
const FLOOR_OF_TWO: u8 = 4;

impl EcnSender {
    /// ECN state with these flags of data, and this smallest window after a mark.
    #[must_use]
    pub fn new(data: Flags, floor: u32) -> Self {
        Self { data, state: if floor > 1 { FLOOR_OF_TWO } else { 0 } }
    }

    /// Smallest window after a mark, in segments.
    #[must_use]
    pub fn floor(self) -> u32 {
        if self.state & FLOOR_OF_TWO != 0 { 2 } else { 1 }
    }

    /// Whether new segments wait for the retransmission timer (RFC 3168, 6.1.2).
    #[inline]
    #[must_use]
    pub fn is_held(self) -> bool {
        self.state & HELD != 0
    }

    /// Sets whether new segments wait for the retransmission timer.
    pub fn hold(&mut self, held: bool) {
        self.set(HELD, held);
    }

    /// Whether data can be marked.
    #[inline]
    #[must_use]
    pub fn is_on(self) -> bool {
        self.data.has(Flags::ECT)
    }

    /// Whether the next new segment carries the same flags as the last one, and does not wait for the retransmission
    /// timer.
    #[inline]
    #[must_use]
    pub fn is_quiet(self) -> bool {
        self.state & (REDUCED | HELD) == 0
    }

    /// Flags of data while [`Self::is_quiet`].
    #[inline]
    #[must_use]
    pub fn data(self) -> Flags {
        self.data
    }

    /// Notes a reduction of the window. Every reduction is signalled to the receiver (CWR). Otherwise its echo of an
    /// older mark would cause another reduction (6.1.2).
    pub fn on_reduction(&mut self) {
        self.set(REDUCED, self.is_on());
    }

    /// Sets a flag on segments from now on.
    pub fn set_echo(&mut self, set: bool) {
        self.data = if set { self.data.with(Flags::ECHO) } else { self.data.without(Flags::ECHO) };
    }

    /// Flags of the next new segment.
    #[inline]
    pub fn on_new_segment(&mut self) -> Flags {
        if self.state & REDUCED == 0 {
            return self.data;
        }
        self.set(REDUCED, false);
        self.data.with(Flags::CWR)
    }

    fn set(&mut self, bit: u8, on: bool) {
        self.state = if on { self.state | bit } else { self.state & !bit };
    }

    /// Flags of a retransmission. It is not ECN-capable (6.1.5), unless the law counts `marks`: RFC 8257 needs them.
    #[must_use]
    pub fn retransmission(self, marks: bool) -> Flags {
        let flags = if marks { self.data } else { self.data.without(Flags::ECT.with(Flags::L4S)) };
        flags.with(Flags::RETRANSMITTED)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn one_new_segment_reports_a_reduction() {
        let mut ecn = EcnSender::new(Flags::ECT, 1);
        assert_eq!(ecn.on_new_segment(), Flags::ECT);
        ecn.on_reduction();
        assert!(!ecn.is_quiet());
        assert_eq!(ecn.retransmission(false), Flags::RETRANSMITTED, "the segment carries no CWR");
        assert_eq!(ecn.on_new_segment(), Flags::ECT.with(Flags::CWR));
        assert_eq!(ecn.on_new_segment(), Flags::ECT);
        assert_eq!(ecn.retransmission(true), Flags::ECT.with(Flags::RETRANSMITTED));
    }

    #[test]
    fn without_ecn_nothing_is_reported() {
        let mut ecn = EcnSender::new(Flags::NONE, 1);
        ecn.on_reduction();
        assert!(ecn.is_quiet() && !ecn.is_on());
        assert_eq!(ecn.on_new_segment(), Flags::NONE);
    }
}
