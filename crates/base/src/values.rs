//! Quantities that need not be the same for all flows of a group or all links of an array: one value, equally spaced,
//! drawn, or a list.

use crate::quantity::Quantity;
use serde::{Deserialize, Serialize};

/// A quantity of each flow of a group.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Values<T> {
    /// Equally spaced from the first to the last flow.
    Spread(T, T),
    /// Uniform draws.
    Uniform(T, T),
    /// One value per flow, in order, if the list is as long as the number of flows. Otherwise each flow draws one of them.
    List(Vec<T>),
    /// Same value for all.
    #[serde(untagged)]
    Same(T),
}

impl<T: Quantity> Values<T> {
    /// The smallest that a flow can have.
    #[must_use]
    pub fn min(&self) -> T {
        match self {
            Self::Same(x) => *x,
            Self::Spread(from, to) | Self::Uniform(from, to) => *from.min(to),
            Self::List(list) => list.iter().min().copied().unwrap_or(T::of(0)),
        }
    }

    /// The largest that a flow can have.
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

/// A quantity of each link of an array.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Ranged<T> {
    /// Uniform draws of each link and replication.
    Uniform(T, T),
    /// Same value for all.
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
    /// The smallest that can be drawn.
    #[must_use]
    pub fn min(&self) -> T {
        match self {
            Self::Same(x) | Self::Uniform(x, _) => *x,
        }
    }

    /// The largest that can be drawn.
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
