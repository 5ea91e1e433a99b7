//! Index of the largest of many weights; cheap if weights change at every packet and the largest is rarely requested.
//!
//! Weights are grouped in blocks, and each block has an upper bound that only rises. A block whose largest weight fell is
//! searched when the largest weight is requested.

const BLOCK: usize = 32;

/// See the [module](self).
#[derive(Clone, Debug)]
pub(crate) struct Heaviest {
    weights: Vec<u64>,
    /// Upper bound of the weights of each block; it is exact unless the block is stale.
    tops: Vec<u64>,
    stale: Vec<bool>,
}

impl Heaviest {
    /// `n` weights of zero.
    pub fn new(n: usize) -> Self {
        let blocks = n.div_ceil(BLOCK);
        Self { weights: vec![0; n], tops: vec![0; blocks], stale: vec![false; blocks] }
    }

    #[inline]
    pub fn add(&mut self, i: u32, x: u64) {
        let weight = &mut self.weights[i as usize];
        *weight += x;
        let top = &mut self.tops[i as usize / BLOCK];
        *top = (*top).max(*weight);
    }

    #[inline]
    pub fn take(&mut self, i: u32, x: u64) {
        let weight = &mut self.weights[i as usize];
        self.stale[i as usize / BLOCK] |= *weight == self.tops[i as usize / BLOCK];
        *weight -= x;
    }

    /// The index of the largest weight; the first one if several are equal.
    pub fn find(&mut self) -> u32 {
        let (mut best, mut largest) = (0, 0);
        base::steps::count_steps(self.tops.len());
        for block in 0..self.tops.len() {
            if self.tops[block] <= largest {
                continue;
            }
            let first = block * BLOCK;
            let members = &self.weights[first..(first + BLOCK).min(self.weights.len())];
            if std::mem::take(&mut self.stale[block]) {
                base::steps::count_steps(BLOCK);
                self.tops[block] = members.iter().copied().max().unwrap_or(0);
            }
            if self.tops[block] > largest {
                (best, largest) = (block, self.tops[block]);
            }
        }
        let first = best * BLOCK;
        (first + self.weights[first..].iter().position(|w| *w == largest).unwrap_or(0)) as u32
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use base::Stream;

    #[test]
    fn finds_the_same_entry_as_a_linear_search() {
        let (mut heaviest, mut chance) = (Heaviest::new(100), Stream::new(1, 0, ("test", 0), "weights"));
        let mut plain = vec![0u64; 100];
        for _ in 0..20_000 {
            let (i, x) = (chance.below(100) as u32, chance.below(8));
            if chance.below(2) == 0 {
                heaviest.add(i, x);
                plain[i as usize] += x;
            } else {
                let x = x.min(plain[i as usize]);
                heaviest.take(i, x);
                plain[i as usize] -= x;
            }
            let largest = plain.iter().max().unwrap();
            if chance.below(4) == 0 {
                assert_eq!(heaviest.find() as usize, plain.iter().position(|w| w == largest).unwrap());
            }
        }
    }
}
