//! What a sender's segments say about explicit congestion notification.
//!
//! Source: RFC 3168, Section 6.1; RFC 8257 (retransmissions that can be marked).

use base::Flags;

/// The ECN side of one sender.
#[derive(Clone, Copy, Debug)]
pub struct EcnSender {
    /// Flags of data: whether it can be marked, and what it echoes.
    data: Flags,
    /// Whether the next new segment carries CWR: the window was reduced.
    reduced: bool,
}

impl EcnSender {
    /// A sender whose data carries these flags.
    #[must_use]
    pub fn new(data: Flags) -> Self {
        Self { data, reduced: false }
    }

    /// Whether data can be marked.
    #[inline]
    #[must_use]
    pub fn is_on(self) -> bool {
        self.data.has(Flags::ECT)
    }

    /// Whether the next new segment carries something else than the last.
    #[inline]
    #[must_use]
    pub fn is_quiet(self) -> bool {
        !self.reduced
    }

    /// Flags of data while [`Self::is_quiet`].
    #[inline]
    #[must_use]
    pub fn data(self) -> Flags {
        self.data
    }

    /// The window was reduced. Every reduction is reported to the receiver, or its echo of an older mark would bring another
    /// (6.1.2).
    pub fn on_reduction(&mut self) {
        self.reduced = self.is_on();
    }

    /// Segments echo a bit from now on.
    pub fn set_echo(&mut self, set: bool) {
        self.data = if set { self.data.with(Flags::ECHO) } else { self.data.without(Flags::ECHO) };
    }

    /// Flags of the next new segment.
    #[inline]
    pub fn on_new_segment(&mut self) -> Flags {
        if std::mem::take(&mut self.reduced) { self.data.with(Flags::CWR) } else { self.data }
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
        let mut ecn = EcnSender::new(Flags::ECT);
        assert_eq!(ecn.on_new_segment(), Flags::ECT);
        ecn.on_reduction();
        assert!(!ecn.is_quiet());
        assert_eq!(ecn.retransmission(false), Flags::RETRANSMITTED, "it carries no CWR");
        assert_eq!(ecn.on_new_segment(), Flags::ECT.with(Flags::CWR));
        assert_eq!(ecn.on_new_segment(), Flags::ECT);
        assert_eq!(ecn.retransmission(true), Flags::ECT.with(Flags::RETRANSMITTED));
    }

    #[test]
    fn without_ecn_nothing_is_reported() {
        let mut ecn = EcnSender::new(Flags::NONE);
        ecn.on_reduction();
        assert!(ecn.is_quiet() && !ecn.is_on());
        assert_eq!(ecn.on_new_segment(), Flags::NONE);
    }
}
