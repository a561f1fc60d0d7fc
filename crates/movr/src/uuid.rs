//! Identifiers.

use std::fmt;

use crate::random::Stream;

/// A universally unique identifier, shaped as a random one (version 4 of RFC 9562).
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Uuid(pub [u8; 16]);

impl Uuid {
    pub(crate) fn random(stream: &mut Stream) -> Self {
        let mut bytes = [0; 16];
        bytes[..8].copy_from_slice(&stream.next().to_be_bytes());
        bytes[8..].copy_from_slice(&stream.next().to_be_bytes());
        bytes[6] = bytes[6] & 0x0f | 0x40;
        bytes[8] = bytes[8] & 0x3f | 0x80;
        Self(bytes)
    }
}

impl fmt::Display for Uuid {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let number = u128::from_be_bytes(self.0);
        let group = |shift: u32, digits: u32| (number >> shift) & ((1 << (4 * digits)) - 1);
        write!(
            f,
            "{:08x}-{:04x}-{:04x}-{:04x}-{:012x}",
            group(96, 8),
            group(80, 4),
            group(64, 4),
            group(48, 4),
            group(0, 12)
        )
    }
}
