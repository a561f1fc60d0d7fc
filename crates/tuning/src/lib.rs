//! The tuning lab: statements repeated and compared, lessons, advice, regions.

pub mod regions;
