//! The mix (5.2.3, 5.2.4).

use proptest::prelude::*;
use tpcc::input::Kind;
use tpcc::mix::{Mix, MixError};

#[test]
fn shares() {
    assert_eq!(Kind::ALL.map(|kind| Mix::standard().share(kind)), [0.45, 0.43, 0.04, 0.04, 0.04]);
    assert_eq!(Kind::ALL.map(|kind| Mix::deck().share(kind) * 23.0), [10.0, 10.0, 1.0, 1.0, 1.0]);
}

#[test]
fn cycles_and_ceilings() {
    assert!((Mix::standard().mean_cycle_seconds(1.0) - 20.99).abs() < 1e-9);
    assert!((Mix::deck().mean_cycle_seconds(1.0) - 476.0 / 23.0).abs() < 1e-9);
    assert!((Mix::standard().mean_cycle_seconds(0.5) - 10.495).abs() < 1e-9);
    assert!((Mix::standard().ceiling_per_warehouse() - 270.0 / 20.99).abs() < 1e-9);
    assert!((Mix::deck().ceiling_per_warehouse() - 6000.0 / 476.0).abs() < 1e-9);
}

#[test]
fn standard_means_at_least_the_minimum_of_every_kind() {
    for (mix, standard) in [
        ("standard", true),
        ("deck", true),
        ("new_order=44.2,payment=43.2,order_status=4.2,delivery=4.2,stock_level=4.2", true),
        ("new_order=0.45,payment=0.43,order_status=0.04,delivery=0.04,stock_level=0.04", true),
        ("new_order=46,payment=42,order_status=4,delivery=4,stock_level=4", false),
        ("new_order=45.1,payment=43,order_status=4,delivery=4,stock_level=3.9", false),
        ("new_order=1", false),
        ("payment=88,order_status=4,delivery=4,stock_level=4", true),
    ] {
        assert_eq!(mix.parse::<Mix>().unwrap().is_standard(), standard, "{mix}");
    }
}

#[test]
fn text_forms() {
    assert_eq!("standard".parse(), Ok(Mix::standard()));
    assert_eq!(" deck ".parse(), Ok(Mix::deck()));
    assert_eq!(Mix::standard().to_string(), "standard");
    assert_eq!(Mix::deck().to_string(), "deck");
    let spelled = "new_order=45, payment=43, order_status=4, delivery=4, stock_level=4";
    assert_eq!(spelled.parse(), Ok(Mix::standard()));
    let partial: Mix = "payment=1,new_order=2.5".parse().unwrap();
    assert_eq!(partial.to_string(), "new_order=2.5,payment=1,order_status=0,delivery=0,stock_level=0");
}

#[test]
fn errors_say_what_is_wrong() {
    for (text, message) in [
        ("", "`` is no mix: use `standard`, `deck` or weights such as `new_order=45,payment=43`"),
        ("decks", "`decks` is no mix: use `standard`, `deck` or weights such as `new_order=45,payment=43`"),
        (
            "order=1",
            "unknown transaction `order` in the mix: use new_order, payment, order_status, delivery, stock_level",
        ),
        ("payment=x", "weight `x` of payment in the mix: use a number of at least 0"),
        ("payment=-1", "weight `-1` of payment in the mix: use a number of at least 0"),
        ("payment=inf", "weight `inf` of payment in the mix: use a number of at least 0"),
        ("payment=NaN", "weight `NaN` of payment in the mix: use a number of at least 0"),
        ("payment=1,payment=2", "payment is given twice in the mix"),
        ("payment=0", "all weights of the mix are 0"),
    ] {
        assert_eq!(text.parse::<Mix>().unwrap_err().to_string(), message);
    }
    assert_eq!(Mix::weights([0.0; 5]), Err(MixError::AllZero));
}

proptest! {
    #[test]
    fn text_form_survives(weights in prop::array::uniform5(0.0..100.0_f64)) {
        prop_assume!(weights.iter().any(|&weight| weight > 0.0));
        let mix = Mix::weights(weights).unwrap();
        prop_assert_eq!(mix.to_string().parse(), Ok(mix));
        let total: f64 = Kind::ALL.into_iter().map(|kind| mix.share(kind)).sum();
        prop_assert!((total - 1.0).abs() < 1e-9);
    }

    #[test]
    fn any_text_is_a_mix_or_an_error_of_one_line(text in ".*") {
        if let Err(error) = text.parse::<Mix>() {
            prop_assert!(text.contains('\n') || !error.to_string().contains('\n'));
        }
    }
}
