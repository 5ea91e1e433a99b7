//! A user of the web, who opens a page, reads it, and opens the next. The objects of a page open one after another.
//!
//! Source: PagePool/WebTraf of ns-2 (Feldmann, Gilbert, Huang, Willinger 1999), with the laws of the web scenario of
//! gHSTCP's paper as defaults. Objects open at times that do not depend on earlier objects. Their number is rounded up
//! (as in ns-2: a mean of 3 with shape 1.5 becomes 3.61). Thinking begins at the end of the page (`interPageOption_` 1
//! of ns-2, its default) or at the start of the page (0).
//! Differs from ns-2: no request is sent; at most `connections` transfers are open at once; pages of a session do not
//! overlap, even if thinking begins at their start; all transfers take one path (ns-2 draws a server for each page).

use crate::times::{check_places, check_think};
use crate::{Session, SessionProcess, Site, SizeLaw, Sizes, TimeLaw, Times};
use base::{Bytes, Card, ParamError, Registered, Span, Stream, Time};

base::params! {
    /// ns-2's PagePool/WebTraf.
    pub struct Params {
        /// Pages of the session; 0 for no end.
        pages: u32 = 0, "";
        /// Mean time from a page to the next.
        think: Span = Span::secs(10), "s";
        /// Law of that time: constant, exponential or pareto.
        think_law: TimeLaw = TimeLaw::Pareto, "";
        /// Its shape, if Pareto.
        think_shape: f64 = 2.0, "", needs [Is("think_law", "pareto")];
        /// Whether that time begins with the end of the page or its start.
        think_from: ThinkFrom = ThinkFrom::End, "";
        /// Mean number of objects of a page, before it is rounded up.
        objects: f64 = 3.0, "";
        /// Law of that number: constant, exponential, pareto or uniform (from 1 on).
        objects_law: SizeLaw = SizeLaw::Pareto, "";
        /// Its shape, if Pareto.
        objects_shape: f64 = 1.5, "", needs [Is("objects_law", "pareto")];
        /// Mean time from an object to the next of the page.
        gap: Span = Span::millis(500), "s";
        /// Law of that time: constant, exponential or pareto.
        gap_law: TimeLaw = TimeLaw::Pareto, "";
        /// Its shape, if Pareto.
        gap_shape: f64 = 1.5, "", needs [Is("gap_law", "pareto")];
        /// Mean payload of an object.
        size: Bytes = Bytes(12_000), "bytes";
        /// Law of that size: constant, exponential, pareto or uniform (in segments, from 1 on).
        law: SizeLaw = SizeLaw::Pareto, "";
        /// Its shape, if Pareto.
        shape: f64 = 1.2, "", needs [Is("law", "pareto")];
        /// Connections at a time, as browsers have six; objects that come when all are taken wait.
        connections: u32 = 6, "";
    }
}

base::words! {
    /// Instant from which the time between pages is measured.
    pub enum ThinkFrom {
        /// When all objects have arrived.
        End = "end",
        /// When the first object is requested.
        Start = "start",
    }
}

/// See the [module](self).
#[derive(Clone, Debug)]
pub struct Web {
    sizes: Sizes,
    /// Segments of the document, if a page has one; the objects are requested when the document has arrived.
    pub(crate) document: Option<u32>,
    objects: Sizes,
    gaps: Times,
    thinks: Times,
    think_from: ThinkFrom,
    /// Number of pages still to open.
    pages: u64,
    /// Time at which the page in progress opened.
    opened: Time,
    /// Numbers of objects of this page that have yet to open, and that are open.
    left: u32,
    open: u32,
    /// Time of the next object or page, which may have to wait.
    next: Time,
    /// Time of the last call.
    now: Time,
    chance: Stream,
}

impl Registered for Web {
    type Params = Params;
    const CARD: Card = Card {
        name: "web",
        aliases: &["webtraf", "pagepool"],
        title: "Pages of several objects",
        source: "ns-2's PagePool/WebTraf; Feldmann et al. 1999",
        differs: "No requests; a limited number of connections (ns-2 has none); pages of a session do not overlap, and all \
                  take one path.",
    };
}

