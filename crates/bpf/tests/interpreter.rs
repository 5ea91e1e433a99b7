//! The object that is shipped, run by the interpreter, gives the bits of the same C compiled for this machine: windows,
//! thresholds and states, after every call.

extern crate elephan_bpf as bpf;

mod compiled;
mod vectors;

use bpf::{LAWS, Params};
use ebpf::{AckSample, Object, Socket};
use std::path::Path;
use vectors::{AVOID, Answer, BACKOFF, RESET, SAMPLE, TIMEOUT, Vector};

/// Words of each law's state, as in `crates/bpf/kernel/`; behind them the object keeps more in the socket.
const WORDS: [usize; 5] = [1, 9, 1, 1, 7];

fn sockets(params: &Params) -> Vec<Socket> {
    let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("kernel/laws.bpf.o");
    let object = Object::read("laws.bpf.o", &std::fs::read(path).unwrap()).unwrap();
    let control = |name| object.load(name, &[(".rodata.params", params.bytes())]).unwrap();
    let mut list: Vec<Socket> = LAWS.iter().map(|(_, name)| control(name).socket(1)).collect();
    for socket in &mut list {
        socket.init().unwrap();
        socket.set_cwnd_limited(true);
    }
    list
}

/// What a socket's hooks make of a call; the words of the state alone.
fn call(socket: &mut Socket, v: &Vector) -> Answer {
    let heard = &v.heard;
    socket.set_now_ns(heard.now * 1000);
    socket.set_delivered(heard.delivered as u32);
    socket.set_srtt_us(heard.srtt << 3);
    socket.set_min_rtt_us(heard.min_rtt);
    // A segment on the wire is payload, TCP's header and 20 bytes of IPv4's.
    socket.set_tcp_header_len(0);
    socket.set_mss_cache(heard.segment.wrapping_sub(20));
    socket.set_snd_cwnd(v.cwnd);
    socket.set_snd_ssthresh(0);
    let value = match v.hook {
        RESET => {
            socket.init().unwrap();
            0
        }
        SAMPLE => {
            socket.pkts_acked(&AckSample { pkts_acked: 1, rtt_us: heard.rtt.cast_signed(), in_flight: 0 }).unwrap();
            // What a sample decides is seen in the state.
            0
        }
        AVOID => {
            socket.cong_avoid(0, heard.acked).unwrap();
            socket.snd_cwnd()
        }
        BACKOFF => socket.ssthresh().unwrap(),
        TIMEOUT => {
            socket.cwnd_event(3).unwrap();
            socket.snd_ssthresh()
        }
        hook => panic!("no hook {hook}"),
    };
    let mut state = socket.private();
    state[WORDS[v.law as usize]..].fill(0);
    Answer { value: value.into(), state }
}

/// As the hooks of the object hear them: a round-trip time comes with a sample alone.
fn list(count: usize) -> Vec<Vector> {
    let mut list = vectors::random(count);
    for v in list.iter_mut().filter(|v| v.hook != SAMPLE) {
        v.heard.rtt = 0;
    }
    list
}

fn assert_equal(list: &[Vector], params: &Params, right: &[Answer]) {
    let mut sockets = sockets(params);
    for (i, (v, right)) in list.iter().zip(right).enumerate() {
        let found = call(&mut sockets[v.law as usize], v);
        let right = Answer { value: if v.hook == SAMPLE { 0 } else { right.value }, state: right.state };
        assert_eq!(found, right, "call {i}: {v:?}");
    }
}

#[test]
fn the_object_and_native_c_agree_in_every_bit() {
    let list = list(200_000);
    for make in [Params::default, vectors::other_params] {
        let params = make();
        let right = compiled::answers(&params, &list);
        vectors::assert_varied(&list, &right);
        assert_equal(&list, &params, &right);
    }
}

#[test]
fn the_object_and_the_twins_agree_in_every_bit() {
    let list = list(200_000);
    for make in [Params::default, vectors::other_params] {
        let params = make();
        assert_equal(&list, &params, &vectors::twins(&params, &list));
    }
}

#[test]
fn the_object_holds_the_parameters_that_a_loader_would_write() {
    let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("kernel/laws.bpf.o");
    let object = Object::read("laws.bpf.o", &std::fs::read(path).unwrap()).unwrap();
    assert_eq!(object.section(".rodata.params").as_deref(), Some(Params::default().bytes()));
}
