//! The object of our own laws, as it is shipped: all of it loads, and HighSpeed TCP has the windows of RFC 3649.

use ebpf::{AckSample, Callback, Object, Socket};
use std::path::Path;

fn object() -> Object {
    let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("../law/kernel/laws.bpf.o");
    Object::read("laws.bpf.o", &std::fs::read(path).expect("is part of the project")).unwrap()
}

#[test]
fn every_control_loads_and_says_what_it_has() {
    let object = object();
    let names: Vec<(&str, &str)> = object.controls().iter().map(|one| (one.name(), one.variable())).collect();
    let right = [
        ("el_highspeed", "highspeed"),
        ("el_nrhstcp", "nr_hstcp"),
        ("el_scalable", "scalable"),
        ("el_ghstcp", "ghstcp"),
        ("el_htcp", "htcp"),
    ];
    assert_eq!(names, right);
    for (name, variable) in right {
        let control = object.load(name, &[]).unwrap();
        assert_eq!(control.name(), object.load(variable, &[]).unwrap().name());
        let samples = matches!(variable, "ghstcp" | "htcp");
        for callback in Callback::ALL {
            let has = match callback {
                Callback::Init
                | Callback::Ssthresh
                | Callback::CongAvoid
                | Callback::CwndEvent
                | Callback::UndoCwnd => true,
                Callback::PktsAcked => samples,
                _ => false,
            };
            assert_eq!(control.implements(callback), has, "{name}: {}", callback.name());
        }
        assert_eq!(control.flags(), 1, "anybody may choose it");
    }
    let message = object.load("tahoe", &[]).unwrap_err().to_string();
    let names = "el_highspeed, el_nrhstcp, el_scalable, el_ghstcp, el_htcp";
    assert_eq!(message, format!("laws.bpf.o: has no congestion control \"tahoe\"; there are {names}"));
}

fn avoiding(object: &Object, name: &str) -> Socket {
    let mut socket = object.load(name, &[]).unwrap().socket(1);
    socket.init().unwrap();
    socket.set_snd_ssthresh(2);
    socket.set_cwnd_limited(true);
    socket.set_srtt_us(100_000 << 3);
    socket.set_min_rtt_us(100_000);
    socket
}

/// A round trip of ACKs for one segment each.
fn round(socket: &mut Socket, now_us: u64) {
    for i in 0..socket.snd_cwnd() {
        socket.set_now_ns((now_us + u64::from(i)) * 1000);
        socket.set_delivered(socket.delivered() + 1);
        socket.pkts_acked(&AckSample { pkts_acked: 1, rtt_us: 100_000, in_flight: 0 }).unwrap();
        socket.cong_avoid(0, 1).unwrap();
    }
}

#[test]
fn highspeed_grows_and_gives_up_as_appendix_b_says() {
    // RFC 3649, Appendix B: from these windows on, a(w) segments each round trip and b(w) given up.
    let table = [(118, 2, 0.44), (221, 3, 0.41), (1058, 8, 0.33), (84_035, 71, 0.10)];
    let object = object();
    for (w, a, b) in table {
        let mut socket = avoiding(&object, "el_highspeed");
        socket.set_snd_cwnd(w);
        for i in 0..4 {
            round(&mut socket, 1_000_000 + 100_000 * i);
        }
        // The table gives the w at which a(w) is the next whole number, up to 2.5 % early (0.078 is rounded), and what
        // is grown of the next segment is not in the window yet.
        let grown = socket.snd_cwnd() - w;
        assert!((4 * a - 1..=4 * a + a / 10 + 1).contains(&grown), "{w}: grew by {grown} in four, a(w) is {a}");
        socket.set_snd_cwnd(w);
        let kept = f64::from(socket.ssthresh().unwrap());
        // The table rounds b to hundredths.
        assert!((1.0 - kept / f64::from(w) - b).abs() < 0.006 + 1.0 / f64::from(w), "{w}: kept {kept}");
    }
}

#[test]
fn a_timeout_leaves_half_and_an_undo_what_there_was() {
    let object = object();
    for control in object.controls() {
        let mut socket = avoiding(&object, control.name());
        socket.set_snd_cwnd(1000);
        round(&mut socket, 1_000_000);
        socket.set_snd_cwnd(1000);
        socket.cwnd_event(3).unwrap();
        assert_eq!(socket.snd_ssthresh(), 500, "{}", control.name());
        socket.set_prior_cwnd(1234);
        assert_eq!(socket.undo_cwnd().unwrap(), 1234);
    }
}

#[test]
fn slow_start_doubles_up_to_the_threshold() {
    let object = object();
    for control in object.controls() {
        let mut socket = avoiding(&object, control.name());
        // A threshold beyond twice the window would be held for one that no law gave.
        socket.set_snd_ssthresh(18);
        socket.set_cwnd_limited(false);
        socket.set_max_packets_out(5);
        // Less than half of the window was used.
        socket.cong_avoid(0, 4).unwrap();
        assert_eq!(socket.snd_cwnd(), 10, "{}", control.name());
        socket.set_max_packets_out(10);
        socket.cong_avoid(0, 5).unwrap();
        assert_eq!(socket.snd_cwnd(), 15, "{}", control.name());
        socket.cong_avoid(0, 4).unwrap();
        assert_eq!(socket.snd_cwnd(), 18, "{}", control.name());
    }
}
