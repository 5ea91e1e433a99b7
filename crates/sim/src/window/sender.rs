//! A sender of the window engine: TCP or datagrams.

use super::flow::TcpFlow;
use super::source::Source;

/// See the [module](self).
#[derive(Clone, Debug)]
pub enum AnySender<O, C> {
    Tcp(TcpFlow<O, C>),
    Datagrams(Source<O>),
}
