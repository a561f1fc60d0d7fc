//! Advice: candidates made from a statement and the catalog, each tried for real.

pub mod candidates;
pub mod evaluate;
pub mod query_analysis;
pub mod rewriting;
pub mod sandbox;

pub use evaluate::{Options, advise};
