//! Advice: candidates made from a statement and the catalog, each tried for real.

pub mod candidates;
pub mod copying;
pub mod reading;
pub mod rewriting;
pub mod trying;

pub use trying::{Options, advise};
