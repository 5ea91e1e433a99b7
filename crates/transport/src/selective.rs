//! Common part of the recoveries with selective acknowledgements: processing of an ACK in each phase, start of a recovery,
//! limit on what may be sent.
//!
//! Source: RFC 6675, Section 5; Section 5.1 after a timeout; RFC 9937, Section 6.

use crate::Phase;
use crate::connection::{AckInfo, Connection};
use crate::prr::Prr;
use crate::recovery::RecoveryRules;
use base::Time;
use law::CongestionControl;

/// Processes an ACK that shows further losses, or none. Returns whether a recovery may begin now.
#[inline(always)]
#[expect(clippy::inline_always, reason = "one caller for each recovery, for every ACK")]
pub fn on_ack<C: CongestionControl>(
    recovery: &mut impl RecoveryRules,
    connection: &mut Connection<C>,
    info: &AckInfo,
    shows_loss: bool,
) -> bool {
    let progress = info.acked > 0;
    let recovered = connection.seq().is_recovered();
    match connection.phase() {
        Phase::Recovery if recovered => connection.leave_recovery(),
        Phase::Recovery => {
            count_delivered(recovery, connection, info.delivered, progress && !shows_loss);
            return false;
        }
        Phase::Loss => {
            if recovered {
                connection.leave_recovery();
            }
            connection.grow_by_one(recovery, info);
            return recovered;
        }
        Phase::Reduction if connection.seq().is_past_mark() => connection.leave_reduction(),
        Phase::Reduction => count_delivered(recovery, connection, info.delivered, progress && !shows_loss),
        Phase::Open if progress => connection.grow(recovery, info, connection.gained(info)),
        Phase::Open => {}
    }
    true
}

/// Reduces the window and, under PRR, begins to count what may be sent; the ACK reported `delivered` segments.
pub fn begin_repair<C: CongestionControl>(
    recovery: &mut impl RecoveryRules,
    connection: &mut Connection<C>,
    now: Time,
    delivered: u32,
) {
    let reduces = connection.phase() == Phase::Reduction;
    connection.enter_recovery(recovery, now);
    if reduces {
        // The reduction goes on (`tcp_enter_recovery` of Linux); this ACK is counted in it.
        return;
    }
    // What this recovery delivers: what was SACKed before it does not count, what this ACK reports does.
    let flight = connection.seq().outstanding() - recovery.sacked() + delivered;
    let in_flight = recovery.in_flight(connection.seq());
    if let Some(prr) = recovery.prr() {
        *prr = Prr::new(flight, in_flight);
    }
    // It shows losses, so it is not safe.
    count_delivered(recovery, connection, delivered, false);
}

/// Begins a gradual reduction to `ssthresh` after a congestion echo (`TCP_CA_CWR`), if PRR is in use; the ACK of `info`
/// is the first. Returns whether it does.
///
/// Source: Linux 6.12, `tcp_enter_cwr` and `tcp_cwnd_reduction` (facts, not text).
pub fn begin_reduction<C: CongestionControl>(
    recovery: &mut impl RecoveryRules,
    connection: &Connection<C>,
    info: &AckInfo,
) -> bool {
    let in_flight = recovery.in_flight(connection.seq());
    let Some(prr) = recovery.prr() else { return false };
    *prr = Prr::new(info.in_flight_before, in_flight);
    count_delivered(recovery, connection, info.delivered, info.acked > 0);
    true
}

/// Updates PRR for an ACK that reported `delivered` segments; `safe` is RFC 9937's `SafeACK`.
#[inline]
fn count_delivered<C: CongestionControl>(
    recovery: &mut impl RecoveryRules,
    connection: &Connection<C>,
    delivered: u32,
    safe: bool,
) {
    let in_flight = recovery.in_flight(connection.seq());
    if let Some(prr) = recovery.prr() {
        prr.on_ack(delivered, in_flight, connection.control().ssthresh() as u32, safe);
    }
}

/// Number of new segments that may be sent now, if no lost segment has to be sent before them.
#[inline]
pub fn room_for_new<C: CongestionControl>(recovery: &mut impl RecoveryRules, connection: &Connection<C>) -> u32 {
    if recovery.has_lost() {
        return 0;
    }
    let room = room(recovery, connection);
    if connection.has_new_beyond(room) { room } else { 0 }
}

/// Processes an ACK in recovery that SACKs one more segment, whichever, and shows no loss.
#[inline]
pub fn on_next_sacked<C: CongestionControl>(recovery: &mut impl RecoveryRules, connection: &Connection<C>) {
    if connection.phase() == Phase::Recovery {
        count_delivered(recovery, connection, 1, false);
    }
}

/// See [`RecoveryRules::room_in_repair`]; for a sender without a pending fast retransmit.
#[inline]
pub fn room_in_repair<C: CongestionControl>(
    recovery: &mut impl RecoveryRules,
    connection: &Connection<C>,
) -> Option<u32> {
    let room = room(recovery, connection);
    (room == 0 || !recovery.has_lost() && connection.has_new_beyond(room)).then_some(room)
}

/// Number of segments that may be sent now in recovery.
#[inline]
pub fn room<C: CongestionControl>(recovery: &mut impl RecoveryRules, connection: &Connection<C>) -> u32 {
    let in_flight = recovery.in_flight(connection.seq());
    let window = match recovery.prr() {
        Some(prr) if matches!(connection.phase(), Phase::Recovery | Phase::Reduction) => prr.cwnd(),
        _ => connection.window(),
    };
    window.saturating_sub(in_flight)
}
