//! Timers, timestamps, windows and ECN against what Linux and the RFCs say, one sentence at a time.

extern crate elephan_transport as transport;

mod common;

use base::{Flags, Span, Time};
use common::{Bench, new};
use transport::{Ack, Burst, Device, Ecn, Options, Phase, ReceiveWindow, Receiver, Recovery, Sender};

fn linux(initial_window: u32) -> Options {
    let burst = Burst::None;
    Options {
        initial_window,
        initial_ssthresh: Some(2.0),
        burst,
        receive_window: ReceiveWindow::None,
        ..Options::linux()
    }
}

#[test]
fn a_steady_path_has_a_timeout_of_srtt_and_200_ms() {
    // Case of a path of 200 ms: RFC 6298 with a floor gives 201 ms, Linux 400 ms and more (6.18 shows 552 with a little jitter).
    for (options, least, most) in
        [(linux(10), 400, 404), (Options { min_rto: Span::millis(200), ..Options::default() }, 200, 204)]
    {
        let mut bench = Bench::with(Recovery::Rack, &options);
        for _ in 0..200 {
            bench.ack(200, bench.sender.seq().nxt(), &[]);
        }
        let rto = bench.sender.rtt().rto();
        assert!(rto >= Span::millis(least) && rto <= Span::millis(most), "{rto:?}");
    }
}

#[test]
fn an_ack_of_a_retransmission_gives_a_sample_and_ends_the_backoff() {
    // RFC 7323, 4.1, and tcp_ack_update_rtt; without timestamps Karn's rule keeps the doubled timeout.
    for (timestamps, kept) in [(true, false), (false, true)] {
        let mut bench = Bench::of(Recovery::Rack, &Options { timestamps, ..linux(10) }, 10);
        bench.ack(100, 2, &[]);
        // A probe, then two timeouts.
        while bench.sender.counters().timeouts < 2 {
            bench.time_out();
        }
        let before = bench.sender.rtt().rto();
        let mut ack = Ack::new(3, &[], false);
        ack.echoes_resent = true;
        bench.now += Span::millis(100);
        bench.call(|sender, now, sent| sender.on_ack(now, &ack, sent));
        assert_eq!(bench.sender.rtt().rto() == before, kept, "{timestamps} {before:?}");
        assert!(kept || bench.sender.rtt().srtt() == Span::millis(100), "{:?}", bench.sender.rtt().srtt());
    }
}

#[test]
fn an_ack_of_an_earlier_retransmission_is_not_taken_for_the_last() {
    // Sent again twice: what arrives 40 ms after the second retransmission is the first, on a path of 100 ms.
    let mut bench = Bench::of(Recovery::Rack, &linux(10), 1000);
    bench.ack(100, 10, &[]);
    while bench.sender.counters().timeouts < 2 {
        bench.time_out();
    }
    let mut ack = Ack::new(11, &[], false);
    ack.echoes_resent = true;
    bench.now += Span::millis(40);
    bench.call(|sender, now, sent| sender.on_ack(now, &ack, sent));
    assert_eq!(bench.sender.rtt().srtt(), Span::millis(100), "a null takes 40 ms, and smooths to 92.5");
}

#[test]
fn the_ack_of_a_first_copy_after_a_spurious_timeout_is_timed_from_that_copy() {
    // A queue has grown: the ACK comes 650 ms after the first copy left, and 350 ms after the timeout sent it again.
    let mut bench = Bench::of(Recovery::Rack, &linux(10), 1000);
    bench.ack(100, 10, &[]);
    let left = bench.now;
    while bench.sender.counters().timeouts == 0 {
        bench.time_out();
    }
    bench.now = left + Span::millis(650);
    bench.call(|sender, now, sent| sender.on_ack(now, &Ack::new(11, &[], false), sent));
    assert_eq!(bench.sender.rtt().latest(), Span::millis(650));
    // 7/8 of 100 ms and 1/8 of 650.
    assert_eq!(bench.sender.rtt().srtt(), Span::micros(168_750));
}

