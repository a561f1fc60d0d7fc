//! The transaction mix (5.2.3, 5.2.4): which transaction a terminal selects next.

use std::fmt;
use std::str::FromStr;

use crate::TERMINALS_PER_WAREHOUSE;
use crate::input::Kind;
use crate::rng::Stream;

/// 45 % New-Order and the minimum of everything else (5.2.3), by [`Kind::index`].
const STANDARD: [f64; 5] = [45.0, 43.0, 4.0, 4.0, 4.0];
/// One set of 23 cards (5.2.4.2), by [`Kind::index`].
const CARDS: [u8; 5] = [10, 10, 1, 1, 1];

/// How the next transaction is selected.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Mix(Rule);

#[derive(Debug, Clone, Copy, PartialEq)]
enum Rule {
    /// Independent draws with these weights, by [`Kind::index`] (5.2.4.1).
    Weights([f64; 5]),
    /// Cards drawn without replacement, one deck of 23 per terminal (5.2.4.2).
    Deck,
}

impl Mix {
    /// Weights of 45, 43, 4, 4 and 4: the most New-Orders that 5.2.3 permits.
    pub const fn standard() -> Mix {
        Mix(Rule::Weights(STANDARD))
    }

    /// A deck of 23 cards per terminal: 10 New-Order, 10 Payment, one of each other (5.2.4.2).
    pub const fn deck() -> Mix {
        Mix(Rule::Deck)
    }

    /// Weights of any scale, by [`Kind::index`]: not negative, and not all zero.
    pub fn weights(weights: [f64; 5]) -> Result<Mix, MixError> {
        for (kind, weight) in Kind::ALL.into_iter().zip(weights) {
            if !weight.is_finite() || weight < 0.0 {
                return Err(MixError::NotAWeight { kind, weight: weight.to_string() });
            }
        }
        let total: f64 = weights.iter().sum();
        if total == 0.0 {
            return Err(MixError::AllZero);
        }
        Ok(Mix(Rule::Weights(weights)))
    }

    /// The expected share of a kind among all transactions, 0 to 1.
    pub fn share(&self, kind: Kind) -> f64 {
        match self.0 {
            Rule::Weights(weights) => weights[kind.index()] / weights.iter().sum::<f64>(),
            Rule::Deck => f64::from(CARDS[kind.index()]) / 23.0,
        }
    }

    /// Whether every kind has in expectation at least the share that 5.2.3 demands.
    pub fn is_standard(&self) -> bool {
        // Shares such as 43 % are not exact in binary.
        const ROUNDING: f64 = 1e-9;
        Kind::ALL
            .into_iter()
            .all(|kind| kind.timing().minimum_share.is_none_or(|least| self.share(kind) >= least - ROUNDING))
    }

    /// The mean cycle of a terminal in seconds when every response takes no time: keying and
    /// think time, times a pacing `factor` that is 1 for the standard's.
    pub fn mean_cycle_seconds(&self, factor: f64) -> f64 {
        let cycle = |kind: Kind| self.share(kind) * kind.timing().wait_seconds();
        factor * Kind::ALL.into_iter().map(cycle).sum::<f64>()
    }

    /// The New-Orders a minute that the ten terminals of a warehouse enter when every response
    /// takes no time (4.1.3): 12.863 for the standard mix, 12.605 for the deck.
    pub fn ceiling_per_warehouse(&self) -> f64 {
        let per_terminal = self.share(Kind::NewOrder) * 60.0 / self.mean_cycle_seconds(1.0);
        per_terminal * f64::from(TERMINALS_PER_WAREHOUSE)
    }
}

impl fmt::Display for Mix {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self.0 {
            Rule::Weights(STANDARD) => f.write_str("standard"),
            Rule::Deck => f.write_str("deck"),
            Rule::Weights(weights) => {
                for (kind, weight) in Kind::ALL.into_iter().zip(weights) {
                    let comma = if kind.index() == 0 { "" } else { "," };
                    write!(f, "{comma}{}={weight}", kind.name())?;
                }
                Ok(())
            }
        }
    }
}

/// Reads `standard`, `deck`, or weights such as `new_order=45,payment=43,order_status=4`; a kind
/// that is left out has the weight 0.
impl FromStr for Mix {
    type Err = MixError;