impl Session for Web {
    fn new(params: &Params, site: &Site, chance: Stream) -> Result<Self, ParamError> {
        let p = params;
        check_think(p.think)?;
        check_places("connections", p.connections)?;
        Ok(Self {
            thinks: Times::new(p.think_law, p.think, p.think_shape, ["think", "think_shape"])?,
            objects: Sizes::counted(p.objects_law, p.objects, p.objects_shape, ["objects", "objects_shape"])?,
            gaps: Times::new(p.gap_law, p.gap, p.gap_shape, ["gap", "gap_shape"])?,
            sizes: Sizes::new(p.law, p.size, p.shape, site.mss)?,
            document: None,
            think_from: p.think_from,
            // If the number of pages is unlimited, there is no last page.
            pages: if p.pages == 0 { u64::MAX } else { u64::from(p.pages) },
            opened: site.start,
            left: 0,
            open: 0,
            next: site.start,
            now: site.start,
            chance,
        })
    }

    fn places(params: &Params) -> u32 {
        params.connections
    }
}

impl SessionProcess for Web {
    fn due(&self) -> Time {
        self.next.max(self.now)
    }

    fn open(&mut self, now: Time) -> u32 {
        self.now = now;
        if self.left == 0 {
            self.opened = now;
            self.pages -= 1;
            self.left = self.objects.draw(&mut self.chance);
            if let Some(segments) = self.document {
                self.open = 1;
                self.next = Time::NEVER;
                return segments;
            }
        }
        self.left -= 1;
        self.open += 1;
        let segments = self.sizes.draw(&mut self.chance);
        self.next = if self.left > 0 { self.next + self.gaps.draw(&mut self.chance) } else { Time::NEVER };
        segments
    }