#[test]
fn sacks_give_samples_while_losses_are_repaired() {
    let mut bench = Bench::of(Recovery::Rack, &linux(10), 1000);
    bench.ack(100, 1, &[]);
    let before = bench.sender.rtt().srtt();
    for end in 3..=9 {
        bench.ack(20, 1, &[(2, end)]);
    }
    assert_eq!(bench.sender.phase(), Phase::Recovery);
    assert_eq!(bench.sender.rtt().latest(), Span::millis(240), "the last segment left 240 ms before");
    assert!(bench.sender.rtt().srtt() > before);
}

#[test]
fn the_probe_for_a_single_segment_waits_200_ms_more() {
    // RFC 8985, 7.2 (TLP.max_ack_delay); tcp_schedule_loss_probe. Two milliseconds stand for TCP_TIMEOUT_MIN_US.
    for (segments, wait) in [(11, 400), (12, 202)] {
        let mut bench = Bench::of(Recovery::Rack, &linux(10), segments);
        bench.ack(100, 10, &[]);
        assert_eq!(bench.sender.in_flight(), (segments - 10) as u32);
        let rto = bench.sender.rtt().rto().0 / 1_000_000_000;
        assert_eq!((bench.sender.deadline() - bench.now).0 / 1_000_000_000, wait.min(rto), "{segments}");
    }
}

#[test]
fn echoed_marks_do_not_grow_the_window_and_the_first_cuts_it() {
    // RFC 3168, 6.1.2. A null that grows first cuts (10 + 1/10)/2.
    let options = Options { initial_window: 10, initial_ssthresh: Some(2.0), ecn: Ecn::On, ..Options::default() };
    for recovery in [Recovery::NewReno, Recovery::Sack] {
        let mut bench = Bench::with(recovery, &options);
        for cum in 1..=10 {
            bench.now += Span::millis(1);
            bench.call(|sender, now, sent| sender.on_ack(now, &Ack::new(cum, &[], true), sent));
            assert_eq!(bench.cwnd(), 5.0, "{recovery:?} {cum}");
        }
        bench.ack(1, 11, &[]);
        assert!(bench.cwnd() > 5.0, "{recovery:?}");
    }
}

#[test]
fn a_window_falls_to_ssthresh_by_proportional_rate_reduction_after_a_mark() {
    // tcp_enter_cwr: of 10 segments outstanding every second ACK lets one leave, until 5 are in the network.
    for recovery in [Recovery::Prr, Recovery::Rack] {
        let mut bench = Bench::with(recovery, &Options { ecn: Ecn::On, ..linux(10) });
        let mut released = Vec::new();
        for cum in 1..=10 {
            bench.now += Span::millis(1);
            released.push(bench.call(|sender, now, sent| sender.on_ack(now, &Ack::new(cum, &[], true), sent)).len());
        }
        // The ninth leaves five in the network, and from there on each lets one leave.
        assert_eq!(released, [1, 0, 1, 0, 1, 0, 1, 0, 0, 1], "{recovery:?}");
        assert_eq!((bench.sender.in_flight(), bench.cwnd(), bench.sender.counters().loss_events), (5, 5.0, 1));
        assert_eq!(bench.sender.phase(), Phase::Open, "{recovery:?}: all that was outstanding is acknowledged");
    }
    // Without PRR nothing leaves until five are in the network.
    let mut bench = Bench::with(Recovery::Sack, &Options { ecn: Ecn::On, ..linux(10) });
    let released = (1..=10).map(|cum| {
        bench.now += Span::millis(1);
        bench.call(|sender, now, sent| sender.on_ack(now, &Ack::new(cum, &[], true), sent)).len()
    });
    assert_eq!(released.collect::<Vec<_>>(), [0, 0, 0, 0, 0, 1, 1, 1, 1, 1]);
}

