//! Flows from a list: each opens at its time and has the size given there.
//!
//! Source: a list that the user measured or generated. The n flows of a group share the list: flow i takes every n-th
//! entry, starting with entry i. Times in the list count from the start of the flow. In Python, files may use
//! `file = "flows.csv"` (or Parquet) instead of `flows`: a table with the columns `start_s` and `size_bytes`.

use crate::flow_list::{FlowList, ListedFlow};
use crate::sizes::MOST;
use crate::times::check_places;
use crate::{Session, SessionProcess, Site};
use base::{Bytes, Card, ParamError, Registered, Span, Stream, Time};

base::params! {
    /// A trace.
    pub struct Params {
        /// Opening times from the start on and payloads, such as "0 s 12 kB; 1.5 s 300 kB"; or `file`, a CSV or Parquet file.
        flows: FlowList = FlowList::one(ListedFlow { at: Span::ZERO, size: Bytes(1_000_000) }), "";
        /// Transfers of one flow of the group that may be open at a time; more wait.
        places: u32 = 1000, "";
    }
}

/// See the [module](self).
#[derive(Clone, Debug)]
pub struct Replay {
    list: FlowList,
    mss: u32,
    /// Index of the entry that opens next, and the distance from an entry to the next entry of the same flow.
    next: usize,
    step: usize,
    start: Time,
    /// Time of the last call.
    now: Time,
}

impl Registered for Replay {
    type Params = Params;
    const CARD: Card = Card {
        name: "replay",
        aliases: &[],
        title: "Flows of a list",
        source: "A list of opening times and sizes.",
        differs: "Times are rounded to nanoseconds and sizes up to whole segments; a flow waits if all places are taken.",
    };
}

impl Session for Replay {
    fn new(params: &Params, site: &Site, _chance: Stream) -> Result<Self, ParamError> {
        check_places("places", params.places)?;
        if params.flows.largest().0.div_ceil(u64::from(site.mss)) > MOST as u64 {
            return Err(ParamError::new("flows", "must hold at most 1000000000 segments each"));
        }
        Ok(Self {
            list: params.flows.clone(),
            mss: site.mss,
            next: site.index as usize,
            step: site.flows as usize,
            start: site.start,
            now: site.start,
        })
    }

    fn places(params: &Params) -> u32 {
        params.places
    }
}

impl SessionProcess for Replay {
    fn due(&self) -> Time {
        self.list.get(self.next).map_or(Time::NEVER, |entry| (self.start + entry.at).max(self.now))
    }

    fn open(&mut self, now: Time) -> u32 {
        self.now = now;
        let size = self.list.get(self.next).map_or(Bytes(1), |entry| entry.size);
        self.next += self.step;
        size.0.div_ceil(u64::from(self.mss)) as u32
    }

