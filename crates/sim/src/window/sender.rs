//! A sender of the window engine, of either kind.

use super::flow::TcpFlow;
use super::source::Source;

/// See the [module](self).
#[derive(Clone, Debug)]
pub enum AnySender<O, C> {
    Tcp(TcpFlow<O, C>),
    Datagrams(Source<O>),
}
