//! Promises that every registered discipline keeps, under any arrivals and any size of buffer.

use base::{Bytes, Cause, Flags, Rate, Stream, Time};
use proptest::prelude::*;
use queue::{Fates, Limit, Link, Packet, Port, QUEUES, QueueDiscipline, QueueSpec};

#[derive(Default)]
struct Ledger {
    dropped: Vec<Packet>,
    marked: usize,
}

impl Fates for Ledger {
    fn dropped(&mut self, packet: &Packet, _cause: Cause, _now: Time) {
        self.dropped.push(*packet);
    }
    fn marked(&mut self, packet: &Packet, _cause: Cause, _now: Time) {
        assert!(packet.flags.has(Flags::ECT), "only ECN-capable packets are marked");
        self.marked += 1;
    }
}

fn limits() -> impl Strategy<Value = Limit> {
    prop_oneof![
        (0u32..40).prop_map(Limit::Packets),
        (0u64..40_000).prop_map(|n| Limit::Bytes(Bytes(n))),
        Just(Limit::Unlimited)
    ]
}

#[test]
fn every_card_is_complete_and_every_name_is_found_once() {
    let mut names = Vec::new();
    for entry in QUEUES {
        assert!(!entry.card.title.is_empty() && !entry.card.source.is_empty(), "{}", entry.card.name);
        assert!(
            (entry.rows)().iter().all(|row| row.meaning.ends_with('.')),
            "{}: meanings are sentences",
            entry.card.name
        );
        names.extend(std::iter::once(entry.card.name).chain(entry.card.aliases.iter().copied()));
    }
    let count = names.len();
    names.sort_unstable();
    names.dedup();
    assert_eq!(names.len(), count, "two things share a name");
}

#[test]
fn other_spellings_name_parameters_there_are() {
    for entry in QUEUES {
        let spec = QueueSpec::named(entry.card.name).expect("registered");
        let is = |name: &str| spec.rows().iter().any(|row| row.name == name);
        for (other, name) in spec.spellings() {
            assert!(is(name) && !is(other), "{}: {other} for {name}", entry.card.name);
        }
    }
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(200))]
    /// Every packet leaves once or is dropped once; packets of a flow keep their order; the backlog never exceeds the
    /// buffer; the server never idles while something waits.
    #[test]
    fn packets_are_conserved_in_order_within_the_buffer(
        limit in limits(),
        arrivals in prop::collection::vec((0u64..30_000, 0u32..5, 40u32..2000, any::<bool>()), 1..300),
    ) {
        for entry in QUEUES {
            let port = Port { bdp: Some(50_000.0), ..Port::new(limit, Rate(8_000_000_000), 1000.0) };
            let queue = QueueSpec::named(entry.card.name).expect("registered")
                .build(&port, Stream::new(1, 0, ("link", 0), "queue")).expect("defaults are valid");
            // One byte per nanosecond.
            let mut link = Link::new(Rate(8_000_000_000), queue);
            let (mut fates, mut out, mut now) = (Ledger::default(), Vec::new(), Time::ZERO);
            let mut finish = |link: &mut Link<_>, fates: &mut Ledger, until: Time| -> Result<(), TestCaseError> {
                while let Some(&(_, at)) = link.serving() && at <= until {
                    out.push(link.complete(at, fates).expect("it is in service"));
                    prop_assert!(link.serving().is_some() || link.backlog().packets == 0, "idle beside a backlog");
                }
                Ok(())
            };
            for (token, &(gap, flow, size, ect)) in arrivals.iter().enumerate() {
                now.0 += gap * 100;
                finish(&mut link, &mut fates, now)?;
                let flags = if ect { Flags::ECT } else { Flags::NONE };
                link.offer(Packet::new(flow, token as u32, size, now).with(flags), &mut fates);
                match limit {
                    Limit::Packets(n) => prop_assert!(link.backlog().packets <= n),
                    Limit::Bytes(n) => prop_assert!(link.backlog().bytes <= n),
                    Limit::Unlimited => prop_assert!(fates.dropped.is_empty() || entry.card.name != "drop-tail"),
                }
            }
            finish(&mut link, &mut fates, Time::NEVER)?;
            prop_assert_eq!(link.backlog(), queue::Backlog::default());
            prop_assert_eq!(link.queue().backlog().packets, 0);
            let mut seen: Vec<u32> = out.iter().chain(&fates.dropped).map(|p| p.token).collect();
            seen.sort_unstable();
            prop_assert_eq!(seen, (0..arrivals.len() as u32).collect::<Vec<_>>(), "{}", entry.card.name);
            for flow in 0..5 {
                let tokens: Vec<u32> = out.iter().filter(|p| p.flow == flow).map(|p| p.token).collect();
                prop_assert!(tokens.is_sorted(), "{}: flow {flow} is reordered", entry.card.name);
            }
        }
    }
}