    fn ended(&mut self, now: Time) -> Option<Time> {
        self.now = now;
        None
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use base::param::ParamType;
    use base::{Rate, Value};
    use proptest::prelude::*;

    fn list(text: &str) -> Result<FlowList, String> {
        FlowList::read(&Value::Text(text.into()))
    }

    fn canonical(text: &str) -> String {
        let Value::Text(text) = list(text).unwrap().write() else { panic!("no text") };
        text
    }

    fn replay(text: &str, index: u32, flows: u32) -> Replay {
        let params = Params { flows: list(text).unwrap(), ..Params::default() };
        let start = Time(1_000_000_000_000);
        let site = Site { packet: Bytes(1000), mss: 960, capacity: Rate(1_000_000_000), index, flows, start };
        Replay::new(&params, &site, Stream::new(1, 0, ("test", 0), "traffic")).unwrap()
    }

    #[test]
    fn flows_open_at_their_times_after_the_start_and_have_whole_segments() {
        let mut replay = replay("0 s 12 kB; 1.5 s 960 B; 1.5 s 961 B", 0, 1);
        let at = |ms| Time::ZERO + Span::millis(ms);
        assert_eq!((replay.due(), replay.open(at(1000))), (at(1000), 13));
        assert_eq!((replay.due(), replay.open(at(2500)), replay.due()), (at(2500), 1, at(2500)));
        // All places were taken until 3 s, so the last flow opens then.
        replay.ended(at(3000));
        assert_eq!((replay.due(), replay.open(at(3000)), replay.due()), (at(3000), 2, Time::NEVER));
    }

    #[test]
    fn the_flows_of_a_group_share_the_list() {
        let text = "0 s 1 B; 1 s 1 B; 2 s 1 B; 3 s 1 B; 4 s 1 B";
        let times = |i| {
            let mut replay = replay(text, i, 3);
            let mut times = vec![];
            while replay.due() < Time::NEVER {
                times.push(replay.due().0 / 1_000_000_000_000 - 1);
                replay.open(replay.due());
            }
            times
        };
        assert_eq!([times(0), times(1), times(2)], [vec![0, 3], vec![1, 4], vec![2]]);
        assert_eq!(replay(text, 7, 8).due(), Time::NEVER);
    }

    #[test]
    fn reads_all_forms_of_quantities_and_writes_decimal_seconds() {
        assert_eq!(canonical("0 s 12 kB; 1.5 s 300 kB"), "0 s 12000 B; 1.5 s 300000 B");
        assert_eq!(canonical(" 1ms 2B ;\n 1e-2 s 1.5e3 B; 0.5min 1KiB;"), "0.001 s 2 B; 0.01 s 1500 B; 30 s 1024 B");
        assert_eq!(canonical("3 µs .5 kB; 12345.678901234 s 7 GB"), "0.000003 s 500 B; 12345.678901234 s 7000000000 B");
        // Rounded to the nearest nanosecond.
        assert_eq!(canonical("0.0000000014 s 1 B; 2500 ps 1 B"), "0.000000001 s 1 B; 0.000000003 s 1 B");
    }

    #[test]
    fn errors_in_lists_name_the_wrong_entry() {
        let error = |text| list(text).unwrap_err();
        assert_eq!(error(" ; "), "must hold a flow or more, such as \"0 s 12 kB; 1.5 s 300 kB\"");
        assert_eq!(error("0 s 1 B; 5"), "entry 2: \"5\" is not a time and a size, such as \"1.5 s 300 kB\"");
        assert_eq!(error("0 s 1 B;; 1 s 1 B"), "entry 2: \"\" is not a time and a size, such as \"1.5 s 300 kB\"");
        assert_eq!(error("2 s 1 B; 1 s 1 B"), "entry 2: opens before the one in front of it; sort them by time");
        assert_eq!(error("0 s 0 B"), "entry 1: must hold at least 1 B");
        assert_eq!(error("0 s 12"), "entry 1: \"12\" has no unit; write for example \"12 B\"");
        assert_eq!(error("-1 s 12 B"), "entry 1: \"-1 s\" is out of range; times lie between 0 and 11 days");
        assert_eq!(error("99999999 s 1 B"), "entry 1: \"99999999 s\" is out of range; times lie between 0 and 11 days");
        assert_eq!(error("0 s 9999999 GB"), "entry 1: \"9999999 GB\" is out of range; sizes lie between 0 and 1000 TB");
        assert_eq!(
            error("0 s 1 Mbit"),
            "entry 1: unknown unit \"Mbit\" in \"1 Mbit\"; sizes are in B, kB, MB, GB, KiB, MiB or GiB"
        );
        assert!(FlowList::read(&Value::Number(3.0)).is_err());
    }

    #[test]
    fn flows_with_too_many_segments_are_refused() {
        let params = Params { flows: list("0 s 1000 GB; 1 s 1 B").unwrap(), ..Params::default() };
        let site = Site { packet: Bytes(1000), mss: 960, capacity: Rate(1), index: 0, flows: 1, start: Time::ZERO };
        let error = Replay::new(&params, &site, Stream::new(1, 0, ("test", 0), "traffic")).unwrap_err();
        assert_eq!(error.to_string(), "flows: must hold at most 1000000000 segments each");
    }

    proptest! {
        #[test]
        fn writing_and_reading_back_is_the_identity(
            mut times in prop::collection::vec(0..1_000_000_000_000_000u64, 1..20),
            size in 1..1_000_000_000_000_000u64,
        ) {
            times.sort_unstable();
            let text: Vec<_> = times.iter().map(|ns| format!("{ns} ns {size} B")).collect();
            let read = list(&text.join(";")).unwrap();
            prop_assert!(times.iter().enumerate().all(|(i, &ns)| read.get(i).unwrap().at == Span::nanos(ns)));
            prop_assert_eq!(&FlowList::read(&read.write()).unwrap(), &read);
            prop_assert_eq!(read.largest(), Bytes(size));
        }

        #[test]
        fn no_text_makes_the_reader_panic(text in "[0-9eE.+_; smunkMGB-]{0,40}|\\PC*") {
            let _ = list(&text);
        }
    }
}
