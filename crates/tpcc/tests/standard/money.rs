//! The total amount of an order (2.4.2.2).

use proptest::prelude::*;
use tpcc::money::total_amount;

#[test]
fn vector() {
    let sum = 7 * 12_34 + 3 * 99_99;
    assert_eq!(sum, 386_35);
    assert_eq!(total_amount(sum, 1234, 567, 1999), 425_58);
}

#[test]
fn halves_are_rounded_up() {
    assert_eq!(total_amount(1, 5000, 0, 0), 1);
    assert_eq!(total_amount(3, 5000, 0, 0), 2);
    assert_eq!(total_amount(1, 5001, 0, 0), 0);
    assert_eq!(total_amount(0, 5000, 2000, 2000), 0);
}

#[test]
fn amounts_that_32_bit_floats_lose() {
    assert_eq!(total_amount(131_072_01, 0, 0, 0), 131_072_01);
    assert_eq!(total_amount(999_999_999_999, 0, 0, 0), 999_999_999_999);
}

proptest! {
    /// The result times 10^8 is within half a cent of the exact product.
    #[test]
    fn nearest_cent(sum in 0_i64..15_000_00, discount in 0..=5000, w_tax in 0..=2000, d_tax in 0..=2000) {
        let exact = sum * i64::from(10_000 - discount) * i64::from(10_000 + w_tax + d_tax);
        let error = total_amount(sum, discount, w_tax, d_tax) * 100_000_000 - exact;
        prop_assert!(-50_000_000 < error && error <= 50_000_000);
    }
}