    fn from_str(text: &str) -> Result<Mix, MixError> {
        match text.trim() {
            "standard" => return Ok(Mix::standard()),
            "deck" => return Ok(Mix::deck()),
            _ => {}
        }
        let mut weights = [None; 5];
        for part in text.split(',') {
            let Some((name, weight)) = part.split_once('=') else {
                return Err(MixError::NoWeight(part.trim().to_owned()));
            };
            let Some(kind) = Kind::from_name(name.trim()) else {
                return Err(MixError::UnknownKind(name.trim().to_owned()));
            };
            let Ok(weight) = weight.trim().parse::<f64>() else {
                return Err(MixError::NotAWeight { kind, weight: weight.trim().to_owned() });
            };
            if weights[kind.index()].replace(weight).is_some() {
                return Err(MixError::Twice(kind));
            }
        }
        Mix::weights(weights.map(Option::unwrap_or_default))
    }
}

/// Why a text or a set of weights is not a mix.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum MixError {
    /// A part that is not of the form `kind=weight`.
    NoWeight(String),
    /// A name that is not a transaction.
    UnknownKind(String),
    /// A weight that is not a number, is negative or infinite.
    NotAWeight {
        /// Whose weight.
        kind: Kind,
        /// The weight as it was given.
        weight: String,
    },
    /// A kind that is given twice.
    Twice(Kind),
    /// No kind has a weight above 0.
    AllZero,
}

impl fmt::Display for MixError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            MixError::NoWeight(part) => {
                write!(f, "`{part}` is no mix: use `standard`, `deck` or weights such as `new_order=45,payment=43`")
            }
            MixError::UnknownKind(name) => {
                let names = Kind::ALL.map(Kind::name).join(", ");
                write!(f, "unknown transaction `{name}` in the mix: use {names}")
            }
            MixError::NotAWeight { kind, weight } => {
                write!(f, "weight `{weight}` of {} in the mix: use a number of at least 0", kind.name())
            }
            MixError::Twice(kind) => write!(f, "{} is given twice in the mix", kind.name()),
            MixError::AllZero => f.write_str("all weights of the mix are 0"),
        }
    }
}

impl std::error::Error for MixError {}

/// The state of one terminal's selection: its mix, and the cards left in its deck.
#[derive(Debug, Clone)]
pub(crate) struct Chooser {
    mix: Mix,
    /// By [`Kind::index`]; weights do not use it. Drawing from what is left equals dealing a
    /// shuffled deck (5.2.4.2) and needs less memory.
    cards_left: [u8; 5],
}

impl Chooser {
    pub(crate) fn new(mix: Mix) -> Chooser {
        Chooser { mix, cards_left: CARDS }
    }

    /// The next transaction.
    pub(crate) fn next(&mut self, rng: &mut Stream) -> Kind {
        match self.mix.0 {
            Rule::Weights(weights) => weighted(rng, weights),
            Rule::Deck => {
                let kind = weighted(rng, self.cards_left.map(f64::from));
                self.take(kind);
                kind
            }
        }
    }

    /// A transaction met at a random moment of a terminal's life: long cycles are met more often.
    /// The deck is left as such a moment finds it.
    pub(crate) fn met_at_random(&mut self, rng: &mut Stream) -> Kind {
        let kind = weighted(rng, Kind::ALL.map(|kind| self.mix.share(kind) * kind.timing().wait_seconds()));
        if self.mix.0 == Rule::Deck {
            self.cards_left = CARDS;
            self.take(kind);
            // Its card is equally likely to be any of the 23 of its pass.
            for _ in 0..rng.uniform_i32(0, 22) {
                let earlier = weighted(rng, self.cards_left.map(f64::from));
                self.take(earlier);
            }
        }
        kind
    }

    /// Removes a card, and starts a new pass after the last one.
    fn take(&mut self, kind: Kind) {
        let left = &mut self.cards_left[kind.index()];
        *left = left.saturating_sub(1);
        if self.cards_left == [0; 5] {
            self.cards_left = CARDS;
        }
    }
}

/// A kind with probability proportional to its weight. One without weight is never chosen,
/// because the draw is above 0.
fn weighted(rng: &mut Stream, weights: [f64; 5]) -> Kind {
    let mut left = rng.unit() * weights.iter().sum::<f64>();
    let mut chosen = Kind::NewOrder;
    for (kind, weight) in Kind::ALL.into_iter().zip(weights) {
        if weight > 0.0 {
            chosen = kind;
            if left <= weight {
                break;
            }
            left -= weight;
        }
    }
    chosen
}
