//! Decoding of base64 (RFC 4648, standard alphabet), which the payloads of an interval log are in.

/// The bytes that `text` stands for; `None` if it is not base64.
pub(crate) fn decode(text: &str) -> Option<Vec<u8>> {
    let digits = text.trim_end_matches('=').as_bytes();
    // A group of four characters is three bytes; a rest of one character cannot be.
    if !text.len().is_multiple_of(4) || text.len() - digits.len() > 2 {
        return None;
    }
    let mut bytes = Vec::with_capacity(digits.len() * 3 / 4);
    let (mut bits, mut held) = (0u32, 0u32);
    for &digit in digits {
        bits = (bits << 6) | value(digit)?;
        held += 6;
        if held >= 8 {
            held -= 8;
            bytes.push((bits >> held) as u8);
        }
    }
    Some(bytes)
}

fn value(digit: u8) -> Option<u32> {
    Some(u32::from(match digit {
        b'A'..=b'Z' => digit - b'A',
        b'a'..=b'z' => digit - b'a' + 26,
        b'0'..=b'9' => digit - b'0' + 52,
        b'+' => 62,
        b'/' => 63,
        _ => return None,
    }))
}

#[cfg(test)]
mod tests {
    use super::decode;

    #[test]
    fn decodes_the_vectors_of_rfc_4648() {
        let vectors = [
            ("", ""),
            ("Zg==", "f"),
            ("Zm8=", "fo"),
            ("Zm9v", "foo"),
            ("Zm9vYg==", "foob"),
            ("Zm9vYmE=", "fooba"),
            ("Zm9vYmFy", "foobar"),
        ];
        for (text, bytes) in vectors {
            assert_eq!(decode(text).unwrap(), bytes.as_bytes(), "{text}");
        }
        assert_eq!(decode("+/+/").unwrap(), [0xfb, 0xff, 0xbf]);
    }

    #[test]
    fn refuses_what_is_cut_or_foreign() {
        for text in ["Z", "Zm9", "Zm9vY", "Zm 9", "Zm9-", "====", "Z==="] {
            assert_eq!(decode(text), None, "{text}");
        }
    }
}
