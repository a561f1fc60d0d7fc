//! MovR, the data set of a vehicle-sharing company in six cities, as pure code: any row from (seed, table, position).
