//! Quantities that may differ between the flows of a group or the links of an array: one value, equally spaced values,
//! draws, or a list.

use crate::quantity::Quantity;
use serde::{Deserialize, Serialize};

/// A quantity for each flow of a group.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Values<T> {
    /// Equally spaced from the first to the last flow.
    Spread(T, T),
    /// Uniform draws.
    Uniform(T, T),
    /// One value per flow, in order, if the list is as long as the number of flows. Otherwise each flow draws one of them.
    List(Vec<T>),
    /// The same value for all flows.
    #[serde(untagged)]
    Same(T),
}

impl<T: Quantity> Values<T> {
    /// The smallest value of any flow.
    #[must_use]
    pub fn min(&self) -> T {
        match self {
            Self::Same(x) => *x,
            Self::Spread(from, to) | Self::Uniform(from, to) => *from.min(to),
            Self::List(list) => list.iter().min().copied().unwrap_or(T::of(0)),
        }
    }

    /// The largest value of any flow.
    #[must_use]
    pub fn max(&self) -> T {
        match self {
            Self::Same(x) => *x,
            Self::Spread(from, to) | Self::Uniform(from, to) => *from.max(to),
            Self::List(list) => list.iter().max().copied().unwrap_or(T::of(0)),
        }
    }

    /// The mean over flows: exact for values and spreads, expected for draws.
    #[must_use]
    pub fn mean(&self) -> T {
        match self {
            Self::Same(x) => *x,
            Self::Spread(from, to) | Self::Uniform(from, to) => T::of(u64::midpoint(from.base(), to.base())),
            Self::List(list) => {
                let sum: u128 = list.iter().map(|x| u128::from(x.base())).sum();
                T::of((sum / (list.len() as u128).max(1)) as u64)
            }
        }
    }
}

/// A quantity for each link of an array.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Ranged<T> {
    /// Uniform draws for each link and replication.
    Uniform(T, T),
    /// The same value for all links.
    #[serde(untagged)]
    Same(T),
}

impl<T> From<Ranged<T>> for Values<T> {
    fn from(ranged: Ranged<T>) -> Self {
        match ranged {
            Ranged::Uniform(from, to) => Self::Uniform(from, to),
            Ranged::Same(x) => Self::Same(x),
        }
    }
}

impl<T: Quantity> Ranged<T> {
    /// The smallest value that can be drawn.
    #[must_use]
    pub fn min(&self) -> T {
        match self {
            Self::Same(x) | Self::Uniform(x, _) => *x,
        }
    }

    /// The largest value that can be drawn.
    #[must_use]
    pub fn max(&self) -> T {
        match self {
            Self::Same(x) | Self::Uniform(_, x) => *x,
        }
    }

    /// The mean.
    #[must_use]
    pub fn mean(&self) -> T {
        Values::from(*self).mean()
    }
}
