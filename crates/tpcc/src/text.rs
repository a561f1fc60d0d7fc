//! Character strings (1.3.1, 4.3.2): inline ASCII text and the generators of the standard.

use std::fmt;
use std::ops::Deref;

use crate::LAST_NAMES;
use crate::rng::Stream;

/// ASCII text of at most `N` characters, stored inline.
#[derive(Clone, Copy)]
pub struct Text<const N: usize> {
    bytes: [u8; N],
    /// Never above `N`.
    len: u16,
}

impl<const N: usize> Text<N> {
    /// No text, to be drawn into.
    pub(crate) const EMPTY: Text<N> = Text { bytes: [0; N], len: 0 };

    /// Text that uses all of its `N` characters.
    pub(crate) const fn full(bytes: [u8; N]) -> Text<N> {
        Text { bytes, len: N as u16 }
    }

    /// `len` characters, cut at `N`, that `fill` draws, eight a draw. It is given room for the whole of the last draw,
    /// if there is any: what lies behind the end is never seen.
    #[inline]
    fn draw(&mut self, len: usize, fill: impl FnOnce(&mut [u8])) {
        let len = len.min(N);
        fill(&mut self.bytes[..len.next_multiple_of(8).min(N)]);
        self.len = len as u16;
    }

    /// Writes `over` at `position`; what does not fit is left out.
    pub(crate) fn overwrite(&mut self, position: usize, over: &[u8]) {
        let len = usize::from(self.len);
        for (to, from) in self.bytes[..len].iter_mut().skip(position).zip(over) {
            *to = *from;
        }
    }

    /// The text as a string slice.
    #[inline]
    pub fn as_str(&self) -> &str {
        // Always ASCII; the check costs little and keeps the crate free of unsafe code.
        std::str::from_utf8(self.as_bytes()).unwrap_or_default()
    }

    /// The text as bytes, without the check of [`Text::as_str`].
    #[inline]
    pub fn as_bytes(&self) -> &[u8] {
        &self.bytes[..usize::from(self.len)]
    }
}

/// A string is too long for a [`Text`], or not ASCII.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct NotText {
    /// The most characters the text could have held.
    pub capacity: usize,
}

impl fmt::Display for NotText {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "not ASCII text of at most {} characters", self.capacity)
    }
}

impl std::error::Error for NotText {}

impl<const N: usize> TryFrom<&str> for Text<N> {
    type Error = NotText;

    fn try_from(text: &str) -> Result<Text<N>, NotText> {
        if text.len() > N || !text.is_ascii() {
            return Err(NotText { capacity: N });
        }
        let mut bytes = [0; N];
        bytes[..text.len()].copy_from_slice(text.as_bytes());
        Ok(Text { bytes, len: text.len() as u16 })
    }
}

impl<const N: usize> Deref for Text<N> {
    type Target = str;

    fn deref(&self) -> &str {
        self.as_str()
    }
}

impl<const N: usize> PartialEq for Text<N> {
    fn eq(&self, other: &Text<N>) -> bool {
        self.as_bytes() == other.as_bytes()
    }
}

impl<const N: usize> Eq for Text<N> {}

impl<const N: usize> std::hash::Hash for Text<N> {
    fn hash<H: std::hash::Hasher>(&self, state: &mut H) {
        self.as_bytes().hash(state);
    }
}

impl<const N: usize> fmt::Debug for Text<N> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.as_str().fmt(f)
    }
}

impl<const N: usize> fmt::Display for Text<N> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.as_str().fmt(f)
    }
}

/// The syllables of last names (4.3.2.3).
const SYLLABLES: [&str; 10] = ["BAR", "OUGHT", "ABLE", "PRI", "PRES", "ESE", "ANTI", "CALLY", "ATION", "EING"];

/// The last name of number `n` in 0..=999: one syllable for each of its three digits (4.3.2.3).
pub fn last_name(n: i32) -> Text<16> {
    let n = n.rem_euclid(LAST_NAMES) as usize;
    let mut name = Text { bytes: [0; 16], len: 0 };
    for digit in [n / 100, n / 10 % 10, n % 10] {
        let syllable = SYLLABLES[digit].as_bytes();
        let start = usize::from(name.len);
        name.len += syllable.len() as u16;
        name.overwrite(start, syllable);
    }
    name
}

/// The number of a last name, 0..=999: the reverse of [`last_name`]; `None` if the name is none.
pub fn last_name_number(name: &str) -> Option<i32> {
    (0..LAST_NAMES).find(|n| &*last_name(*n) == name)
}

/// A random a-string [min .. max] (4.3.2.2): letters and digits, the length uniform in
/// `min..=max`; `max <= N`.
#[inline]
pub fn a_string<const N: usize>(rng: &mut Stream, min: i32, max: i32) -> Text<N> {
    let len = rng.uniform_i32(min, max) as usize;
    let mut text = Text::EMPTY;
    text.draw(len, |bytes| rng.fill_alphanumeric(bytes));
    text
}

/// A random n-string [min .. max] (4.3.2.2): digits, the length uniform in `min..=max`;
/// `max <= N`.
pub fn n_string<const N: usize>(rng: &mut Stream, min: i32, max: i32) -> Text<N> {
    let len = rng.uniform_i32(min, max) as usize;
    let mut text = Text::EMPTY;
    text.draw(len, |bytes| rng.fill_digits(bytes));
    text
}

/// `N` random letters: "random a-string of N letters" (4.3.3.1).
#[inline]
pub fn letters<const N: usize>(rng: &mut Stream) -> Text<N> {
    let mut text = Text::EMPTY;
    draw_letters(rng, &mut text);
    text
}

/// [`letters`] where they are to stand: to move text that has just been written waits for the writes.
#[inline]
pub(crate) fn draw_letters<const N: usize>(rng: &mut Stream, text: &mut Text<N>) {
    text.draw(N, |bytes| rng.fill_letters(bytes));
}

/// A random zip code (4.3.2.7): four random digits, then `11111`.
pub fn zip(rng: &mut Stream) -> Text<9> {
    let mut zip = Text::full(*b"000011111");
    rng.fill_digits(&mut zip.bytes[..4]);
    zip
}
