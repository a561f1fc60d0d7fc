//! Random streams (2.1.4, 2.1.5, 4.3.2.5): one per row of the population, one per terminal.
//!
//! A stream is Xoshiro256++ seeded from a seed and a position. Rows are therefore independent of
//! the order in which they are generated. The mixing below and the way each function consumes its
//! draws are the data format: a change to either changes every database ever loaded.

use rand_core::{Rng, SeedableRng};
use rand_xoshiro::Xoshiro256PlusPlus;

/// 2^64 divided by the golden ratio: the increment of SplitMix64.
pub(crate) const GOLDEN: u64 = 0x9e37_79b9_7f4a_7c15;

/// What a stream or a key is for. Two domains never share a stream at the same position.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[repr(u64)]
pub enum Domain {
    /// A row of ITEM, at (`i_id`, 0, 0).
    Item = 1,
    /// A row of WAREHOUSE, at (`w_id`, 0, 0).
    Warehouse = 2,
    /// A row of DISTRICT, at (`w_id`, `d_id`, 0).
    District = 3,
    /// A row of STOCK, at (`w_id`, 0, `i_id`).
    Stock = 4,
    /// A row of CUSTOMER, at (`w_id`, `d_id`, `c_id`).
    Customer = 5,
    /// A row of HISTORY, at (`w_id`, `d_id`, `c_id`).
    History = 6,
    /// A row of ORDER, at (`w_id`, `d_id`, `o_id`).
    Order = 7,
    /// All lines of an order, at (`w_id`, `d_id`, `o_id`).
    OrderLine = 8,
    /// Which items read `ORIGINAL`, at (0, 0, 0).
    OriginalItem = 9,
    /// Which stock rows of a warehouse read `ORIGINAL`, at (`w_id`, 0, 0).
    OriginalStock = 10,
    /// Which customers of a warehouse have bad credit, at (`w_id`, 0, 0).
    BadCredit = 11,
    /// The customer of each order of a district, at (`w_id`, `d_id`, 0).
    OrderCustomer = 12,
    /// The NURand constants of the load, at (0, 0, 0).
    LoadConstants = 13,
    /// The NURand constants of a run, at (0, 0, 0).
    RunConstants = 14,
    /// The inputs and think times of a terminal, by its number.
    Terminal = 15,
}

/// A 64-bit key for a position in a domain: the seed of a row's stream, or of a permutation.
#[inline]
pub fn key(seed: u64, domain: Domain, a: i32, b: i32, c: i32) -> u64 {
    let table = domain_key(seed, domain as u64);
    let place = mix(table ^ (u64::from(a as u32) << 32 | u64::from(b as u32)));
    mix(place ^ u64::from(c as u32))
}

/// The key of all streams of one domain, by the domain's number.
#[inline]
pub fn domain_key(seed: u64, domain: u64) -> u64 {
    mix(seed.wrapping_add(GOLDEN.wrapping_mul(domain)))
}