#[test]
fn a_loss_in_a_marked_window_does_not_cut_it_again() {
    // RFC 3168, 6.1.2: once for the marks and losses of a window of data.
    for recovery in [Recovery::Sack, Recovery::Prr, Recovery::Rack] {
        let options = Options { initial_window: 10, initial_ssthresh: Some(2.0), ecn: Ecn::On, ..Options::default() };
        let mut bench = Bench::with(recovery, &options);
        bench.now += Span::millis(100);
        bench.call(|sender, now, sent| sender.on_ack(now, &Ack::new(1, &[], true), sent));
        bench.ack(100, 1, &[(2, 8)]);
        assert_eq!((bench.sender.phase(), bench.cwnd()), (Phase::Recovery, 5.0), "{recovery:?}");
        assert_eq!(bench.sender.counters().loss_events, 1, "{recovery:?}");
    }
}

#[test]
fn lasting_marks_leave_one_segment_for_each_timeout_or_two_in_linux() {
    let marked = |floor| {
        let tcp = Options { ecn: Ecn::On, ecn_floor: floor, initial_ssthresh: Some(2.0), ..Options::default() };
        let mut bench = Bench::with(Recovery::Sack, &Options { initial_window: 4, ..tcp });
        let (mut sent, mut last) = (0, Span::ZERO);
        for _ in 0..40 {
            let (una, next) = (bench.sender.seq().una(), bench.sender.seq().nxt());
            if una == next {
                // Nothing is outstanding: the timer lets the next one leave.
                let before = bench.now;
                sent += bench.time_out().len();
                last = bench.now - before;
                continue;
            }
            bench.now += Span::millis(100);
            bench.call(|sender, now, sent| sender.on_ack(now, &Ack::new(una + 1, &[], true), sent));
        }
        (bench.cwnd(), sent, last, bench.sender.counters().timeouts)
    };
    let (cwnd, sent, last, timeouts) = marked(1);
    assert_eq!((cwnd, last, timeouts), (1.0, Span::secs(1), 0));
    assert!(sent > 10, "{sent}");
    assert_eq!(marked(2), (2.0, 0, Span::ZERO, 0));
    // An ACK without a mark ends it: the next segment need not wait.
    let tcp = Options { ecn: Ecn::On, initial_window: 1, initial_ssthresh: Some(2.0), ..Options::default() };
    let mut bench = Bench::with(Recovery::Sack, &tcp);
    bench.call(|sender, now, sent| sender.on_ack(now + Span::millis(9), &Ack::new(1, &[], true), sent));
    assert_eq!(bench.sender.seq().nxt(), 1);
    bench.now += Span::millis(10);
    assert_eq!(bench.time_out(), new(1..2));
    assert!(!bench.ack(10, 2, &[]).is_empty());
}

#[test]
fn segments_that_were_sacked_before_do_not_open_the_window_again() {
    // packetdrill's limited-transmit-sack: an ACK of three after SACKs of two of them opens the window by one, in slow start.
    for recovery in [Recovery::Prr, Recovery::Rack] {
        let mut bench = Bench::with(recovery, &Options { initial_ssthresh: None, ..linux(10) });
        bench.ack(100, 1, &[]);
        let before = bench.cwnd();
        bench.ack(1, 1, &[(2, 3)]);
        bench.ack(1, 1, &[(2, 4)]);
        assert_eq!((bench.sender.phase(), bench.cwnd()), (Phase::Open, before), "{recovery:?}");
        bench.ack(1, 4, &[]);
        assert_eq!(bench.cwnd(), before + 1.0, "{recovery:?}");
    }
}

