//! A user of today's web, who opens a page, reads it, and opens the next. A page is a document and the resources that
//! it names. When the document has arrived, one connection to each host opens; HTTP/2 sends all data of a host over it
//! as one transfer.
//!
//! Source: HTTP Archive, Web Almanac 2024, "Page Weight": the median page of a desktop has 2,652 kB in 71 requests, of
//! which the document is 18 kB. The amount of data of each host is random. The number of hosts and the thinking time
//! are not from the source.
//! Differs from browsers: no request, name lookup or TLS is simulated; every page opens new connections; resources that
//! scripts would request later are sent together with the other resources.

use crate::times::check_places;
use crate::web::{self, Web};
use crate::{Session, SessionProcess, Site, SizeLaw, TimeLaw};
use base::{Bytes, Card, ParamError, Registered, Span, Stream, Time};

base::params! {
    /// HTTP Archive, 2024.
    pub struct Params {
        /// Pages of the session; 0 for no end.
        pages: u32 = 0, "";
        /// Mean time from the end of a page to the next.
        think: Span = Span::secs(20), "s";
        /// Law of that time: constant, exponential or pareto.
        think_law: TimeLaw = TimeLaw::Exponential, "";
        /// Its shape, if Pareto.
        think_shape: f64 = 2.0, "", needs [Is("think_law", "pareto")];
        /// Payload of the document.
        document: Bytes = Bytes(18_000), "bytes";
        /// Hosts that have the rest, a connection to each.
        hosts: u32 = 10, "";
        /// Mean payload that a host has.
        size: Bytes = Bytes(263_000), "bytes";
        /// Law of that size: constant, exponential, pareto or uniform (in segments, from 1 on).
        law: SizeLaw = SizeLaw::Exponential, "";
        /// Its shape, if Pareto.
        shape: f64 = 1.2, "", needs [Is("law", "pareto")];
    }
}

/// See the [module](self).
#[derive(Clone, Debug)]
pub struct Page(Web);

impl Registered for Page {
    type Params = Params;
    const CARD: Card = Card {
        name: "page",
        aliases: &["http2", "web-2024"],
        title: "Pages of today: a document, then ten hosts in parallel",
        source: "HTTP Archive, Web Almanac 2024, \"Page Weight\"",
        differs: "No requests, name lookups or TLS; new connections for every page; no objects that scripts ask for later.",
    };
}

impl Session for Page {
    fn new(params: &Params, site: &Site, chance: Stream) -> Result<Self, ParamError> {
        let p = params;
        check_places("hosts", p.hosts)?;
        if p.document.0 == 0 || p.document.0 > u64::from(site.mss) * 1_000_000 {
            return Err(ParamError::new("document", "must be 1 B to 1000000 segments"));
        }
        let page = web::Params {
            pages: p.pages,
            think: p.think,
            think_law: p.think_law,
            think_shape: p.think_shape,
            objects: f64::from(p.hosts),
            objects_law: SizeLaw::Constant,
            gap: Span::ZERO,
            gap_law: TimeLaw::Constant,
            size: p.size,
            law: p.law,
            shape: p.shape,
            connections: p.hosts,
            ..web::Params::default()
        };
        let mut web = Web::new(&page, site, chance)?;
        web.document = u32::try_from(p.document.0.div_ceil(u64::from(site.mss))).ok();
        Ok(Self(web))
    }

    fn places(params: &Params) -> u32 {
        params.hosts
    }
}

impl SessionProcess for Page {
    fn due(&self) -> Time {
        self.0.due()
    }

    fn open(&mut self, now: Time) -> u32 {
        self.0.open(now)
    }

    fn ended(&mut self, now: Time) -> Option<Time> {
        self.0.ended(now)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use base::Rate;

    fn page(params: &Params) -> Result<Page, ParamError> {
        let start = ms(1);
        let site = Site { packet: Bytes(1000), mss: 960, capacity: Rate(1_000_000_000), index: 0, flows: 1, start };
        Page::new(params, &site, Stream::new(11, 0, ("test", 0), "traffic"))
    }

    fn ms(n: u64) -> Time {
        Time::ZERO + Span::millis(n)
    }

    #[test]
    fn hosts_wait_for_the_document_and_then_send_in_parallel() {
        let (think, think_law, law) = (Span::millis(100), TimeLaw::Constant, SizeLaw::Constant);
        let steady =
            Params { document: Bytes(961), hosts: 3, size: Bytes(2881), law, think, think_law, ..Params::default() };
        let mut page = page(&steady).unwrap();
        // The document has two segments of 960 bytes; no transfer is due until they have arrived.
        assert_eq!((page.due(), page.open(ms(1)), page.due()), (ms(1), 2, Time::NEVER));
        assert_eq!((page.ended(ms(50)), page.due()), (None, ms(50)));
        assert_eq!([page.open(ms(50)), page.open(ms(50)), page.open(ms(50))], [4, 4, 4]);
        assert_eq!((page.due(), page.ended(ms(70)), page.ended(ms(80))), (Time::NEVER, None, None));
        assert_eq!((page.ended(ms(90)), page.due()), (Some(ms(1)), ms(190)));
        // The next page begins with its document.
        assert_eq!((page.open(ms(190)), page.due()), (2, Time::NEVER));
    }

    #[test]
    fn errors_name_the_wrong_parameter() {
        let error = |params: Params| page(&params).unwrap_err().field;
        assert_eq!(error(Params { hosts: 0, ..Params::default() }), "hosts");
        assert_eq!(error(Params { document: Bytes(0), ..Params::default() }), "document");
        assert_eq!(error(Params { document: Bytes(960_000_001), ..Params::default() }), "document");
        assert_eq!(error(Params { size: Bytes(0), ..Params::default() }), "size");
        assert_eq!(error(Params { think: Span::ZERO, ..Params::default() }), "think");
    }
}
