//! The tuning lab: statements repeated and compared, lessons, advice, regions.