#[test]
fn a_sender_behind_the_receive_window_does_not_grow_its_window() {
    // Waiting for a longer burst while the receive window binds is is_rwnd_limited; a null grew to 131,424 of 100 segments.
    for burst in [Burst::None, Burst::Linux(Device::default())] {
        let options = Options { burst, receive_window: ReceiveWindow::Segments(100), ..linux(10) };
        let mut bench = Bench::with(Recovery::Rack, &options);
        let (mut una, mut most) = (0, 0.0f64);
        for _ in 0..20_000 {
            while bench.sender.deadline() <= bench.now {
                bench.call(Sender::on_timer);
            }
            una = (una + 2).min(bench.sender.seq().nxt());
            bench.now += Span::micros(400);
            bench.call(|sender, now, sent| sender.on_ack(now, &Ack::new(una, &[], false), sent));
            most = most.max(bench.cwnd());
        }
        assert!(most <= 110.0, "{burst:?}: {most}");
    }
}

#[test]
fn the_first_sixteen_acks_are_quick_and_those_after_a_pause() {
    let mut receiver = Receiver::new(2, Span::millis(40), 1).acknowledging_quickly(16, Span::millis(300));
    let mut ack = Ack::NONE;
    let mut count = |from: u64, n: u64, at: Time| {
        (from..from + n).filter(|&seq| receiver.on_segment(at, seq, Flags::NONE, &mut ack)).count()
    };
    let start = Time::ZERO + Span::secs(1);
    assert_eq!(count(0, 16, start), 16);
    assert_eq!(count(16, 20, start), 10, "every second one");
    assert_eq!(count(36, 20, start + Span::millis(300)), 10, "a pause of 300 ms is not longer than that");
    assert_eq!(count(56, 20, start + Span::millis(601)), 18);
}

#[test]
fn an_ack_says_whether_a_retransmission_filled_the_hole() {
    let mut receiver = Receiver::new(2, Span::millis(40), 1);
    let (mut ack, now) = (Ack::NONE, Time::ZERO + Span::secs(1));
    let mut on = |seq, flags| receiver.on_segment(now, seq, flags, &mut ack).then_some((ack.cum, ack.echoes_resent));
    assert_eq!(on(1, Flags::NONE), Some((0, false)));
    assert_eq!(on(0, Flags::RETRANSMITTED), Some((2, true)), "RFC 7323, 4.3");
    assert_eq!(on(2, Flags::NONE), None);
    assert_eq!(on(3, Flags::RETRANSMITTED), Some((4, false)), "the first that is not acknowledged counts");
}

#[test]
fn a_sender_says_what_tcp_info_shows() {
    // Of ten segments the first is lost: three SACKs begin a repair, in which PRR counts what may be in the network.
    for recovery in [Recovery::Prr, Recovery::Rack] {
        let mut bench = Bench::of(recovery, &linux(10), 10);
        bench.ack(100, 0, &[(1, 3)]);
        assert_eq!(
            (bench.sender.seq().outstanding(), bench.sender.info().window_in_repair()),
            (10, None),
            "{recovery:?}"
        );
        bench.ack(1, 0, &[(1, 4)]);
        assert_eq!(bench.sender.phase(), Phase::Recovery, "{recovery:?}");
        assert_eq!(bench.sender.info().window_in_repair(), Some(7), "six in the network, and the one sent again");
        assert_eq!(bench.sender.info().resent(), (recovery == Recovery::Rack).then_some(1));
        bench.ack(100, 10, &[]);
        assert_eq!(
            (bench.sender.seq().outstanding(), bench.sender.info().window_in_repair()),
            (0, None),
            "{recovery:?}"
        );
    }
}

#[test]
fn a_receive_window_may_change_with_every_ack() {
    let options = Options { receive_window: ReceiveWindow::Segments(4), ..linux(10) };
    let mut bench = Bench::with(Recovery::Rack, &options);
    assert_eq!(bench.sender.seq().outstanding(), 4);
    bench.sender.set_receive_window(6);
    assert_eq!(bench.ack(100, 1, &[]), new(4..7));
    bench.sender.set_receive_window(0);
    assert_eq!(bench.ack(1, 2, &[]), new(0..0));
    assert_eq!(bench.sender.seq().outstanding(), 5);
}
