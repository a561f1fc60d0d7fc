//! The inputs of the five transactions (2.4.1, 2.5.1, 2.6.1, 2.7.1, 2.8.1): what a terminal
//! sends, drawn before the transaction starts and unchanged when it is tried again.

use std::fmt;
use std::ops::Deref;

use crate::money::{Cents, dollars};
use crate::nurand::Constants;
use crate::rng::Stream;
use crate::text::{Text, last_name};
use crate::{DISTRICTS_PER_WAREHOUSE, UNUSED_ITEM};

/// The five transactions (2.4-2.8).
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub enum Kind {
    /// New-Order (2.4).
    NewOrder,
    /// Payment (2.5).
    Payment,
    /// Order-Status (2.6).
    OrderStatus,
    /// Delivery (2.7).
    Delivery,
    /// Stock-Level (2.8).
    StockLevel,
}

impl Kind {
    /// All five, in the order of [`Kind::index`].
    pub const ALL: [Kind; 5] = [Kind::NewOrder, Kind::Payment, Kind::OrderStatus, Kind::Delivery, Kind::StockLevel];

    /// The position in [`Kind::ALL`], for tables by kind.
    #[inline]
    pub const fn index(self) -> usize {
        self as usize
    }

    /// The name in files and options: `new_order`.
    pub const fn name(self) -> &'static str {
        match self {
            Kind::NewOrder => "new_order",
            Kind::Payment => "payment",
            Kind::OrderStatus => "order_status",
            Kind::Delivery => "delivery",
            Kind::StockLevel => "stock_level",
        }
    }

    /// The name as the standard writes it: `New-Order`.
    pub const fn title(self) -> &'static str {
        match self {
            Kind::NewOrder => "New-Order",
            Kind::Payment => "Payment",
            Kind::OrderStatus => "Order-Status",
            Kind::Delivery => "Delivery",
            Kind::StockLevel => "Stock-Level",
        }
    }

    /// The kind of that [`Kind::name`].
    pub fn from_name(name: &str) -> Option<Kind> {
        Kind::ALL.into_iter().find(|kind| kind.name() == name)
    }
}

/// The active warehouses of a run: those that have terminals (4.2.2).
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Warehouses {
    /// The number of the first.
    pub first: i32,
    /// How many there are; their numbers follow each other.
    pub count: i32,
}

impl Warehouses {
    /// A warehouse other than `home`, uniform over the active ones (2.4.1.5, 2.5.1.2); `home`
    /// itself if it is the only one (4.2.2).
    pub fn remote(&self, rng: &mut Stream, home: i32) -> i32 {
        if self.count <= 1 {
            return home;
        }
        // One number less than there are warehouses; those from the home one on move up.
        let other = rng.uniform_i32(self.first, self.first + self.count - 2);
        if other >= home { other + 1 } else { other }
    }
}

/// The input of a transaction.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Input {
    /// Input of New-Order.
    NewOrder(NewOrder),
    /// Input of Payment.
    Payment(Payment),
    /// Input of Order-Status.
    OrderStatus(OrderStatus),
    /// Input of Delivery.
    Delivery(Delivery),
    /// Input of Stock-Level.
    StockLevel(StockLevel),
}

impl Input {
    /// Which transaction the input is for.
    pub fn kind(&self) -> Kind {
        match self {
            Input::NewOrder(_) => Kind::NewOrder,
            Input::Payment(_) => Kind::Payment,
            Input::OrderStatus(_) => Kind::OrderStatus,
            Input::Delivery(_) => Kind::Delivery,
            Input::StockLevel(_) => Kind::StockLevel,
        }
    }
}

/// Input of New-Order (2.4.1).
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct NewOrder {
    /// The terminal's warehouse.
    pub w_id: i32,
    /// Any district of the warehouse, 1..=10.
    pub d_id: i32,
    /// The customer, 1..=3000.
    pub c_id: i32,
    /// The 5 to 15 lines of the order.
    pub lines: Lines,
}

impl NewOrder {
    /// Draws an order of a customer of warehouse `w_id`.
    pub fn draw(rng: &mut Stream, constants: &Constants, w_id: i32, active: Warehouses) -> NewOrder {
        let d_id = any_district(rng);
        let c_id = constants.draw_customer(rng);
        let ol_cnt = rng.uniform_i32(5, 15);
        let rolls_back = rng.uniform_i32(1, 100) == 1;
        let lines = (1..=ol_cnt).map(|number| {
            // Items may repeat within an order (2.4.1.5).
            let i_id = constants.draw_item(rng);
            let remote = rng.uniform_i32(1, 100) == 1;
            Line {
                // On the last line only, after all valid ones (2.4.1.5).
                i_id: if rolls_back && number == ol_cnt { UNUSED_ITEM } else { i_id },
                supply_w_id: if remote { active.remote(rng, w_id) } else { w_id },
                quantity: rng.uniform_i32(1, 10),
            }
        });
        NewOrder { w_id, d_id, c_id, lines: lines.collect() }
    }

    /// Whether the order must be rolled back: its last item does not exist (2.4.1.4).
    pub fn rolls_back(&self) -> bool {
        self.lines.last().is_some_and(|line| line.i_id == UNUSED_ITEM)
    }

