//! An application that writes a fixed amount of data at fixed intervals over one TCP connection, as live video sends its
//! segments.
//!
//! Source: the segments of HTTP adaptive streaming (ISO/IEC 23009-1) at one bit rate: N kB every T seconds. TCP sends
//! written data after all older data. If the connection accepts no more data, the next write waits; the write after it
//! comes one interval later.
//! Differs from a video player: no request is sent, no data is skipped, and the rate does not adapt.

use crate::sizes::MOST;
use crate::{Application, ApplicationProcess, Site, SizeLaw, Sizes, Write};
use base::{Bytes, Card, ParamError, Registered, Span, Stream, Time};

base::params! {
    /// 4 Mbit/s in segments of two seconds.
    pub struct Params {
        /// Mean payload of a write.
        size: Bytes = Bytes(1_000_000), "bytes";
        /// Law of that size: constant, exponential, pareto or uniform (in segments, from 1 on).
        law: SizeLaw = SizeLaw::Constant, "";
        /// Shape of the Pareto law.
        shape: f64 = 1.2, "", needs [Is("law", "pareto")];
        /// Time from a write to the next; the first comes when the flow starts.
        every: Span = Span::secs(2), "s";
        /// Payload of the first write, with which a player fills its buffer; 0 B for one like the others.
        first: Bytes = Bytes(0), "bytes";
    }
}

/// See the [module](self).
#[derive(Clone, Debug)]
pub struct Video {
    sizes: Sizes,
    every: Span,
    /// Segments of the first write; `None` once it is written.
    first: Option<u32>,
    due: Time,
    chance: Stream,
}

impl Registered for Video {
    type Params = Params;
    const CARD: Card = Card {
        name: "video",
        aliases: &["chunks"],
        title: "Data at a given rate, written in segments of video",
        source: "HTTP adaptive streaming (ISO/IEC 23009-1) at one bit rate.",
        differs: "No requests, no player: the rate does not adapt. Each write is rounded up to whole segments of TCP.",
    };
}

impl Application for Video {
    fn new(params: &Params, site: &Site, chance: Stream) -> Result<Self, ParamError> {
        let sizes = Sizes::new(params.law, params.size, params.shape, site.mss)?;
        if !(Span::micros(1)..=Span::secs(100_000)).contains(&params.every) {
            return Err(ParamError::new("every", "must lie between 1 us and 100000 s"));
        }
        let segments = params.first.0.div_ceil(u64::from(site.mss));
        if segments > MOST as u64 {
            return Err(ParamError::new("first", "must be at most 1000000000 segments"));
        }
        let first = (segments > 0).then_some(segments as u32);
        Ok(Self { sizes, every: params.every, first, due: site.start, chance })
    }

    fn segments_per_second(params: &Params, mss: u32) -> Option<f64> {
        let sizes = Sizes::new(params.law, params.size, params.shape, mss).ok()?;
        Some(sizes.mean_segments() / params.every.as_secs())
    }
}

impl ApplicationProcess for Video {
    fn due(&self) -> Time {
        self.due
    }

    fn write(&mut self, _now: Time) -> Write {
        self.due += self.every;
        Write::Segments(self.first.take().unwrap_or_else(|| self.sizes.draw(&mut self.chance)))
    }

    fn resume(&mut self, now: Time) {
        self.due = self.due.max(now);
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use base::Rate;

    #[test]
    fn writes_come_at_equal_intervals_from_the_start_on() {
        let (packet, capacity, start) = (Bytes(1500), Rate(1_000_000_000), Time::ZERO + Span::secs(3));
        let site = Site { packet, mss: 1460, capacity, index: 0, flows: 1, start };
        let params = Params { size: Bytes(14_601), every: Span::millis(40), ..Params::default() };
        let mut video = Video::new(&params, &site, Stream::new(1, 0, ("test", 0), "traffic")).unwrap();
        for n in 0..5 {
            assert_eq!(video.due(), start + Span::millis(40 * n));
            // 14,601 B are one byte more than ten segments.
            assert_eq!(video.write(video.due()), Write::Segments(11));
        }
        assert_eq!(Video::segments_per_second(&params, 1460), Some(275.0));
        let params = Params { first: Bytes(146_001), ..params };
        let mut video = Video::new(&params, &site, Stream::new(1, 0, ("test", 0), "traffic")).unwrap();
        assert_eq!([0, 1].map(|_| video.write(video.due())), [Write::Segments(101), Write::Segments(11)]);
        // The third write would be due 80 ms after the start.
        video.resume(start + Span::millis(70));
        assert_eq!(video.due(), start + Span::millis(80));
        video.resume(start + Span::millis(90));
        video.write(video.due());
        assert_eq!(video.due(), start + Span::millis(130));
        let params = Params { every: Span::ZERO, ..params };
        let error = Video::new(&params, &site, Stream::new(1, 0, ("test", 0), "traffic")).unwrap_err();
        assert_eq!(error.to_string(), "every: must lie between 1 us and 100000 s");
    }
}
