//! A greedy source that always has more data to send.
//!
//! Source: the FTP source of ns-2, which most simulation papers on TCP use.

use crate::Transfer;
use base::{Card, ParamError, Registered};

base::params! {
    /// None.
    pub struct Params {}
}

/// See the [module](self).
#[derive(Clone, Copy, Debug)]
pub struct Bulk;

impl Registered for Bulk {
    type Params = Params;
    const CARD: Card = Card {
        name: "bulk",
        aliases: &["ftp", "greedy"],
        title: "Bulk transfer",
        source: "Always backlogged; the FTP source of the papers.",
        differs: "",
    };
}

impl Transfer for Bulk {
    fn segments(_params: &Params, _mss: u32) -> Result<Option<u64>, ParamError> {
        Ok(None)
    }
}
