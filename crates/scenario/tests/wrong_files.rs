//! Wrong scenario files, each with its exact message: one line, the place first, then what would be right.

extern crate elephan_scenario as scenario;

use scenario::read;

/// A right file, with everything in it that the cases below break.
const RIGHT: &str = r#"title = "A test"
duration = "20 s"
warmup = "5 s"
replications = 3
seed = 7

[[links]]
name = "bottleneck"
rate = "1 Gbit/s"
delay = "50 ms"
buffer = "1250 packets"
queue = { discipline = "drop-tail" }
loss = { random = 1e-4 }

[[links]]
name = "reverse"
rate = "100 Mbit/s"
buffer = "unlimited"

[[flows]]
name = "hstcp"
count = 10
path = ["bottleneck"]
return = ["reverse"]
rtt = "100 ms"
access = { rate = "10 Gbit/s" }
control = { law = "highspeed", low_window = 38, slow_start = { kind = "limited", max_ssthresh = 100 } }
recovery = "sack"
packet = "1000 B"
start = { from = "0 s", to = "5 s" }
stop = "15 s"
traffic = { kind = "finite", size = "10 MB" }
tcp = { min_rto = "200 ms", delayed_ack = 2, ecn = "off" }

[[flows]]
path = ["bottleneck"]
rtt = { pareto = { mean = "600 ms", shape = 1.2 } }
control = { law = "reno", decrease = 0.5 }

[record]
every = "100 ms"
trace = ["hstcp[0]"]
"#;

fn message(from: &str, to: &str) -> String {
    assert_eq!(RIGHT.matches(from).count(), 1, "{from:?} must occur exactly once in RIGHT");
    match read(&RIGHT.replacen(from, to, 1)) {
        Ok(_) => "it was read".into(),
        Err(error) => error.to_string(),
    }
}

/// Asserts that each case is refused with its exact message. Lines of the cases: `-`: text of the valid file, which applies
/// until the next `-`. `+`: its replacement. `!`: the expected message. In the first two `\n` is a line break, `\\n` a
/// backslash and an n.
fn all_refused(cases: &str) {
    let unescaped = |text: &str| text.replace("\\n", "\n").replace("\\\n", "\\n");
    let (mut from, mut to, mut wrong) = (String::new(), String::new(), Vec::new());
    for line in cases.trim().lines() {
        let (mark, text) = line.split_at(1);
        let text = text.strip_prefix(' ').unwrap_or_default();
        match mark {
            "-" => from = unescaped(text),
            "+" => to = unescaped(text),
            _ => {
                let got = message(&from, &to);
                if got != text {
                    wrong.push(format!("{to}\n  gives    {got}\n  expected {text}"));
                }
            }
        }
    }
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
}

#[test]
fn the_right_file_is_read() {
    read(RIGHT).unwrap();
}

