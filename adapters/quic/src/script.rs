//! A sender without a network, driven through lines of text: segments are written and acknowledged at given times, and each line is
//! answered by what left and by the window. `elephan conform tcp --law quinn/cubic` runs scripts of packetdrill so.
//!
//! Source: none. Times are picoseconds, and segments count from 0.

use crate::s2n;
use base::{Flags, Span, Stream, Time};
use law::CongestionControl;
use serde_json::{Value as Json, json};
use std::io::{BufRead, Write};
use std::ops::Range;
use transport::{Ack, Features, Options, Recovery, Sender, Wire};

/// Bytes of a datagram: one segment. It is the smallest that QUIC allows (RFC 9000, Section 14).
pub const DATAGRAM: u16 = 1200;

/// Most segments of a script, as in `elephan conform tcp`: each is a stream of its own.
pub const MOST_SEGMENTS: u32 = 100_000;

/// A segment that left: the time, its number, and whether it was sent before.
pub type Left = (Time, u64, bool);

/// A sender that a script drives.
pub trait Scripted {
    /// Opens the connection, with a handshake that is over `now` and has taken `rtt`.
    fn open(&mut self, now: Time, rtt: Span);
    /// The application has `segments` more.
    fn write(&mut self, now: Time, segments: u64);
    /// All segments below `cum` and those of `blocks` have arrived; `duplicate` have arrived twice.
    fn acknowledge(&mut self, now: Time, cum: u64, blocks: &[Range<u64>], duplicate: Option<Range<u64>>);
    /// Expiry of the next timer; [`Time::NEVER`] if none runs.
    fn next(&mut self) -> Time;
    /// The next timer expires.
    fn expire(&mut self, now: Time);
    /// Segments that have left since the last call.
    fn take_left(&mut self) -> Vec<Left>;
    /// Congestion window and slow-start threshold in datagrams, and smoothed round-trip time; `None` for what there is not.
    fn state(&self) -> (f64, Option<f64>, Option<Span>);
}

/// Answers the lines of `input` one by one; see [`answer`] for their form.
///
/// # Errors
/// One line: what cannot be read, or written.
pub fn drive(sender: &mut dyn Scripted, input: impl BufRead, mut output: impl Write) -> Result<(), String> {
    for line in input.lines() {
        let line = line.map_err(|error| format!("-: {error}"))?;
        let said = answer(sender, &line).ok_or_else(|| format!("-: {line:?} is no line of a script"))?;
        writeln!(output, "{said}").and_then(|()| output.flush()).map_err(|error| format!("-: {error}"))?;
    }
    Ok(())
}

/// Lets what `line` says happen, and returns the state after it: `open NOW RTT`, `write NOW SEGMENTS`, `timer NOW`, or
/// `ack NOW CUM [START:END]... [twice START:END]`.
fn answer(sender: &mut dyn Scripted, line: &str) -> Option<Json> {
    let mut words = line.split(' ');
    let verb = words.next()?;
    let now = Time(words.next()?.parse().ok()?);
    match verb {
        "open" => sender.open(now, Span(words.next()?.parse().ok()?)),
        "write" => sender.write(now, words.next()?.parse().ok().filter(|count| *count <= MOST_SEGMENTS.into())?),
        "timer" => sender.expire(now),
        "ack" => {
            let cum = words.next()?.parse().ok()?;
            let (mut blocks, mut duplicate) = (Vec::new(), None);
            while let Some(word) = words.next() {
                if word == "twice" { duplicate = Some(range(words.next()?)?) } else { blocks.push(range(word)?) }
            }
            sender.acknowledge(now, cum, &blocks, duplicate);
        }
        _ => return None,
    }
    let (cwnd, ssthresh, srtt) = sender.state();
    let left: Vec<Json> = sender.take_left().into_iter().map(|(at, seq, again)| json!([at.0, seq, again])).collect();
    let next = Some(sender.next()).filter(|at| *at != Time::NEVER).map(|at| at.0);
    Some(json!({ "sent": left, "next": next, "cwnd": cwnd, "ssthresh": ssthresh, "srtt_ps": srtt.map(|srtt| srtt.0) }))
}