/// The output function of SplitMix64, a bijection: no two inputs share a result.
#[inline]
pub fn mix(mut z: u64) -> u64 {
    z = (z ^ (z >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
    z = (z ^ (z >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
    z ^ (z >> 31)
}

/// SplitMix64, which seeds a [`Stream`] and is enough for rows of few draws.
#[derive(Debug, Clone)]
pub struct SplitMix64(u64);

impl SplitMix64 {
    /// A generator that starts at a state.
    #[inline]
    pub fn new(state: u64) -> Self {
        Self(state)
    }

    /// The next 64 bits.
    #[inline]
    pub fn next_u64(&mut self) -> u64 {
        self.0 = self.0.wrapping_add(GOLDEN);
        mix(self.0)
    }
}

/// A stream of random numbers.
#[derive(Debug, Clone)]
pub struct Stream(Xoshiro256PlusPlus);

impl Stream {
    /// The stream of one row; [`Domain`] says which position goes into `a`, `b` and `c`.
    #[inline]
    pub fn for_row(seed: u64, domain: Domain, a: i32, b: i32, c: i32) -> Stream {
        Stream::from_key(key(seed, domain, a, b, c))
    }

    /// The stream of one terminal, by its number within the run.
    pub fn for_terminal(seed: u64, terminal: u64) -> Stream {
        Stream::from_key(mix(domain_key(seed, Domain::Terminal as u64) ^ terminal))
    }

    /// Four steps of SplitMix64 make the 256-bit state, as its authors advise.
    #[inline]
    fn from_key(key: u64) -> Stream {
        let mut state = [0; 32];
        let mut seeds = SplitMix64::new(key);
        for word in state.chunks_exact_mut(8) {
            word.copy_from_slice(&seeds.next_u64().to_le_bytes());
        }
        Stream(Xoshiro256PlusPlus::from_seed(state))
    }

    /// A uniform draw from `lo..=hi`, both ends included (2.1.4); `lo <= hi`.
    ///
    /// The high half of a product; its bias is below one part in 2^40 for any range that the
    /// standard asks for.
    #[inline]
    pub fn uniform(&mut self, lo: i64, hi: i64) -> i64 {
        let span = (hi.wrapping_sub(lo) as u64).wrapping_add(1);
        let above = (u128::from(self.0.next_u64()) * u128::from(span)) >> 64;
        lo.wrapping_add(above as i64)
    }

    /// [`Stream::uniform`] for identifiers and other small numbers.
    #[inline]
    pub fn uniform_i32(&mut self, lo: i32, hi: i32) -> i32 {
        self.uniform(i64::from(lo), i64::from(hi)) as i32
    }

    /// A uniform draw from (0, 1], so that its logarithm is always finite (5.2.5.4).
    #[inline]
    pub fn unit(&mut self) -> f64 {
        const STEP: f64 = 1.0 / (1_u64 << 53) as f64;
        ((self.0.next_u64() >> 11) + 1) as f64 * STEP
    }

    /// Fills `out` with random characters out of a-z, A-Z and 0-9 (4.3.2.2).
    #[inline]
    pub fn fill_alphanumeric(&mut self, out: &mut [u8]) {
        static ALPHABET: Alphabet<62> =
            Alphabet::new(b"abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789");
        self.fill(&ALPHABET, out);
    }

    /// Fills `out` with random letters out of a-z and A-Z.
    #[inline]
    pub fn fill_letters(&mut self, out: &mut [u8]) {
        static ALPHABET: Alphabet<52> = Alphabet::new(b"abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ");
        self.fill(&ALPHABET, out);
    }

    /// Fills `out` with random digits (4.3.2.2).
    #[inline]
    pub fn fill_digits(&mut self, out: &mut [u8]) {
        static ALPHABET: Alphabet<10> = Alphabet::new(b"0123456789");
        self.fill(&ALPHABET, out);
    }

    /// Fills `out` with characters of an alphabet, eight per draw.
    #[inline]
    fn fill<const BASE: usize>(&mut self, alphabet: &Alphabet<BASE>, out: &mut [u8]) {
        let (eights, rest) = out.as_chunks_mut::<8>();
        for eight in eights {
            *eight = alphabet.spell(self.0.next_u64());
        }
        if !rest.is_empty() {
            let eight = alphabet.spell(self.0.next_u64());
            rest.copy_from_slice(&eight[..rest.len()]);
        }
    }
}

/// An alphabet of `BASE` characters, at most 64.
#[derive(Debug)]
struct Alphabet<const BASE: usize> {
    /// The two characters that a number below `BASE` squared stands for, the first in the lower byte; padded so that a
    /// masked index is always inside.
    pairs: [u16; 4096],
}

impl<const BASE: usize> Alphabet<BASE> {
    const fn new(characters: &[u8; BASE]) -> Self {
        let mut pairs = [0; 4096];
        let mut i = 0;
        while i < BASE * BASE {
            pairs[i] = u16::from_le_bytes([characters[i / BASE], characters[i % BASE]]);
            i += 1;
        }
        Self { pairs }
    }

    /// The first eight digits of `fraction`, read as a number in [0, 1) times 2^64, in base `BASE`: each multiplication
    /// moves the next two above the point. Eight digits use at most 48 of the 64 bits, so even the last one is uniform
    /// to one part in 80,000.
    #[inline]
    fn spell(&self, mut fraction: u64) -> [u8; 8] {
        let mut characters = 0;
        for pair in 0..4 {
            let product = u128::from(fraction) * (BASE * BASE) as u128;
            characters |= u64::from(self.pairs[(product >> 64) as usize & 4095]) << (16 * pair);
            fraction = product as u64;
        }
        characters.to_le_bytes()
    }
}
