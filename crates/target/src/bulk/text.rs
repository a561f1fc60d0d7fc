//! Values as text, as CSV files, LOAD DATA and literals have them.

/// The numbers below this have at most eight digits.
const EIGHT_DIGITS: u64 = 100_000_000;

/// Eight decimal digits of a number below 10^8, as ASCII, the first one in the lowest byte: divided into halves that
/// live side by side in one register, three times.
#[inline]
fn eight_digits(number: u64) -> u64 {
    let fours = (number / 10_000) | ((number % 10_000) << 32);
    let hundreds = ((fours * 10_486) >> 20) & 0x7f_0000_007f;
    let twos = hundreds | ((fours - hundreds * 100) << 16);
    let tens = ((twos * 103) >> 10) & 0xf_000f_000f_000f;
    tens | ((twos - tens * 10) << 8)
}

/// Four decimal digits of a number below 10^4, in the same way.
#[inline]
fn four_digits(number: u32) -> u32 {
    let hundreds = (number * 5_243) >> 19;
    let twos = hundreds | ((number - hundreds * 100) << 16);
    let tens = ((twos * 103) >> 10) & 0xf_000f;
    tens | ((twos - tens * 10) << 8)
}

const ASCII_ZEROS: u64 = 0x3030_3030_3030_3030;

/// Appends the last `digits` (at most eight) of eight ASCII digits.
#[inline]
fn put_last(buffer: &mut Vec<u8>, eight: u64, digits: usize) {
    let end = buffer.len() + digits;
    // All eight bytes are stored at once, since that is faster than as many as count.
    buffer.extend_from_slice(&(eight >> (64 - 8 * digits)).to_le_bytes());
    buffer.truncate(end);
}

/// Appends a number's digits.
#[inline]
fn put_number(buffer: &mut Vec<u8>, number: u64) {
    if number < 10 {
        return buffer.push(b'0' + number as u8);
    }
    if number < 10_000 {
        // Most numbers are: districts, lines, orders of a fresh district, quantities.
        let four = four_digits(number as u32);
        let leading_zeros = four.trailing_zeros() / 8;
        let end = buffer.len() + 4 - leading_zeros as usize;
        buffer.extend_from_slice(&((four | ASCII_ZEROS as u32) >> (8 * leading_zeros)).to_le_bytes());
        return buffer.truncate(end);
    }
    if number >= EIGHT_DIGITS {
        return buffer.extend_from_slice(itoa::Buffer::new().format(number).as_bytes());
    }
    let eight = eight_digits(number);
    let leading_zeros = eight.trailing_zeros() / 8;
    put_last(buffer, eight | ASCII_ZEROS, 8 - leading_zeros as usize);
}

/// Appends a whole number.
#[inline]
pub(crate) fn put_int(buffer: &mut Vec<u8>, value: i64) {
    if value < 0 {
        buffer.push(b'-');
    }
    put_number(buffer, value.unsigned_abs());
}

/// Appends a decimal; `scale` is from 1 to 8.
#[inline]
pub(crate) fn put_decimal(buffer: &mut Vec<u8>, unscaled: i64, scale: u8) {
    if unscaled < 0 {
        buffer.push(b'-');
    }
    let digits = unscaled.unsigned_abs();
    // Known divisors for the usual scales: then a division is a multiplication.
    let (whole, fraction) = match scale {
        2 => (digits / 100, digits % 100),
        4 => (digits / 10_000, digits % 10_000),
        _ => (digits / 10_u64.pow(scale.into()), digits % 10_u64.pow(scale.into())),
    };
    put_number(buffer, whole);
    buffer.push(b'.');
    put_last(buffer, eight_digits(fraction) | ASCII_ZEROS, scale.into());
}

/// Dates as text. All dates of a load are the same instant, so it is formatted once.
#[derive(Debug, Default)]
pub(crate) struct TimestampText(Option<(i64, String)>);

impl TimestampText {
    pub(crate) fn format(&mut self, us: i64) -> &str {
        if self.0.as_ref().is_none_or(|(last, _)| *last != us) {
            self.0 = Some((us, crate::value::timestamp_text(us)));
        }
        self.0.as_ref().map_or("", |(_, text)| text)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn text(put: impl Fn(&mut Vec<u8>)) -> String {
        let mut buffer = b"x".to_vec();
        put(&mut buffer);
        String::from_utf8(buffer).unwrap().split_off(1)
    }

    #[test]
    fn numbers_of_any_length_have_their_digits_and_no_more() {
        let edges = (0..=18).flat_map(|power| [10_i64.pow(power) - 1, 10_i64.pow(power), 10_i64.pow(power) + 1]);
        for value in edges.chain(0..20_000).chain((0..1 << 31).step_by(99_991)).chain([i64::MAX, i64::MIN]) {
            assert_eq!(text(|buffer| put_int(buffer, value)), value.to_string());
            assert_eq!(text(|buffer| put_int(buffer, value.wrapping_neg())), value.wrapping_neg().to_string());
        }
    }

    #[test]
    fn decimals_keep_the_zeros_behind_the_point() {
        for (unscaled, scale, expected) in [
            (0, 2, "0.00"),
            (5, 4, "0.0005"),
            (-5, 2, "-0.05"),
            (-1000, 2, "-10.00"),
            (5_000_000, 2, "50000.00"),
            (123_456_789_012, 2, "1234567890.12"),
            (1, 8, "0.00000001"),
            (17, 1, "1.7"),
            (i64::MIN, 4, "-922337203685477.5808"),
        ] {
            assert_eq!(text(|buffer| put_decimal(buffer, unscaled, scale)), expected);
        }
    }
}
