//! The crate against the standard: counts, relations, vectors and distributions, by topic.
//!
//! All tests are deterministic. Tolerances of sampled shares are four standard deviations, so a
//! change of the data format fails a correct test once in 16,000 times.

// Amounts in cents are written as dollars_cents.
#![allow(clippy::inconsistent_digit_grouping)]

mod golden;
mod input;
mod load;
mod load_mistakes;
mod mix;
mod money;
mod nurand;
mod permutation;
mod rng;
mod run_mistakes;
mod sample;
mod terminal;
mod text;
mod timing;
