//! CUBIC and DCTCP of the kernel's own tests, where their source is there: `SELFTESTS` names the folder
//! `tools/testing/selftests/bpf` of Linux. They are compiled with clang, never copied. Skipped without.

use ebpf::{AckSample, Object, Socket};
use std::path::Path;
use std::process::Command;

/// Compiles a program, once for each version of the instructions.
fn objects(name: &str) -> Vec<Object> {
    let Some(folder) = std::env::var_os("SELFTESTS") else {
        eprintln!("skipped: SELFTESTS names no folder");
        return Vec::new();
    };
    let compile = |version: &str| {
        let out = Path::new(env!("CARGO_TARGET_TMPDIR")).join(format!("{name}.{version}.bpf.o"));
        let built = Command::new("clang")
            // Headers of the C library for 64 bits alone.
            .args(["-g", "-O2", "-target", "bpf", "-D__x86_64__", "-I.", "-Iprogs", "-I/usr/include/x86_64-linux-gnu"])
            .args([&format!("-mcpu={version}"), "-c", &format!("progs/{name}.c"), "-o"])
            .arg(&out)
            .current_dir(&folder)
            .status();
        let Ok(status) = built else {
            eprintln!("skipped: clang is not installed");
            return None;
        };
        assert!(status.success(), "{name}.c does not compile");
        Some(Object::read(name, &std::fs::read(out).unwrap()).unwrap())
    };
    ["v1", "v2", "v3"].into_iter().filter_map(compile).collect()
}

fn start(object: &Object, name: &str) -> Socket {
    let mut socket = object.load(name, &[]).unwrap().socket(1);
    socket.set_now_ns(1_000_000_000);
    socket.set_ecn_flags(1);
    socket.set_srtt_us(50_000 << 3);
    socket.set_min_rtt_us(50_000);
    socket.init().unwrap();
    socket
}

#[test]
fn cubic_follows_its_cubic() {
    const RTT: f64 = 0.05;
    for object in objects("bpf_cubic") {
        let mut socket = start(&object, "bpf_cubic");
        socket.set_cwnd_limited(true);
        socket.set_snd_cwnd(1000);
        let kept = socket.ssthresh().unwrap();
        assert_eq!(kept, 700, "0.7 of the window");
        socket.set_snd_ssthresh(kept);
        socket.set_snd_cwnd(kept);
        // RFC 9438, Section 4.2, with Linux's C of 0.41 (410 of 1024 cubed, in units of 2^-10 s).
        let c = 410.0 / 1000.0;
        let k = ((1000.0 - 700.0) / c).cbrt_of();
        let (mut now, mut checked) = (0.0, 0);
        while now < 12.0 {
            let cwnd = socket.snd_cwnd();
            for _ in 0..cwnd {
                now += RTT / f64::from(cwnd);
                socket.set_now_ns(1_000_000_000 + (now * 1e9) as u64);
                socket.pkts_acked(&AckSample { pkts_acked: 1, rtt_us: 50_000, in_flight: cwnd }).unwrap();
                socket.cong_avoid(0, 1).unwrap();
            }
            let t = now - k;
            let right = c * t * t * t + 1000.0;
            // It aims a round trip ahead and comes there within one: the curve's steepest step, at the start, is 0.7 %
            // of the window.
            let off = f64::from(socket.snd_cwnd()) / right - 1.0;
            assert!(off.abs() < 0.01, "{now}: {} instead of {right}", socket.snd_cwnd());
            checked += 1;
        }
        assert!(checked > 200);
    }
}

/// Cube root by bisection.
trait CubeRoot {
    fn cbrt_of(self) -> f64;
}

impl CubeRoot for f64 {
    fn cbrt_of(self) -> f64 {
        let (mut low, mut high) = (0.0, self + 1.0);
        for _ in 0..200 {
            let middle = f64::midpoint(low, high);
            if middle * middle * middle < self { low = middle } else { high = middle }
        }
        low
    }
}

#[test]
fn dctcp_gives_up_half_of_its_share_of_marks() {
    for object in objects("bpf_dctcp") {
        let mut socket = start(&object, "bpf_dctcp");
        let mut alpha = 1.0;
        let (mut una, mut delivered, mut marked) = (0_u32, 0_u32, 0_u32);
        for round in 0..120_u32 {
            // A window of 100 segments, of which none, some, all are marked.
            let marks = [0, 10, 100, 37][(round / 30) as usize];
            una += 100 * 1448;
            delivered += 100;
            marked += marks;
            socket.set_snd_una(una);
            socket.set_snd_nxt(una + 100 * 1448);
            socket.set_delivered(delivered);
            socket.set_delivered_ce(marked);
            socket.in_ack_event(0).unwrap();
            // RFC 8257, Section 3.3. The first window is counted from where the connection began.
            alpha = alpha * 15.0 / 16.0 + f64::from(marks) / 100.0 / 16.0;
            socket.set_snd_cwnd(10_000);
            let kept = f64::from(socket.ssthresh().unwrap()) / 10_000.0;
            // Whole numbers of 1/1024: each step loses up to two, of which the next ones keep 15/16: 32 at most.
            assert!((kept - (1.0 - alpha / 2.0)).abs() < 16.0 / 1024.0, "{round}: kept {kept}, alpha {alpha}");
        }
    }
}