#[test]
fn what_is_not_toml() {
    all_refused(
        r#"
- duration = "20 s"
+ duration = long
! line 2, column 12: string values must be quoted, expected literal string
- seed = 7
+ seed = 7\nseed = 8
! line 6, column 1: duplicate key
- [[links]]\nname = "bottleneck"
+ [links\nname = "bottleneck"
! line 7, column 7: unclosed table, expected `]`
- rate = "1 Gbit/s"
+ rate = 1 Gbit/s
! line 9, column 8: string values must be quoted, expected literal string
"#,
    );
}

#[test]
fn the_top_of_the_file() {
    all_refused(
        r#"
- duration = "20 s"\n
+
! duration: missing; write for example duration = "200 s"
- duration = "20 s"
+ duration = 20
! duration: must be text with a unit, such as "200 s", not a bare number
+ duration = "20"
! duration: "20" has no unit; write for example "20 s"
+ duration = "0 s"
! duration: must be above 0
+ duration = "20 weeks"
! duration: unknown unit "weeks" in "20 weeks"; times are in ns, us, ms, s, min or h
+ duraton = "20 s"
! duraton: unknown key; did you mean `duration`?
- title = "A test"
+ title = 5
! title: must be text such as "Ten flows on 1 Gbit/s", not a bare number
+ title = "two\\nlines"
! title: must be one line
- warmup = "5 s"
+ warmup = "auto"
! warmup: "auto" is for a pilot to find before a file comes here; give a time such as "60 s"
+ warmup = "20 s"
! warmup: must be shorter than the duration of 20 s
- replications = 3
+ replications = 0
! replications: must be a whole number from 1 to 10000
+ replications = 2.5
! replications: must be a whole number from 1 to 10000
- seed = 7
+ seed = -1
! seed: must be a whole number from 0 to 9223372036854775807
+ colour = 7
! colour: unknown key; known here: title, duration, warmup, replications, seed, pools, links, flows, record
+ "a\\nb" = 7
! "a\nb": unknown key; known here: title, duration, warmup, replications, seed, pools, links, flows, record
"#,
    );
    assert_eq!(read("").unwrap_err().to_string(), "duration: missing; write for example duration = \"200 s\"");
    let only = |rest: &str| read(&format!("duration = \"1 s\"\n{rest}")).unwrap_err().to_string();
    assert_eq!(only(""), "links: missing; write at least one [[links]] table");
    assert_eq!(only("links = []"), "links: must not be empty");
    assert_eq!(only("links = 3"), "links: must be a list of tables, each headed [[links]], not a bare number");
    assert_eq!(only("[links]\nname = \"l\""), "links: must be a list of tables, each headed [[links]], not a table");
    let link = "[[links]]\nname = \"l\"\nrate = \"1 Gbit/s\"\nbuffer = \"5 packets\"\n";
    assert_eq!(only(link), "flows: missing; write at least one [[flows]] table");
}

#[test]
fn links() {
    all_refused(
        r#"
- name = "bottleneck"\n
+
! links[0].name: missing; write for example name = "bottleneck"
- name = "reverse"
+ name = "bottleneck"
! links[1].name: "bottleneck" is taken by another
- name = "bottleneck"
+ name = "bottle[0]"
! links[0].name: must have 1 to 64 bytes, without brackets and line breaks
- rate = "1 Gbit/s"\n
+
! links[0].rate: missing; write for example rate = "1 Gbit/s"
- rate = "1 Gbit/s"
+ rate = "100 mbps"
! links[0].rate: "100 mbps" is ambiguous: write "100 Mbit/s" (bits, as in ns-3 and most papers) or "100 MB/s" (bytes, as in tc)
+ rate = "1 Gigabit"
! links[0].rate: unknown unit "Gigabit" in "1 Gigabit"; rates are in bit/s, kbit/s, Mbit/s, Gbit/s or Tbit/s (bytes: kB/s, MB/s, GB/s)
+ rate = 1_000_000_000
! links[0].rate: must be text with a unit, such as "1 Gbit/s", not a bare number
+ rate = "0 Gbit/s"
! links[0].rate: "0 Gbit/s" is out of range; rates lie between 1 bit/s and 1000 Tbit/s
+ rate = "9 bit/s"
! links[0].rate: must lie between 1 kbit/s and 1000 Tbit/s, not 9 bit/s
- delay = "50 ms"
+ dealy = "50 ms"
! links[0].dealy: unknown key; did you mean `delay`?
+ delay = "2 h"
! links[0].delay: must lie between 0 s and 3600 s, not 7200 s
+ delay = "-50 ms"
! links[0].delay: "-50 ms" is out of range; times lie between 0 and 11 days
- buffer = "1250 packets"\n
+
! links[0].buffer: missing; write for example buffer = "1250 packets", or "unlimited"
- buffer = "1250 packets"
+ buffer = 1250
! links[0].buffer: must be text with a unit, such as "1250 packets", not a bare number
+ buffer = "1250"
! links[0].buffer: "1250" has no unit; write for example "1250 packets"
+ buffer = "12.5 packets"
! links[0].buffer: "12.5 packets" is out of range; packets are whole numbers from 0 to 4294967295
+ buffer = "3 cells"
! links[0].buffer: unknown unit "cells" in "3 cells"; buffers are in packets, B, kB, MB, KiB, MiB, us, ms, s, bdp or bdp/sqrt(n), or "unlimited"
+ buffer = "large"
! links[0].buffer: "large" is not a buffer; write for example "1250 packets"
+ buffer = "-1 bdp"
! links[0].buffer: "-1 bdp" is out of range; shares of the bdp lie above 0 and up to 10^6
+ buffer = "11 h"
! links[0].buffer: comes to more than 4294967295 packets; write "unlimited" if that is meant
- buffer = "unlimited"
+ buffer = "0.1 bdp"
! links[1].buffer: no flow sends data over this link, so time and bdp say nothing; give packets or bytes
+ buffer = "1000 GB"\nrate = "1 kbit/s"
! line 19, column 1: duplicate key
- rate = "100 Mbit/s"\nbuffer = "unlimited"
+ rate = "1 kbit/s"\nbuffer = "1 GB"
! links[1].buffer: would take more than 11 days to drain at 1 kbit/s
- discipline = "drop-tail"
+ discipline = "drop-tial"
! links[0].queue.discipline: unknown discipline "drop-tial"; did you mean "drop-tail"?
+ discipline = "red", max_p = 2
! links[0].queue.max_p: must lie above 0 and be at most 1
+ discipline = "red", min = "30 kB", max = "90 kB", avpkt = "1000 B", burst = 55, probability = 2
! links[0].queue.max_p: must lie above 0 and be at most 1
+ discipline = "red", min = "30 kB", min_th = "20 packets"
! links[0].queue.min_th: is the same as min; give one of them
+ discipline = "red", min = 30000
! links[0].queue.min: must have its unit, such as "30 kB" or "20 packets": tc counts bytes
+ discipline = "red", limit = "400 kB"
! links[0].queue.limit: is the same as links[0].buffer; give one of them
+ discipline = "red", min_th = "0.2 bdp", max_th = "0.1 bdp"
! links[0].queue.max_th: must be above min_th, which is 3478.261 packets
+ discipline = "red", min_th = "5 elephants"
! links[0].queue.min_th: must be an amount such as "50 packets", "75 kB", "5 ms", "25 % of buffer" or "0.1 bdp"
+ discipline = "drop-tail", min_th = 5
! links[0].queue.min_th: unknown key; known here: discipline, limit, profile, ecn_threshold
+
! links[0].queue.discipline: missing; write for example discipline = "drop-tail"
- queue = { discipline = "drop-tail" }
+ queue = "magic"
! links[0].queue: unknown discipline "magic"; available: drop-tail, red, ared, gared, pd-red, blue, rem, pie, drop-head, drr, fq, priority-fq, sfq, codel, fq-codel, dualpi2, xcp
- random = 1e-4
+ random = 1.0
! links[0].loss.random: must be a probability, at least 0 and below 1
+ random = nan
! links[0].loss.random: must be a number
+ every = 1
! links[0].loss.every: must be a whole number from 2 to 1000000000000
+ random = 1e-4, every = 10
! links[0].loss: must hold one of random = 1e-4, every = 10000, gilbert = { enter, leave } and bursts = { mean, length }
"#,
    );
}

#[test]
fn amounts() {
    all_refused(
        r#"
- buffer = "1250 packets"
+ buffer = "0 % bdp"
! links[0].buffer: "0 % bdp" is out of range; shares of the bdp lie above 0 and up to 10^6
+ buffer = "10 %"
! links[0].buffer: "10 %" is out of range; a buffer is no share of itself; give a share of the bdp
+ buffer = 1979-05-27
! links[0].buffer: must be text with a unit, such as "1250 packets", not a date
- discipline = "drop-tail"
+ discipline = "red", min_th = "bdp/sqrt(n)"
! links[0].queue.min_th: bdp/sqrt(n) sizes buffers; give a share of the buffer or of the bdp
"#,
    );
}

#[test]
fn flows() {
    all_refused(
        r#"
- name = "hstcp"
+ name = "flows2"
! flows[1].name: "flows2" is taken by another
- count = 10
+ count = 0
! flows[0].count: must be a whole number from 1 to 10000000
+ count = "ten"
! flows[0].count: must be a whole number from 1 to 10000000
+ count = 10_000_000
! flows: must be at most 10000000 flows in all
+ betta = 10
! flows[0].betta: unknown key; known here: name, count, path, return, rtt, access, control, recovery, packet, start, stop, traffic, tcp
- return = ["reverse"]
+ return = ["back"]
! flows[0].return[0]: unknown link "back"; known: "bottleneck", "reverse"
+ return = ["bottleneck"]
! flows[0].return[0]: "bottleneck" is on the round trip already; links are directed and crossed once
+ return = "reverse"
! flows[0].return: must be a list of links such as ["bottleneck"], not text
- path = ["bottleneck"]\nreturn
+ path = []\nreturn
! flows[0].path: must name at least one link
+ return
! flows[0].path: missing; write for example path = ["bottleneck"]
- rtt = "100 ms"\n
+
! flows[0].rtt: missing; write for example rtt = "100 ms"
- rtt = "100 ms"
+ rtt = 100
! flows[0].rtt: must be text with a unit, such as "100 ms", not a bare number
+ rtt = "40 ms"
! flows[0].rtt: 40 ms is below the 50 ms that its links propagate
+ rtt = { from = "40 ms", to = "60 ms" }
! flows[0].rtt: 40 ms is below the 50 ms that its links propagate
+ rtt = { from = "80 ms", to = "60 ms" }
! flows[0].rtt: the first time must not be above the second
+ rtt = { from = "80 ms" }
! flows[0].rtt: must be "100 ms", "auto", { from, to }, { uniform = ["10 ms", "200 ms"] }, { pareto = { mean, shape } } or a list
+ rtt = { uniform = ["80 ms"] }
! flows[0].rtt.uniform: must be a list of two times such as ["10 ms", "200 ms"]
+ rtt = { normal = ["80 ms"] }
! flows[0].rtt.normal: unknown key; known here: from, to, uniform, pareto
+ rtt = []
! flows[0].rtt: must not be empty
+ rtt = ["60 ms", "40 ms"]
! flows[0].rtt: 40 ms is below the 50 ms that its links propagate
- mean = "600 ms"
+ mean = "120 ms"
! flows[1].rtt: its smallest value, 20 ms, is below the 50 ms that its links propagate
- shape = 1.2
+ shape = 1
! flows[1].rtt.pareto.shape: must lie above 1, or there is no mean, and up to 1000
- , shape = 1.2
+
! flows[1].rtt.pareto.shape: missing; write for example shape = 1.2
- shape = 1.2
+ shape = 1.2, max = "500 ms"
! flows[1].rtt.pareto.max: must not be below the mean
- rate = "10 Gbit/s"
+ buffer = "10 packets"
! flows[0].access.buffer: needs access.rate: nothing waits for an infinite rate
+ rate = "10 Gbit/s", buffer = "1 bdp"
! flows[0].access.buffer: must be in packets, such as "1000 packets", or "unlimited"
- packet = "1000 B"
+ packet = "40 B"
! flows[0].packet: must lie between 41 B and 65535 B, its 40 bytes of header included
+ packet = 1000
! flows[0].packet: must be text with a unit, such as "1500 B", not a bare number
- to = "5 s"
+ till = "5 s"
! flows[0].start.till: unknown key; known here: from, to, every
- from = "0 s", to = "5 s"
+ from = "6 s", to = "5 s"
! flows[0].start: from must not be later than to
- start = { from = "0 s", to = "5 s" }
+ start = "20 s"
! flows[0].start: must come before the end at 20 s
- stop = "15 s"
+ stop = "5 s"
! flows[0].stop: must come after the start at 5 s
"#,
    );
}

#[test]
fn arrays_of_links() {
    all_refused(
        r#"
- name = "bottleneck"
+ name = "bottleneck"\ncount = 0
! links[0].count: must be a whole number from 1 to 100000
+ name = "bottleneck"\ncount = 3
! flows[0].path[0]: "bottleneck" are 3 links; write "bottleneck[*]" (flow i takes link i mod 3), or "bottleneck[0]" for one
- rate = "1 Gbit/s"
+ rate = { uniform = "1 Gbit/s" }
! links[0].rate.uniform: must be a list of two rates such as ["100 Mbit/s", "155 Mbit/s"], not text
+ rate = { uniform = ["2 Gbit/s", "1 Gbit/s"] }
! links[0].rate.uniform: the first rate must not be above the second
+ rate = { uniform = ["9 bit/s", "1 Gbit/s"] }
! links[0].rate.uniform[0]: must lie between 1 kbit/s and 1000 Tbit/s, not 9 bit/s
+ rate = { pareto = ["9 bit/s", "1 Gbit/s"] }
! links[0].rate.pareto: unknown key; known here: uniform, steps, period, trace, opportunities, sine, markov
- delay = "50 ms"
+ delay = { uniform = ["10 ms", "2 h"] }
! links[0].delay.uniform[1]: must lie between 0 s and 3600 s, not 7200 s
+ delay = { uniform = ["10 ms", "120 ms"] }
! flows[0].rtt: 100 ms is below the 120 ms that its links propagate
- return = ["reverse"]
+ return = ["reverse[1]"]
! flows[0].return[0]: "reverse" is one link; write "reverse"
+ return = ["reverse[one]"]
! flows[0].return[0]: "reverse[one]" is no link; write "reverse[*]" or for example "reverse[0]"
"#,
    );
}

#[test]
fn rates_delays_and_times_of_flows() {
    all_refused(
        r#"
- rate = "10 Gbit/s"
+ rate = []
! flows[0].access.rate: must not be empty
+ rate = { from = "20 Mbit/s", to = "10 Mbit/s" }
! flows[0].access.rate: the first rate must not be above the second
+ rate = { from = "20 Mbit/s" }
! flows[0].access.rate: must be "100 Mbit/s", { from, to }, { uniform = ["100 Mbit/s", "155 Mbit/s"] } or a list
+ rate = ["20 Mbit/s", "1 bit/s"]
! flows[0].access.rate: must lie between 1 kbit/s and 1000 Tbit/s, not 1 bit/s
+ delay = { uniform = ["1 ms", "60 ms"] }
! flows[0].rtt: 100 ms is below the 110 ms that its links and access propagate
+ delay = { uniform = ["60 ms", "1 ms"] }
! flows[0].access.delay: the first time must not be above the second
- shape = 1.2
+ shape = 1.2, by = "chance"
! flows[1].rtt.pareto.by: unknown by "chance"; available: draws, quantiles
- stop = "15 s"
+ stop = { from = "18 s", to = "17 s" }
! flows[0].stop: from must not be later than to
+ stop = { from = "18 s" }
! flows[0].stop.to: missing; write for example to = "100 s"
+ stop = { after = "0 s" }
! flows[0].stop.after: must be above 0
+ stop = { after = { pareto = "3 s" } }
! flows[0].stop.after.pareto: unknown key; known here: exponential
+ stop = { after = "3 s", to = "9 s" }
! flows[0].stop.after: does not go with `from` and `to`; give one or the other
- start = { from = "0 s", to = "5 s" }
+ start = { from = "0 s" }
! flows[0].start.to: missing; write for example to = "5 s", or every = "10 s"
+ start = { from = "0 s", to = "5 s", every = "1 s" }
! flows[0].start.every: does not go with `to`; give one of them
+ start = { from = "0 s", every = "2 s" }
! flows[0].stop: must come after the start at 18 s
+ start = []
! flows[0].start: must not be empty
+ start = ["1 s", "15 s"]
! flows[0].stop: must come after the start at 15 s
"#,
    );
}

#[test]
fn senders() {
    all_refused(
        r#"
- law = "highspeed"
+ law = "higspeed"
! flows[0].control.law: unknown law "higspeed"; did you mean "highspeed"?
+ law = "quic"
! flows[0].control.law: unknown law "quic"; available: reno, highspeed, ghstcp, nr-hstcp, constant-rate, scalable, fast, htcp, bic, vegas, cubic, westwood, illinois, yeah, hybla, compound, dctcp, tabulated, bbr3, bbr1, xcp, packet-pair, prague, bpf
+ law = 3
! flows[0].control.law: must be text such as "highspeed", not a bare number
- low_window = 38
+ low_windw = 38
! flows[0].control.low_windw: unknown key; did you mean `low_window`?
+ low_window = "38"
! flows[0].control.low_window: must be a number
+ low_window = [38]
! flows[0].control.low_window: must be a number, a text, true or false
+ low_window = 0.5
! flows[0].control.low_window: must be at least 1
+ low_window = inf
! flows[0].control.low_window: must be a number
- decrease = 0.5
+ decrease = 1.0
! flows[1].control.decrease: must lie strictly between 0 and 1
+ beta = 0.5
! flows[1].control.beta: unknown key; known here: law, slow_start, increase, decrease, variant
- control = { law = "reno", decrease = 0.5 }
+ control = 5
! flows[1].control: must be text such as "highspeed" or a table such as { law = "highspeed" }
- kind = "limited"
+ kind = "jump"
! flows[0].control.slow_start.kind: unknown slow start "jump"; available: classic, limited, hystart++, hystart-linux, hybla-start, vegas-start
- max_ssthresh = 100
+ max_ssthresh = 1
! flows[0].control.slow_start.max_ssthresh: must be at least 2
- recovery = "sack"
+ recovery = "SACK"
! flows[0].recovery: unknown recovery "SACK"; did you mean "sack"?
+ recovery = "fack"
! flows[0].recovery: unknown recovery "fack"; did you mean "sack"?
- kind = "finite"
+ kind = "telnet"
! flows[0].traffic.kind: unknown traffic "telnet"; available: bulk, finite, pausing-bulk, video, request-response, engset, elastic, web, page, replay, poisson, cbr, ping, on-off
+ kind = "poison"
! flows[0].traffic.kind: unknown traffic "poison"; did you mean "poisson"?
+ kind = "bulk"
! flows[0].traffic.size: unknown key; known here: kind
- kind = "finite",
+
! flows[0].traffic.kind: missing; write for example kind = "bulk"
- size = "10 MB"
+ size = "0 B"
! flows[0].traffic.size: must be at least 1 B
+ size = 10
! flows[0].traffic.size: must be a size such as "10 MB"
+ size = "10"
! flows[0].traffic.size: "10" has no unit; write for example "10 B"
- min_rto = "200 ms"
+ min_rto = "0 s"
! flows[0].tcp.min_rto: must lie between 1 ns and 3600 s, not 0 s
+ min_rtt = "200 ms"
! flows[0].tcp.min_rtt: unknown key; did you mean `min_rto`?
- delayed_ack = 2
+ delayed_ack = 65
! flows[0].tcp.delayed_ack: must be a whole number from 1 to 64
+ initial_window = 1.5
! flows[0].tcp.initial_window: must be a whole number from 1 to 1000
+ initial_ssthresh = 1
! flows[0].tcp.initial_ssthresh: must lie between 2 and 1000000000 segments
+ initial_ssthresh = "20"
! flows[0].tcp.initial_ssthresh: must be a number of segments, or "none"
+ receive_window = "64 kB"
! flows[0].tcp.receive_window: must be "none", "linux", a whole number of segments from 1 to 1000000000, or a table such as { max = "32 MiB" }
+ limited_transmit = "yes"
! flows[0].tcp.limited_transmit: must be true or false
+ send_jitter = "2 s"
! flows[0].tcp.send_jitter: must lie between 0 s and 1 s, not 2 s
- ecn = "off"
+ ecn = "maybe"
! flows[0].tcp.ecn: unknown ecn "maybe"; available: off, on, l4s
- tcp = { min_rto = "200 ms", delayed_ack = 2, ecn = "off" }
+ tcp = "windows"
! flows[0].tcp: unknown profile "windows"; must be "linux" or a table such as { min_rto = "200 ms" }
"#,
    );
}

#[test]
fn tables() {
    all_refused(
        r#"
- control = { law = "reno", decrease = 0.5 }
+ control = { law = "tabulated", increase = 1 }
! flows[1].control.increase: must be a list of pairs of window and value such as [[1, 1], [1000, 8.2]]
+ control = { law = "tabulated", increase = [] }
! flows[1].control.increase: must have between 1 and 4096 pairs, not 0
+ control = { law = "tabulated", increase = [1, 1] }
! flows[1].control.increase[0]: must be a pair of numbers such as [1000, 8.2], not a bare number
+ control = { law = "tabulated", increase = [[1, 1], [38]] }
! flows[1].control.increase[1]: must be a pair of numbers such as [1000, 8.2]
+ control = { law = "tabulated", increase = [[1, 1], [38, "1"]] }
! flows[1].control.increase[1][1]: must be a number
+ control = { law = "tabulated", increase = [[1, 1], [38, 1], [38, 2]] }
! flows[1].control.increase[2]: the window must be above the 38 in front of it
+ control = { law = "tabulated", increase = [[0, 1], [38, 1]] }
! flows[1].control.increase[0]: the window must be 1 segment or more
+ control = { law = "tabulated", decrease = [[1, 0.5], [38, 1.5]] }
! flows[1].control.decrease[1]: the value must lie strictly between 0 and 1
+ control = { law = "reno", increase = [[1, 1]] }
! flows[1].control.increase: must be a number, a text, true or false
"#,
    );
}

#[test]
fn datagrams() {
    all_refused(
        r#"
- { kind = "finite", size = "10 MB" }
+ { kind = "poisson", rate = "1 Mbit/s" }
! flows[0].control: poisson traffic is datagrams without congestion control; leave this key out
+ { kind = "cbr", rate = 5 }
! flows[0].traffic.rate: must be a rate such as "1.25 Mbit/s"
+ { kind = "cbr", rate = "5 mbps" }
! flows[0].traffic.rate: "5 mbps" is ambiguous: write "5 Mbit/s" (bits, as in ns-3 and most papers) or "5 MB/s" (bytes, as in tc)
+ { kind = "cbr", size = "10 MB" }
! flows[0].traffic.size: unknown key; known here: kind, rate
- control = { law = "reno", decrease = 0.5 }
+ traffic = { kind = "cbr", rate = "999 bit/s" }
! flows[1].traffic.rate: must lie between 1 kbit/s and 1000 Tbit/s
+ traffic = "cbr"\nrecovery = "sack"
! flows[1].recovery: cbr traffic is datagrams that are never sent again; leave this key out
+ traffic = "cbr"\nreturn = ["reverse"]
! flows[1].return: cbr traffic is datagrams that nobody acknowledges; leave this key out
+ traffic = { kind = "poisson", size = "gamma" }
! flows[1].traffic.size: must be "constant" or "exponential"
+ traffic = { kind = "poisson", size = "exponential" }\npacket = "4001 B"
! flows[1].traffic.size: exponential sizes need a packet of at most 4000 B in the mean
+ traffic = { kind = "poisson", size = "exponential" }\naccess = { rate = "1 Gbit/s" }
! flows[1].access.rate: must be left out where packets are of exponential size: they reach the first link as they are made
+ traffic = { kind = "on-off", law = "pareto", shape = 1 }
! flows[1].traffic.shape: must lie between 1.05 and 1000: at 1 there is no mean
+ traffic = { kind = "on-off", on = "0 s" }
! flows[1].traffic.on: must be at least 1.2 us, a ten-thousandth of a packet's time
+ count = 1001\ntraffic = { kind = "web", connections = 10000 }
! flows[1].traffic.connections: comes to 10010000 for all flows of the group; at most 10000000
+ count = 1001\ntraffic = { kind = "page", hosts = 10000 }
! flows[1].traffic.hosts: comes to 10010000 for all flows of the group; at most 10000000
+ count = 1001\ntraffic = { kind = "elastic", places = 10000 }
! flows[1].traffic.places: comes to 10010000 for all flows of the group; at most 10000000
+ traffic = "poisson"\ntcp = { send_jitter = "1 us", ecn = "on" }
! flows[1].tcp.ecn: poisson traffic is datagrams, which take only send_jitter
+ traffic = "poisson"\ntcp = "linux"
! flows[1].tcp: poisson traffic is datagrams, which take only send_jitter
+ traffic = "poisson"\ntcp = { send_jitter = "2 s" }
! flows[1].tcp.send_jitter: must lie between 0 s and 1 s, not 2 s
"#,
    );
}
