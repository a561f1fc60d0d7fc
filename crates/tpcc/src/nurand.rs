//! Non-uniform random numbers (2.1.6) and the constants C they use (2.1.6.1).

use crate::rng::{Domain, Stream};
use crate::{CUSTOMERS_PER_DISTRICT, ITEMS, LAST_NAMES};

/// A for the numbers of last names; C lies in 0..=A.
pub const A_C_LAST: i32 = 255;
/// A for customer numbers; C lies in 0..=A.
pub const A_C_ID: i32 = 1023;
/// A for item numbers; C lies in 0..=A.
pub const A_OL_I_ID: i32 = 8191;

/// NURand(a, x, y) with the constant `c`: skewed over `x..=y`.
#[inline]
pub fn nurand(rng: &mut Stream, a: i32, x: i32, y: i32, c: i32) -> i32 {
    let a_draw = rng.uniform_i32(0, a);
    let b_draw = rng.uniform_i32(x, y);
    combine(a_draw, b_draw, c, x, y)
}

/// The formula of 2.1.6 for given draws: `a_draw` from `0..=A`, `b_draw` from `x..=y`; `x <= y`.
///
/// It adds `x` although `b_draw` starts at `x` already. The standard has it so.
#[inline]
pub fn combine(a_draw: i32, b_draw: i32, c: i32, x: i32, y: i32) -> i32 {
    ((a_draw | b_draw) + c) % (y - x + 1) + x
}

/// The constants C, one per field, shared by all terminals and unchanged for a whole run (2.1.6).
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Constants {
    /// C for the numbers of last names, 0..=255.
    pub c_last: i32,
    /// C for customer numbers, 0..=1023.
    pub c_id: i32,
    /// C for item numbers, 0..=8191.
    pub ol_i_id: i32,
}

impl Constants {
    /// The constants of a load. Only that for last names is used, by CUSTOMER (4.3.3.1).
    pub fn for_load(seed: u64) -> Constants {
        let mut rng = Stream::for_row(seed, Domain::LoadConstants, 0, 0, 0);
        let c_last = rng.uniform_i32(0, A_C_LAST);
        Constants::with_c_last(c_last, &mut rng)
    }

    /// The constants of a run on a database loaded with `load`: that for last names uniform over
    /// the values 2.1.6.1 admits, the others free.
    pub fn for_run(seed: u64, load: &Constants) -> Constants {
        let mut rng = Stream::for_row(seed, Domain::RunConstants, 0, 0, 0);
        // Choosing among the admissible values equals drawing until one is admissible, and it
        // also ends for a load constant that is out of range: then with 0.
        let admissible = || (0..=A_C_LAST).filter(|c| admissible_run(load.c_last, *c));
        let nth = rng.uniform_i32(0, admissible().count() as i32 - 1);
        let c_last = admissible().nth(nth as usize).unwrap_or(0);
        Constants::with_c_last(c_last, &mut rng)
    }

    fn with_c_last(c_last: i32, rng: &mut Stream) -> Constants {
        Constants { c_last, c_id: rng.uniform_i32(0, A_C_ID), ol_i_id: rng.uniform_i32(0, A_OL_I_ID) }
    }

    /// The number of a last name: NURand(255, 0, 999).
    #[inline]
    pub fn draw_last_name(&self, rng: &mut Stream) -> i32 {
        nurand(rng, A_C_LAST, 0, LAST_NAMES - 1, self.c_last)
    }

    /// A customer number: NURand(1023, 1, 3000).
    #[inline]
    pub fn draw_customer(&self, rng: &mut Stream) -> i32 {
        nurand(rng, A_C_ID, 1, CUSTOMERS_PER_DISTRICT, self.c_id)
    }

    /// An item number: NURand(8191, 1, 100000).
    #[inline]
    pub fn draw_item(&self, rng: &mut Stream) -> i32 {
        nurand(rng, A_OL_I_ID, 1, ITEMS, self.ol_i_id)
    }
}

/// Whether a run may use `c_run` for last names on a database loaded with `c_load` (2.1.6.1).
/// Other distances would change how many customers share a name that is looked up.
pub fn admissible_run(c_load: i32, c_run: i32) -> bool {
    let distance = c_run.abs_diff(c_load);
    (65..=119).contains(&distance) && distance != 96 && distance != 112
}
