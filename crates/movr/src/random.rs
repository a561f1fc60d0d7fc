//! Random streams: one a row, seeded by seed, table and position, so that rows don't depend on the order in which they are made.

use tpcc::rng::{SplitMix64, domain_key, mix};

use crate::Table;

/// What a stream is for. Two uses never share a stream.
#[derive(Clone, Copy, Debug)]
pub(crate) enum Use {
    /// The id of a row.
    Id(Table),
    /// Its other columns.
    Row(Table),
}

impl Use {
    fn number(self) -> u64 {
        match self {
            Use::Id(table) => table as u64 * 2 + 1,
            Use::Row(table) => table as u64 * 2 + 2,
        }
    }
}

/// The random draws of one row, some twenty of them.
#[derive(Clone, Debug)]
pub(crate) struct Stream(SplitMix64);

impl Stream {
    pub(crate) fn new(seed: u64, what: Use, position: u64) -> Self {
        Self(SplitMix64::new(mix(domain_key(seed, what.number()) ^ mix(position))))
    }

    pub(crate) fn next(&mut self) -> u64 {
        self.0.next_u64()
    }

    /// A uniform draw from `0..count`; `count` above 0. The bias is below one part in 2^34 for counts up to a billion.
    pub(crate) fn below(&mut self, count: u64) -> u64 {
        ((u128::from(self.next()) * u128::from(count)) >> 64) as u64
    }

    /// A uniform draw from `low..=high`.
    pub(crate) fn between(&mut self, low: i64, high: i64) -> i64 {
        low + self.below((high - low) as u64 + 1) as i64
    }

    /// One of several, each as likely as the others.
    pub(crate) fn pick<T: Copy>(&mut self, from: &[T]) -> T {
        from[self.below(from.len() as u64) as usize]
    }
}