    /// Whether the home warehouse supplies all lines: `O_ALL_LOCAL` (2.4.2.2).
    pub fn all_local(&self) -> bool {
        self.lines.iter().all(|line| line.supply_w_id == self.w_id)
    }
}

/// A line of an order (2.4.1.5).
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct Line {
    /// The item, 1..=100000, or [`UNUSED_ITEM`].
    pub i_id: i32,
    /// The supplying warehouse.
    pub supply_w_id: i32,
    /// The quantity, 1..=10.
    pub quantity: i32,
}

/// The lines of an order, stored inline.
#[derive(Clone, Copy)]
pub struct Lines {
    lines: [Line; Lines::CAPACITY],
    len: u8,
}

impl Lines {
    /// The most lines an order has (2.4.1.3).
    pub const CAPACITY: usize = 15;
}

/// Collects the first [`Lines::CAPACITY`] lines.
impl FromIterator<Line> for Lines {
    fn from_iter<I: IntoIterator<Item = Line>>(lines: I) -> Lines {
        let mut collected = Lines { lines: Default::default(), len: 0 };
        for (to, line) in collected.lines.iter_mut().zip(lines) {
            *to = line;
            collected.len += 1;
        }
        collected
    }
}

impl Deref for Lines {
    type Target = [Line];

    fn deref(&self) -> &[Line] {
        &self.lines[..usize::from(self.len)]
    }
}

impl PartialEq for Lines {
    fn eq(&self, other: &Lines) -> bool {
        **self == **other
    }
}

impl Eq for Lines {}

impl fmt::Debug for Lines {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        (**self).fmt(f)
    }
}

/// How Payment and Order-Status name the customer (2.5.1.2, 2.6.1.2).
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum CustomerBy {
    /// By number, 1..=3000: in 40 % of cases.
    Number(i32),
    /// By last name, which several customers may share: in 60 % of cases.
    LastName(Text<16>),
}

impl CustomerBy {
    fn draw(rng: &mut Stream, constants: &Constants) -> CustomerBy {
        if rng.uniform_i32(1, 100) <= 60 {
            CustomerBy::LastName(last_name(constants.draw_last_name(rng)))
        } else {
            CustomerBy::Number(constants.draw_customer(rng))
        }
    }
}

/// Input of Payment (2.5.1).
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Payment {
    /// The terminal's warehouse, where the payment is made.
    pub w_id: i32,
    /// The district where the payment is made, 1..=10.
    pub d_id: i32,
    /// The customer's warehouse: another one in 15 % of cases.
    pub c_w_id: i32,
    /// The customer's district, 1..=10.
    pub c_d_id: i32,
    /// The customer within that district.
    pub customer: CustomerBy,
    /// `H_AMOUNT`, 1.00 to 5,000.00.
    pub amount: Cents,
}

impl Payment {
    /// Draws a payment made at warehouse `w_id`.
    pub fn draw(rng: &mut Stream, constants: &Constants, w_id: i32, active: Warehouses) -> Payment {
        let d_id = any_district(rng);
        // With a single warehouse the customer is still of another district (2.5.1.2).
        let (c_w_id, c_d_id) =
            if rng.uniform_i32(1, 100) <= 85 { (w_id, d_id) } else { (active.remote(rng, w_id), any_district(rng)) };
        let customer = CustomerBy::draw(rng, constants);
        let amount = rng.uniform(dollars(1), dollars(5000));
        Payment { w_id, d_id, c_w_id, c_d_id, customer, amount }
    }
}

/// Input of Order-Status (2.6.1). The customer is always of the home warehouse.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct OrderStatus {
    /// The terminal's warehouse.
    pub w_id: i32,
    /// Any district of the warehouse, 1..=10.
    pub d_id: i32,
    /// The customer within that district.
    pub customer: CustomerBy,
}

impl OrderStatus {
    /// Draws a question about a customer of warehouse `w_id`.
    pub fn draw(rng: &mut Stream, constants: &Constants, w_id: i32) -> OrderStatus {
        let d_id = any_district(rng);
        OrderStatus { w_id, d_id, customer: CustomerBy::draw(rng, constants) }
    }
}

/// Input of Delivery (2.7.1).
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Delivery {
    /// The terminal's warehouse.
    pub w_id: i32,
    /// The carrier, 1..=10.
    pub carrier_id: i32,
}

impl Delivery {
    /// Draws a delivery of warehouse `w_id`.
    pub fn draw(rng: &mut Stream, w_id: i32) -> Delivery {
        Delivery { w_id, carrier_id: rng.uniform_i32(1, 10) }
    }
}

/// Input of Stock-Level (2.8.1).
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct StockLevel {
    /// The terminal's warehouse.
    pub w_id: i32,
    /// The terminal's own district, 1..=10.
    pub d_id: i32,
    /// Stock below this quantity counts as low, 10..=20.
    pub threshold: i32,
}

impl StockLevel {
    /// Draws a question about the terminal's own district.
    pub fn draw(rng: &mut Stream, w_id: i32, d_id: i32) -> StockLevel {
        StockLevel { w_id, d_id, threshold: rng.uniform_i32(10, 20) }
    }
}

/// Any district of a warehouse, not the terminal's own (2.4.1.2, 2.5.1.2, 2.6.1.2).
fn any_district(rng: &mut Stream) -> i32 {
    rng.uniform_i32(1, DISTRICTS_PER_WAREHOUSE)
}