    fn ended(&mut self, now: Time) -> Option<Time> {
        self.now = now;
        self.open -= 1;
        if self.left + self.open > 0 {
            if self.open == 0 && self.next == Time::NEVER {
                // The document has arrived, so its objects are requested.
                self.next = now;
            }
            return None;
        }
        if self.pages > 0 {
            let from = if self.think_from == ThinkFrom::End { now } else { self.opened };
            self.next = (from + self.thinks.draw(&mut self.chance)).max(now);
        }
        Some(self.opened)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use base::Rate;

    fn web(params: &Params) -> Web {
        let start = Time(1_000_000_000);
        let site = Site { packet: Bytes(1000), mss: 960, capacity: Rate(1_000_000_000), index: 0, flows: 1, start };
        Web::new(params, &site, Stream::new(11, 0, ("test", 0), "traffic")).unwrap()
    }

    fn ms(n: u64) -> Time {
        Time::ZERO + Span::millis(n)
    }

    /// Three objects of two segments, 10 ms apart, and 100 ms of thinking, all constant.
    fn steady() -> Params {
        Params {
            pages: 2,
            think: Span::millis(100),
            think_law: TimeLaw::Constant,
            objects_law: SizeLaw::Constant,
            gap: Span::millis(10),
            gap_law: TimeLaw::Constant,
            size: Bytes(1900),
            law: SizeLaw::Constant,
            ..Params::default()
        }
    }

    #[test]
    fn a_page_is_complete_when_its_last_object_has_been_opened_and_all_have_ended() {
        let mut web = web(&steady());
        assert_eq!((web.due(), web.open(ms(1)), web.due()), (ms(1), 2, ms(11)));
        // The only open object ends; two have yet to open.
        assert_eq!((web.ended(ms(5)), web.due()), (None, ms(11)));
        assert_eq!((web.open(ms(11)), web.due(), web.open(ms(21)), web.due()), (2, ms(21), 2, Time::NEVER));
        assert_eq!(
            (web.ended(ms(30)), web.due(), web.ended(ms(40)), web.due()),
            (None, Time::NEVER, Some(ms(1)), ms(140))
        );
        // The second page is the last.
        for now in [140, 150, 160] {
            assert_eq!((web.due(), web.open(ms(now))), (ms(now), 2));
        }
        assert_eq!((web.ended(ms(161)), web.ended(ms(162)), web.ended(ms(163))), (None, None, Some(ms(140))));
        assert_eq!(web.due(), Time::NEVER);
    }

    #[test]
    fn an_object_that_had_to_wait_does_not_delay_later_objects() {
        let mut web = web(&steady());
        web.open(ms(1));
        // The object was due at 11 ms and opened at 18 ms; the next one is still due at 21 ms.
        assert_eq!((web.open(ms(18)), web.due()), (2, ms(21)));
        // An overdue object is due at the time of the last call.
        assert_eq!((web.ended(ms(25)), web.due()), (None, ms(25)));
    }

    #[test]
    fn thinking_may_begin_at_the_start_of_the_page() {
        let start = Params { think_from: ThinkFrom::Start, objects: 1.0, ..steady() };
        for (end, next) in [(50, 101), (101, 101), (300, 300)] {
            let mut web = web(&start);
            web.open(ms(1));
            assert_eq!((web.ended(ms(end)), web.due()), (Some(ms(1)), ms(next)), "{end}");
        }
    }

    /// Opening times, in units of 0.1 s, of the objects of three pages; each transfer takes 0.8 s.
    fn openings(think_from: ThinkFrom) -> Vec<u64> {
        let constant = Params { objects: 2.5, gap: Span::millis(500), think: Span::secs(10), think_from, ..steady() };
        let mut web = web(&Params { pages: 3, ..constant });
        let (mut ends, mut list) = (std::collections::VecDeque::new(), vec![]);
        loop {
            match (web.due(), ends.front().copied().unwrap_or(Time::NEVER)) {
                (Time::NEVER, Time::NEVER) => return list,
                (due, end) if end <= due => {
                    ends.pop_front();
                    web.ended(end);
                }
                (due, _) => {
                    web.open(due);
                    ends.push_back(due + Span::millis(800));
                    list.push(due.since(ms(1)).0 / Span::millis(100).0);
                }
            }
        }
    }

    #[test]
    fn objects_open_at_the_same_times_as_in_ns_2() {
        // ns-2.35's PagePool/WebTraf with constant laws (10 s, 2.5 objects, 0.5 s) and `doneObj` 0.8 s after each
        // `launch-req`, measured from the start of the session: first with the default, then with
        // `set-interPageOption 0`.
        assert_eq!(openings(ThinkFrom::End), [0, 5, 10, 118, 123, 128, 236, 241, 246]);
        assert_eq!(openings(ThinkFrom::Start), [0, 5, 10, 100, 105, 110, 200, 205, 210]);
    }

    #[test]
    fn errors_name_the_wrong_parameter() {
        let error = |params: Params| {
            let site = Site { packet: Bytes(1000), mss: 960, capacity: Rate(1), index: 0, flows: 1, start: Time::ZERO };
            Web::new(&params, &site, Stream::new(1, 0, ("test", 0), "traffic")).unwrap_err().field
        };
        assert_eq!(error(Params { objects: 0.5, ..Params::default() }), "objects");
        assert_eq!(error(Params { objects_shape: 1.0, ..Params::default() }), "objects_shape");
        assert_eq!(error(Params { gap_shape: f64::NAN, ..Params::default() }), "gap_shape");
        assert_eq!(error(Params { think_shape: 0.5, ..Params::default() }), "think_shape");
        assert_eq!(error(Params { gap: Span::secs(100_001), ..Params::default() }), "gap");
        assert_eq!(error(Params { think: Span::ZERO, ..Params::default() }), "think");
        assert_eq!(error(Params { connections: 0, ..Params::default() }), "connections");
        assert_eq!(error(Params { size: Bytes(0), ..Params::default() }), "size");
    }
}
