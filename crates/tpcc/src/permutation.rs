//! Random permutations with random access (4.3.2.6): the customer of each order, and the choice
//! of exactly one row in ten, without a table and without generating any other row.
//!
//! A Feistel network permutes the numbers of a power of two that is less than twice `n`;
//! results at or above `n` are permuted again until they fall below it ("cycle walking").

use crate::rng::{GOLDEN, mix};

/// Pairs of Feistel rounds: six rounds in all, where four already pass the tests, because the
/// halves are as small as six bits.
const ROUND_PAIRS: u64 = 3;

/// A pseudo-random permutation of `0..n`, chosen by a key.
#[derive(Debug, Clone, Copy)]
pub struct Permutation {
    key: u64,
    n: u32,
    right_bits: u32,
    left_mask: u64,
    right_mask: u64,
}

impl Permutation {
    /// The permutation of `0..n` that belongs to `key`, which must be well mixed
    /// ([`crate::rng::key`]).
    #[inline]
    pub fn new(key: u64, n: u32) -> Permutation {
        // At least two bits, so that neither half is empty.
        let bits = (u32::BITS - n.saturating_sub(1).leading_zeros()).max(2);
        let right_bits = bits / 2;
        Permutation { key, n, right_bits, left_mask: (1 << (bits - right_bits)) - 1, right_mask: (1 << right_bits) - 1 }
    }

    /// The image of `i`, below `n`; `i` itself if it is not below `n`.
    #[inline]
    pub fn at(&self, i: u32) -> u32 {
        if i >= self.n {
            return i;
        }
        let mut image = self.scramble(i);
        // Ends: `i` lies on its own cycle and is below `n`.
        while image >= self.n {
            image = self.scramble(image);
        }
        image
    }

    /// The Feistel network. Every step changes one half by a function of the other, so it can be
    /// undone, whatever the function.
    #[inline]
    fn scramble(&self, i: u32) -> u32 {
        let mut left = u64::from(i) >> self.right_bits;
        let mut right = u64::from(i) & self.right_mask;
        for pair in 0..ROUND_PAIRS {
            left ^= self.round(2 * pair, right) & self.left_mask;
            right ^= self.round(2 * pair + 1, left) & self.right_mask;
        }
        (left << self.right_bits | right) as u32
    }

    /// The round function. Rounds whose keys were merely added to a weaker function would favour
    /// some images, so every round mixes in full.
    #[inline]
    fn round(&self, number: u64, half: u64) -> u64 {
        mix(self.key.wrapping_add(number.wrapping_mul(GOLDEN)) ^ half)
    }
}
