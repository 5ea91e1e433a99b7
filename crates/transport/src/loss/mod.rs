//! Loss detection and retransmission: the list of the recoveries, and the one of a sender.

pub mod prr;
pub mod rack;
pub mod rules;
pub mod scoreboard;

use crate::Options;
use crate::departures::Departures;
use crate::sequence::SequenceSpace;
use law::Needs;
use rules::{Loss, RecoveryCard};

/// Makes the enums of the recoveries, and the macro that calls the one that a sender has. The first token is a dollar sign,
/// which the inner macro needs.
macro_rules! recoveries {
    ($d:tt $($module:ident::$State:ident: $($(#[$doc:meta])* $Name:ident = $card:expr),+;)+) => {
        $(
            pub mod $module;
            use $module::$State;
        )+

        /// Loss detection and recovery algorithm.
        #[derive(Clone, Copy, Debug, PartialEq, Eq)]
        pub enum Recovery {
            $($($(#[$doc])* $Name,)+)+
        }

        impl Recovery {
            /// Name, title and source of each.
            pub const ALL: [(Self, &'static str, &'static str, &'static str); [$($(stringify!($Name)),+),+].len()] =
                [$($((Self::$Name, $card.name, $card.title, $card.source)),+),+];

            const fn card(self) -> RecoveryCard {
                match self { $($(Self::$Name => $card),+),+ }
            }

            /// Memory that a sender uses for this recovery outside of the sender itself, in bytes.
            #[must_use]
            pub fn bytes(self) -> usize {
                match self { $($(Self::$Name)|+ => bytes::<$State>()),+ }
            }
        }

        /// The recovery of one sender, with its data.
        ///
        /// The data is in a box, because otherwise every flow would need the memory of the largest recovery.
        #[derive(Clone, Debug)]
        #[repr(u8)]
        pub enum LossRecovery {
            $(#[doc = concat!("See [`", stringify!($State), "`].")] $State(Box<$State>)),+
        }

        impl LossRecovery {
            /// Recovery of this kind, for a sender with these options whose control has these needs.
            #[must_use]
            pub fn new(recovery: Recovery, needs: Needs, options: &Options) -> Self {
                // A control that asks for every delivery sets its own window in recovery, too.
                let proportional = !(needs.deliveries || needs.own_recovery);
                match recovery {
                    $($(Recovery::$Name)|+ => {
                        let mut state = $State::new(recovery, proportional);
                        state.set_dup_thresh(options.dup_thresh);
                        Self::$State(Box::new(state))
                    }),+
                }
            }
        }

        /// Runs the expression with the recovery that the enum holds, compiled once for each kind.
        macro_rules! each {
            ($d recovery:expr, $d it:ident => $d does:expr) => {
                match $d recovery {
                    $($crate::loss::LossRecovery::$State(boxed) => {
                        let $d it = &mut **boxed;
                        $d does
                    })+
                }
            };
        }
        pub(crate) use each;

        /// [`each!`] with a shared reference.
        macro_rules! each_ref {
            ($d recovery:expr, $d it:ident => $d does:expr) => {
                match $d recovery {
                    $($crate::loss::LossRecovery::$State(boxed) => {
                        let $d it = &**boxed;
                        $d does
                    })+
                }
            };
        }
        pub(crate) use each_ref;
    };
}

recoveries! {
    $
    cumulative::Cumulative:
        /// Fast retransmit, then slow start from one segment (Jacobson 1988).
        Tahoe = cumulative::TAHOE,
        /// Fast retransmit and fast recovery, one hole per recovery (RFC 5681 without SACK).
        Reno = cumulative::RENO,
        /// Fast recovery that repairs one hole per round trip until all are filled (RFC 6582).
        NewReno = cumulative::NEW_RENO;
    sack::SackRecovery:
        /// Scoreboard and pipe (RFC 2018, RFC 6675).
        Sack = sack::SACK,
        /// Loss detection as in [`Self::Sack`]; sends in proportion to delivered data (RFC 9937).
        Prr = sack::PRR;
    rack_recovery::RackRecovery:
        /// Losses detected by time, probes for the tail (RFC 8985), repaired as by PRR.
        Rack = rack_recovery::RACK;
}

/// Memory of a recovery, with the transmission times that the sender keeps for it.
fn bytes<L: Loss>() -> usize {
    size_of::<L>() + if L::USES_DEPARTURES { size_of::<Departures>() } else { 0 }
}

impl Recovery {
    /// Differences from its source, Linux or ns-2.
    #[must_use]
    pub fn differs(self) -> &'static str {
        self.card().differs
    }

    /// The recovery called `name`.
    #[must_use]
    pub fn named(name: &str) -> Option<Self> {
        Self::ALL.iter().find(|row| row.1 == name).map(|row| row.0)
    }

    /// Whether it uses selective acknowledgements.
    #[inline]
    #[must_use]
    pub fn selective(self) -> bool {
        self.card().selective
    }

    /// Its name in scenario files.
    #[must_use]
    pub fn name(self) -> &'static str {
        self.card().name
    }
}

impl LossRecovery {
    /// Whether it uses the transmission times of segments.
    #[must_use]
    pub fn uses_departures(&self) -> bool {
        const fn uses<L: Loss>(_: &L) -> bool {
            L::USES_DEPARTURES
        }
        each_ref!(self, loss => uses(loss))
    }

    /// Whether a timer waits longer if the receiver may delay the ACK of the outstanding segments.
    #[inline]
    #[must_use]
    pub fn expects_delayed_acks(&self) -> bool {
        const fn expects<L: Loss>(_: &L) -> bool {
            L::EXPECTS_DELAYED_ACKS
        }
        each_ref!(self, loss => expects(loss))
    }

    /// Whether nothing is lost, SACKed or suspected, so that ACKs may be taken in rows.
    #[inline]
    #[must_use]
    pub fn is_quiet(&self) -> bool {
        each_ref!(self, loss => loss.is_quiet())
    }

    /// Segments in flight as the sender sees it.
    #[must_use]
    pub fn in_flight(&self, seq: &SequenceSpace) -> u32 {
        each_ref!(self, loss => loss.in_flight(seq))
    }

    /// Highest run of SACKed segments, if ACKs that extend it may be taken in a row.
    #[inline]
    #[must_use]
    pub fn top(&self) -> Option<(u64, u64)> {
        each_ref!(self, loss => loss.top())
    }

    /// SACKed segments above `una`.
    #[must_use]
    pub fn sacked(&self) -> u32 {
        each_ref!(self, loss => loss.sacked())
    }
}
