//! A terminal (4.2.2, 5.2.2): what one user at one (`W_ID`, `D_ID`) enters, and how long the
//! user waits. The clock belongs to the caller.

use crate::input::{Delivery, Input, Kind, NewOrder, OrderStatus, Payment, StockLevel, Warehouses};
use crate::mix::{Chooser, Mix};
use crate::nurand::Constants;
use crate::rng::Stream;
use crate::timing::{microseconds, residual_think_us, think_time_us};

/// A terminal. One stream of random numbers serves it for its whole life.
#[derive(Debug, Clone)]
pub struct Terminal {
    rng: Stream,
    chooser: Chooser,
    constants: Constants,
    active: Warehouses,
    w_id: i32,
    d_id: i32,
}

/// Where in its cycle a terminal is when the run starts.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Start {
    /// In the middle of keying.
    Keying {
        /// What is being keyed.
        input: Input,
        /// Keying time left, in microseconds.
        remaining_us: u64,
    },
    /// In the middle of thinking.
    Thinking {
        /// Think time left, in microseconds.
        remaining_us: u64,
    },
}

impl Terminal {
    /// Terminal `number` of a run with `seed`, fixed at district `d_id` of warehouse `w_id`
    /// (2.8.1.1). `constants` are those of the run.
    pub fn new(
        seed: u64,
        number: u64,
        w_id: i32,
        d_id: i32,
        active: Warehouses,
        constants: Constants,
        mix: Mix,
    ) -> Terminal {
        let rng = Stream::for_terminal(seed, number);
        Terminal { rng, chooser: Chooser::new(mix), constants, active, w_id, d_id }
    }

    /// The warehouse of the terminal, the same for the whole run (2.4.1.1).
    pub fn w_id(&self) -> i32 {
        self.w_id
    }

    /// The district of the terminal, of which only Stock-Level takes notice (2.8.1.1).
    pub fn d_id(&self) -> i32 {
        self.d_id
    }

    /// Selects the next transaction (5.2.4) and draws its input.
    pub fn next_input(&mut self) -> Input {
        let kind = self.chooser.next(&mut self.rng);
        self.input(kind)
    }

    /// The think time after a transaction of that kind, in microseconds (5.2.5.4); a pacing
    /// `factor` of 1 keeps the standard's.
    pub fn think_us(&mut self, kind: Kind, factor: f64) -> u64 {
        think_time_us(&mut self.rng, kind.timing().mean_think_seconds * factor)
    }

    /// Where in its cycle the terminal is at a random moment of a run that has gone on for long
    /// and whose responses take no time. Terminals that all start so enter transactions at a
    /// steady rate from the first second (5.5.1.1). A new terminal calls this once or never.
    ///
    /// A pacing `factor` of 0 knows no waits: there the terminal is about to choose.
    pub fn start(&mut self, factor: f64) -> Start {
        if factor <= 0.0 {
            return Start::Thinking { remaining_us: 0 };
        }
        let kind = self.chooser.met_at_random(&mut self.rng);
        let timing = kind.timing();
        let moment = self.rng.unit() * timing.wait_seconds();
        if moment <= timing.keying_seconds {
            // Given that it falls into the keying time, the moment is uniform over it.
            Start::Keying { input: self.input(kind), remaining_us: microseconds(moment * factor) }
        } else {
            let mean = timing.mean_think_seconds * factor;
            Start::Thinking { remaining_us: residual_think_us(&mut self.rng, mean) }
        }
    }

    fn input(&mut self, kind: Kind) -> Input {
        let Terminal { rng, constants, active, w_id, d_id, .. } = self;
        match kind {
            Kind::NewOrder => Input::NewOrder(NewOrder::draw(rng, constants, *w_id, *active)),
            Kind::Payment => Input::Payment(Payment::draw(rng, constants, *w_id, *active)),
            Kind::OrderStatus => Input::OrderStatus(OrderStatus::draw(rng, constants, *w_id)),
            Kind::Delivery => Input::Delivery(Delivery::draw(rng, *w_id)),
            Kind::StockLevel => Input::StockLevel(StockLevel::draw(rng, *w_id, *d_id)),
        }
    }
}
