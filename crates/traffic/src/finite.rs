//! One file of a given size.
//!
//! Differs from ns-2: the size is in bytes of payload, and rounded up to whole segments.

use crate::Transfer;
use base::{Bytes, Card, ParamError, Registered};

base::params! {
    /// The file.
    pub struct Params {
        /// Payload of the transfer.
        size: Bytes = Bytes(1_000_000), "bytes";
    }
}

/// See the [module](self).
#[derive(Clone, Copy, Debug)]
pub struct Finite;

impl Registered for Finite {
    type Params = Params;
    const CARD: Card = Card {
        name: "finite",
        aliases: &["transfer"],
        title: "Finite transfer",
        source: "One file of given size.",
        differs: "The size is rounded up to whole segments.",
    };
}

impl Transfer for Finite {
    fn segments(params: &Params, mss: u32) -> Result<Option<u64>, ParamError> {
        match params.size.0.div_ceil(u64::from(mss)) {
            0 => Err(ParamError::new("size", "must be at least 1 B")),
            segments => Ok(Some(segments)),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_transfer_is_rounded_up_to_whole_segments() {
        let segments = |bytes| Finite::segments(&Params { size: Bytes(bytes) }, 960);
        assert_eq!(segments(2881), Ok(Some(4)));
        assert_eq!(segments(2880), Ok(Some(3)));
        assert!(segments(0).is_err());
        assert_eq!(segments(960 << 40), Ok(Some(1 << 40)), "the number of segments has more than 32 bits");
    }
}
