//! The object that is shipped, run by the interpreter, gives the bits of the same C compiled for this machine: states, windows,
//! thresholds, through the hooks that the kernel calls.

mod vectors;

use ebpf::{AckSample, Object, Socket};
use law::kernel::{LAWS, OBJECT, Params};
use vectors::{AVOID, Answer, BACKOFF, RESET, SAMPLE, TIMEOUT, Vector};

/// Words of each law's state; behind them lies the highest window, which only the hooks keep.
const WORDS: [usize; LAWS.len()] = [1, 9, 1, 1, 7];

/// Laws that sample ACKs.
const SAMPLING: [u32; 2] = [1, 4];

/// The calls as the hooks make them: a round-trip time comes with samples alone, and a segment has headers.
fn as_hooked(list: &[Vector]) -> Vec<Vector> {
    let hooked = |vector: &Vector| {
        let mut vector = *vector;
        vector.heard.segment = vector.heard.segment.max(HEADER);
        vector.heard.delivered &= u64::from(u32::MAX);
        vector.heard.acked *= u32::from(vector.hook == AVOID);
        vector.heard.rtt *= u32::from(vector.hook == SAMPLE);
        vector
    };
    list.iter().filter(|vector| vector.hook != SAMPLE || SAMPLING.contains(&vector.law)).map(hooked).collect()
}

/// Bytes of an IP header.
const HEADER: u32 = 20;

/// Answers of the object in the interpreter; `value` of a sample is unknown.
fn interpreted(params: &Params, list: &[Vector]) -> Vec<Answer> {
    let object = Object::read("laws.bpf.o", OBJECT).unwrap();
    let fresh = LAWS.map(|(_, name)| {
        let mut socket = object.load(name, &[(".rodata.params", &params.bytes())]).unwrap().socket(1);
        socket.set_tcp_header_len(0);
        socket.init().unwrap();
        socket
    });
    let mut sockets = fresh.clone();
    let mut answers = Vec::with_capacity(list.len());
    for vector in list {
        let (law, heard) = (vector.law as usize, &vector.heard);
        let socket: &mut Socket = &mut sockets[law];
        socket.set_now_ns(1000 * heard.now);
        socket.set_delivered(heard.delivered as u32);
        socket.set_srtt_us(heard.srtt << 3);
        socket.set_min_rtt_us(heard.min_rtt);
        socket.set_mss_cache(heard.segment - HEADER);
        socket.set_snd_cwnd(vector.cwnd);
        // In congestion avoidance, whatever the window is.
        socket.set_snd_ssthresh(1);
        socket.set_cwnd_limited(true);
        let value = match vector.hook {
            RESET => {
                sockets[law] = fresh[law].clone();
                0
            }
            SAMPLE => {
                let sample = AckSample { pkts_acked: 1, rtt_us: heard.rtt.cast_signed(), in_flight: 0 };
                socket.pkts_acked(&sample).unwrap();
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
            _ => unreachable!(),
        };
        let private = sockets[law].private();
        let state = std::array::from_fn(|i| if i < WORDS[law] { private[i] } else { 0 });
        answers.push(Answer { value: value.into(), state });
    }
    answers
}

#[test]
fn the_object_and_this_machines_code_agree_in_every_bit() {
    let list = as_hooked(&vectors::random(200_000));
    for make in [Params::default, vectors::other_params] {
        let params = make();
        let mut expected = vectors::native(&params, &list);
        for (answer, vector) in expected.iter_mut().zip(&list) {
            answer.value *= u64::from(vector.hook != SAMPLE);
        }
        for (i, (found, expected)) in interpreted(&params, &list).iter().zip(&expected).enumerate() {
            assert_eq!(found, expected, "call {i}: {:?}", list[i]);
        }
    }
}

#[test]
fn the_calls_reach_every_corner() {
    let list = vectors::random(200_000);
    let answers = vectors::native(&Params::default(), &list);
    vectors::assert_varied(&list, &answers);
    // The null of the test above: other parameters answer otherwise.
    assert_ne!(answers, vectors::native(&vectors::other_params(), &list));
}

#[test]
fn the_defaults_in_the_object_are_those_of_the_laws() {
    let object = Object::read("laws.bpf.o", OBJECT).unwrap();
    assert_eq!(object.section(".rodata.params").unwrap(), Params::default().bytes());
}