fn range(word: &str) -> Option<Range<u64>> {
    let (start, end) = word.split_once(':')?;
    Some(start.parse().ok()?..end.parse().ok()?).filter(|range| range.start < range.end)
}

/// A controller of s2n-quic in elephan's sender, under RACK-TLP and without a pace.
struct InElephan<C> {
    control: C,
    /// The sender, once the connection is open.
    sender: Option<Sender<C>>,
    left: Departed,
}

#[derive(Default)]
struct Departed(Vec<Left>);

impl Wire for Departed {
    fn send(&mut self, now: Time, seq: u64, flags: Flags) {
        // Segment 0 is the handshake, which gives the first round-trip sample.
        if let Some(seq) = seq.checked_sub(1) {
            self.0.push((now, seq, flags.has(Flags::RETRANSMITTED)));
        }
    }
}

/// The controller of s2n-quic of that name.
#[must_use]
pub fn s2n(name: &str) -> Box<dyn Scripted> {
    let stream = Stream::new(1, 0, ("flow", 0), "script");
    match name {
        "cubic" => Box::new(InElephan::new(s2n::Cubic::cubic(DATAGRAM, stream).unpaced())),
        _ => Box::new(InElephan::new(s2n::Bbr::bbr(DATAGRAM, stream).unpaced())),
    }
}

impl<C> InElephan<C> {
    fn new(control: C) -> Self {
        Self { control, sender: None, left: Departed::default() }
    }
}

impl<C: CongestionControl> Scripted for InElephan<C> {
    fn open(&mut self, now: Time, rtt: Span) {
        let options = Options::default().with_mss(u32::from(DATAGRAM));
        let mut sender = Sender::new(self.control.clone(), Recovery::Rack, &options, 0)
            .with(&options, Features { writes: true, ..Features::default() });
        sender.write(now.saturating_sub(rtt), Some(1), &mut self.left);
        sender.on_ack(now, &Ack::new(1, &[], false), &mut self.left);
        // The controller does not hear of it.
        *sender.control_mut() = self.control.clone();
        self.sender = Some(sender);
    }

    fn write(&mut self, now: Time, segments: u64) {
        if let Some(sender) = &mut self.sender {
            sender.write(now, Some(segments), &mut self.left);
        }
    }

    fn acknowledge(&mut self, now: Time, cum: u64, blocks: &[Range<u64>], duplicate: Option<Range<u64>>) {
        let runs: Vec<(u64, u64)> = blocks.iter().map(|block| (block.start + 1, block.end + 1)).collect();
        let mut ack = Ack::new(cum + 1, if duplicate.is_some() { &[] } else { &runs }, false);
        if let Some(twice) = duplicate {
            ack.report_duplicate((twice.start + 1, twice.end + 1));
            for run in runs {
                ack.report(run);
            }
        }
        if let Some(sender) = &mut self.sender {
            sender.on_ack(now, &ack, &mut self.left);
        }
    }

    fn next(&mut self) -> Time {
        self.sender.as_ref().map_or(Time::NEVER, Sender::deadline)
    }

    fn expire(&mut self, now: Time) {
        if let Some(sender) = &mut self.sender {
            sender.on_timer(now, &mut self.left);
        }
    }

    fn take_left(&mut self) -> Vec<Left> {
        std::mem::take(&mut self.left.0)
    }

    fn state(&self) -> (f64, Option<f64>, Option<Span>) {
        let control = self.sender.as_ref().map_or(&self.control, Sender::control);
        let srtt = self.sender.as_ref().map(|sender| sender.rtt().srtt());
        (control.cwnd(), Some(control.ssthresh()).filter(|ssthresh| ssthresh.is_finite()), srtt)
    }
}
