//! The TPC-C standard, revision 5.11, as pure code: the rows of the initial population (4.3), the
//! inputs of the five transactions (2.4-2.8), their timing (5.2.5), mix (5.2.4) and limits (5.5).
//!
//! Nothing here reads a clock, performs I/O or fails at run time. Everything random comes from a
//! [`rng::Stream`], so a seed and a position determine every row and every input. Money is in
//! whole cents, taxes and discounts in ten-thousandths, never in floating point (1.3.1).
//!
//! ```
//! use tpcc::input::Warehouses;
//! use tpcc::mix::Mix;
//! use tpcc::nurand::Constants;
//! use tpcc::population::Population;
//! use tpcc::terminal::Terminal;
//!
//! // Any row of the database, by its key.
//! let load = Constants::for_load(42);
//! let population = Population { seed: 42, c_last_load: load.c_last, load_time_us: 0 };
//! assert_eq!(population.customer(1, 1, 372).c_last.as_str(), "PRICALLYOUGHT");
//!
//! // The terminal of district 1 of warehouse 1, in a run on ten warehouses.
//! let run = Constants::for_run(43, &load);
//! let active = Warehouses { first: 1, count: 10 };
//! let mut terminal = Terminal::new(43, 0, 1, 1, active, run, Mix::standard());
//! let kind = terminal.next_input().kind();
//! let think_us = terminal.think_us(kind, 1.0);
//! assert!(think_us <= 120_000_000);
//! ```

pub mod input;
pub mod limits;
pub mod mix;
pub mod money;
pub mod nurand;
pub mod permutation;
pub mod population;
pub mod rng;
pub mod terminal;
pub mod text;
pub mod timing;

/// Districts of a warehouse (1.2.1, 4.3.3.1).
pub const DISTRICTS_PER_WAREHOUSE: i32 = 10;
/// Customers of a district (1.2.1, 4.3.3.1).
pub const CUSTOMERS_PER_DISTRICT: i32 = 3000;
/// Rows of ITEM, and of STOCK per warehouse, whatever the number of warehouses (4.3.3.1).
pub const ITEMS: i32 = 100_000;
/// Orders of a district after the load, one for each customer (4.3.3.1).
pub const ORDERS_PER_DISTRICT: i32 = 3000;
/// The first order of a district that is loaded without a carrier; it and all later ones have a
/// row in NEW-ORDER (4.3.3.1).
pub const FIRST_UNDELIVERED_ORDER: i32 = 2101;
/// Terminals of an active warehouse, one for each district (4.2.2, 2.8.1.1).
pub const TERMINALS_PER_WAREHOUSE: i32 = 10;
/// The item number on the last line of an order that must roll back; no such item is ever loaded
/// (2.4.1.5).
pub const UNUSED_ITEM: i32 = ITEMS + 1;
/// Distinct customer last names, numbered from 0 (4.3.2.3).
pub const LAST_NAMES: i32 = 1000;
