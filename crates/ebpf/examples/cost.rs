//! Benchmark of callbacks, in nanoseconds, including the fields that a simulator writes before and reads after: each
//! control of an object.
//!
//! `cargo run --release -p elephan-ebpf --example cost -- laws.bpf.o`

use elephan_ebpf::{AckSample, Callback, Object, RateSample, Socket};
use std::hint::black_box;

#[expect(clippy::disallowed_methods, reason = "time is what is measured")]
fn nanoseconds(times: u32, mut what: impl FnMut()) -> f64 {
    let mut best = f64::INFINITY;
    // Short batches, so that some fall where nobody else works.
    for _ in 0..200 {
        let start = std::time::Instant::now();
        for _ in 0..times {
            what();
        }
        best = best.min(start.elapsed().as_secs_f64() * 1e9 / f64::from(times));
    }
    best
}

/// Sets the fields that change with an ACK.
fn fill(socket: &mut Socket, i: u64) {
    socket.set_now_ns(1_000_000_000 + 20_000 * i);
    socket.set_srtt_us((100_000 + (i % 100) as u32) << 3);
    socket.set_min_rtt_us(100_000);
    socket.set_delivered(i as u32);
    socket.set_packets_out(5000);
    socket.set_max_packets_out(5000);
    socket.set_lost(0);
    socket.set_cwnd_limited(true);
    socket.set_snd_una(1448 * i as u32);
}

fn main() -> Result<(), Box<dyn std::error::Error>> {
    let path = std::env::args().nth(1).ok_or("an object is needed")?;
    let object = Object::read(&path, &std::fs::read(&path)?)?;
    let times = std::env::args().nth(2).map_or(Ok(2000), |text| text.parse())?;
    for control in object.controls() {
        let Ok(loaded) = object.load(control.name(), &[]) else { continue };
        let mut socket = loaded.socket(1);
        socket.init()?;
        socket.set_snd_ssthresh(2);
        let mut i = 0;
        let mut step = |samples: bool, avoids: bool, copies: bool| {
            i += 1;
            if copies {
                fill(&mut socket, i);
            }
            socket.set_snd_cwnd(5000);
            if samples {
                let sample = AckSample { pkts_acked: 1, rtt_us: 100_000 + (i % 100) as i32, in_flight: 5000 };
                socket.pkts_acked(&sample).expect("runs");
            }
            if avoids && loaded.implements(Callback::CongControl) {
                let sample = RateSample { delivered: 1, interval_us: 100, rtt_us: 100_000, ..RateSample::default() };
                socket.cong_control(0, 0, &sample).expect("runs");
            } else if avoids {
                socket.cong_avoid(0, 1).expect("runs");
            }
            black_box((socket.snd_cwnd(), socket.snd_ssthresh()));
        };
        let copies = nanoseconds(times, || step(false, false, true));
        let avoids = nanoseconds(times, || step(false, true, false));
        let samples = nanoseconds(times, || step(true, false, false));
        let all = nanoseconds(times, || step(true, true, true));
        println!(
            "{}: state {copies:.1} ns, avoidance {avoids:.1} ns, sample {samples:.1} ns; an ACK {all:.1} ns",
            control.name()
        );
    }
    Ok(())
}
