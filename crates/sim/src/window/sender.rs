//! A sender of the window engine, of either kind.

use super::flow::TcpFlow;
use super::source::Source;

/// See the [module](self).
#[derive(Debug)]
#[expect(
    clippy::large_enum_variant,
    reason = "most senders are TCP's, and a box would be one more miss for each visit"
)]
pub enum AnySender<O> {
    Tcp(TcpFlow<O>),
    Datagrams(Source<O>),
}
