//! Exact money (1.3.1, 1.4.12): whole cents and ten-thousandths instead of floating point.

/// An amount of money in whole cents: numeric(12,2) and narrower.
pub type Cents = i64;

/// An amount without cents.
pub(crate) const fn dollars(whole: i64) -> Cents {
    whole * 100
}

/// A tax or discount in ten-thousandths: signed numeric(4,4), so 1234 is 0.1234.
pub type Rate = i32;

/// One whole, as a [`Rate`].
const ONE: i128 = 10_000;

/// The total amount of an order (2.4.2.2): the sum of its `OL_AMOUNT`s less the customer's
/// discount plus both taxes, rounded half up to the cent. It is displayed and never stored.
pub fn total_amount(sum_cents: Cents, discount: Rate, w_tax: Rate, d_tax: Rate) -> Cents {
    let scaled = i128::from(sum_cents) * (ONE - i128::from(discount)) * (ONE + i128::from(w_tax) + i128::from(d_tax));
    (scaled + ONE * ONE / 2).div_euclid(ONE * ONE) as Cents
}
