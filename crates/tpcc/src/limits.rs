//! The limits of a valid run as data: the windows of the generated input (5.5.1.5), skipped
//! deliveries (2.7.4.2), throughput per warehouse (4.1.3) and the length of the run (5.5.2.1).

/// The range that a measured average or share must lie in.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Window {
    /// What is measured, in words.
    pub name: &'static str,
    /// The clause that sets the window.
    pub clause: &'static str,
    /// The lowest permitted value, itself permitted. Shares run from 0 to 1.
    pub low: f64,
    /// The highest permitted value, itself permitted.
    pub high: f64,
    /// The expectation of honest random input.
    pub expected: f64,
    /// The sample from which on the window is at least three standard deviations wide on either
    /// side. In smaller samples honest input leaves it by chance now and then.
    pub sample_for_3_sigma: u64,
}

impl Window {
    /// Whether the measured `value` is permitted.
    pub fn contains(&self, value: f64) -> bool {
        (self.low..=self.high).contains(&value)
    }
}

/// New-Orders rolled back, as a share of all New-Orders.
pub const ROLLBACK_SHARE: Window = Window {
    name: "New-Orders rolled back",
    clause: "5.5.1.5",
    low: 0.009,
    high: 0.011,
    expected: 0.01,
    sample_for_3_sigma: 89_100,
};

/// Lines per order, on average; the sample counts orders.
pub const LINES_PER_ORDER: Window = Window {
    name: "lines per order",
    clause: "5.5.1.5",
    low: 9.5,
    high: 10.5,
    expected: 10.0,
    sample_for_3_sigma: 360,
};

/// Order lines supplied by a remote warehouse, as a share of all order lines.
pub const REMOTE_LINES: Window = Window {
    name: "remote order lines",
    clause: "5.5.1.5",
    low: 0.0095,
    high: 0.0105,
    expected: 0.01,
    sample_for_3_sigma: 356_400,
};

/// Payments by customers of a remote warehouse, as a share of all Payments.
pub const REMOTE_PAYMENTS: Window = Window {
    name: "remote Payments",
    clause: "5.5.1.5",
    low: 0.14,
    high: 0.16,
    expected: 0.15,
    sample_for_3_sigma: 11_475,
};

/// Payments by last name, as a share of all Payments.
pub const PAYMENTS_BY_NAME: Window = Window {
    name: "Payments by last name",
    clause: "5.5.1.5",
    low: 0.57,
    high: 0.63,
    expected: 0.60,
    sample_for_3_sigma: 2_400,
};

/// Order-Statuses by last name, as a share of all Order-Statuses.
pub const ORDER_STATUS_BY_NAME: Window = Window {
    name: "Order-Statuses by last name",
    clause: "5.5.1.5",
    low: 0.57,
    high: 0.63,
    expected: 0.60,
    sample_for_3_sigma: 2_400,
};

/// All windows of the generated input. With one warehouse nothing is remote (4.2.2), so
/// [`REMOTE_LINES`] and [`REMOTE_PAYMENTS`] do not apply.
pub const WINDOWS: [Window; 6] =
    [ROLLBACK_SHARE, LINES_PER_ORDER, REMOTE_LINES, REMOTE_PAYMENTS, PAYMENTS_BY_NAME, ORDER_STATUS_BY_NAME];

/// The highest share of Deliveries that may skip a district (2.7.4.2).
pub const SKIPPED_DELIVERIES_SHARE: f64 = 0.01;

/// How many of `deliveries` may skip a district: 1 % or one, whichever is more (2.7.4.2).
pub fn skipped_deliveries_allowed(deliveries: u64) -> u64 {
    (deliveries / 100).max(1)
}

/// The highest tpmC per warehouse that may be reported (4.1.3): what the minimum waits permit.
pub const MAX_TPMC_PER_WAREHOUSE: f64 = 12.86;
/// The lowest tpmC per configured warehouse that may be reported (4.1.3, 4.2.2).
pub const MIN_TPMC_PER_WAREHOUSE: f64 = 9.0;
/// The shortest measurement interval (5.5.2.1).
pub const MEASUREMENT_INTERVAL_SECONDS: u64 = 7200;
