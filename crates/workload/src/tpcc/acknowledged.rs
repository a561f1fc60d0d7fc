//! What a client was told, transaction by transaction, in a form that outlives the client: the file `acknowledged.bin`.
//!
//! A header and records of one size, all numbers little-endian. It begins with the state of each driven district
//! before the run, so that it can be held against the database without anything else ([`super::audit`]).

use ::tpcc::DISTRICTS_PER_WAREHOUSE;
use ::tpcc::input::{CustomerBy, Input};
use ::tpcc::money::Cents;
use ::tpcc::text::last_name_number;
use target::{Class, Error};

use super::Output;

/// Bytes of the header, and of each record.
pub const RECORD_BYTES: usize = 24;

/// What the file begins with; the line end shows a transfer that changed those of texts.
const MAGIC: [u8; 8] = *b"WBACKS\r\n";

/// The version that this tool writes, and the only one that it reads.
const VERSION: u32 = 1;

/// How a customer is known: by number, or by last name where no answer told the number.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Customer {
    /// `C_ID`.
    Number(i32),
    /// The number of a last name (4.3.2.3), 0..=999.
    LastName(i32),
}

/// A New-Order.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct NewOrderEntry {
    /// The warehouse.
    pub w_id: i32,
    /// The district.
    pub d_id: i32,
    /// The order's number; 0 where no answer told it.
    pub o_id: i32,
    /// The customer.
    pub c_id: i32,
    /// Lines of the order.
    pub ol_cnt: i32,
}

/// A Payment: what finds its row in HISTORY.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct PaymentEntry {
    /// The terminal's warehouse.
    pub w_id: i32,
    /// The terminal's district.
    pub d_id: i32,
    /// The customer's warehouse.
    pub c_w_id: i32,
    /// The customer's district.
    pub c_d_id: i32,
    /// The customer.
    pub customer: Customer,
    /// The amount, in cents.
    pub amount: Cents,
}

/// One record.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Entry {
    /// A district before the run.
    Before {
        /// The warehouse.
        w_id: i32,
        /// The district.
        d_id: i32,
        /// `D_NEXT_O_ID`.
        next_o_id: i32,
        /// `D_YTD`, in cents.
        ytd: Cents,
        /// Rows in NEW-ORDER.
        undelivered: u32,
    },
    /// A New-Order that was acknowledged.
    NewOrder(NewOrderEntry),
    /// A New-Order that was rolled back by design.
    RolledBack(NewOrderEntry),
    /// A Payment that was acknowledged.
    Payment(PaymentEntry),
    /// An order of a Delivery that was acknowledged.
    Delivered {
        /// The warehouse.
        w_id: i32,
        /// The district.
        d_id: i32,
        /// The order.
        o_id: i32,
        /// The carrier.
        carrier_id: i32,
    },
    /// A New-Order whose COMMIT got no answer.
    UnknownNewOrder(NewOrderEntry),
    /// A Payment whose COMMIT got no answer.
    UnknownPayment(PaymentEntry),
    /// A Delivery whose COMMIT got no answer.
    UnknownDelivery {
        /// The warehouse.
        w_id: i32,
        /// The carrier.
        carrier_id: i32,
    },
    /// The client came to its end; so many transactions were still under way.
    End {
        /// How many.
        abandoned: u32,
    },
}

/// The fields of a record, in their order in the file.
#[derive(Clone, Copy, Default)]
struct Raw {
    kind: u8,
    d_id: u8,
    small: u8,
    w_id: i32,
    numbers: [i32; 3],
    last: u32,
}

impl Raw {
    fn bytes(self) -> [u8; RECORD_BYTES] {
        let mut bytes = [0; RECORD_BYTES];
        bytes[..3].copy_from_slice(&[self.kind, self.d_id, self.small]);
        bytes[4..8].copy_from_slice(&self.w_id.to_le_bytes());
        for (to, number) in bytes[8..20].chunks_exact_mut(4).zip(self.numbers) {
            to.copy_from_slice(&number.to_le_bytes());
        }
        bytes[20..].copy_from_slice(&self.last.to_le_bytes());
        bytes
    }

    fn of(bytes: &[u8; RECORD_BYTES]) -> Self {
        let number = |at: usize| i32::from_le_bytes([bytes[at], bytes[at + 1], bytes[at + 2], bytes[at + 3]]);
        Raw {
            kind: bytes[0],
            d_id: bytes[1],
            small: bytes[2],
            w_id: number(4),
            numbers: [number(8), number(12), number(16)],
            last: number(20).cast_unsigned(),
        }
    }
}

const BEFORE: u8 = 1;
const NEW_ORDER: u8 = 2;
const ROLLED_BACK: u8 = 3;
const PAYMENT: u8 = 4;
const DELIVERED: u8 = 5;
const UNKNOWN_NEW_ORDER: u8 = 6;
const UNKNOWN_PAYMENT: u8 = 7;
const UNKNOWN_DELIVERY: u8 = 8;
const END: u8 = 9;

impl Entry {
    /// Its record; `at_ms` is when the answer came, in milliseconds since the run's start.
    fn encode(self, at_ms: u32) -> [u8; RECORD_BYTES] {
        // Districts, carriers and lines are small by the standard, and c_d_id is a district.
        let order = |kind, order: NewOrderEntry| Raw {
            kind,
            d_id: order.d_id as u8,
            small: order.ol_cnt as u8,
            w_id: order.w_id,
            numbers: [order.o_id, order.c_id, 0],
            last: at_ms,
        };
        let payment = |kind, payment: PaymentEntry| Raw {
            kind,
            d_id: payment.d_id as u8,
            small: payment.c_d_id as u8,
            w_id: payment.w_id,
            numbers: [payment.c_w_id, payment.customer.encode(), payment.amount as i32],
            last: at_ms,
        };
        let raw = match self {
            Entry::Before { w_id, d_id, next_o_id, ytd, undelivered } => {
                let (low, high) = (ytd as i32, (ytd >> 32) as i32);
                Raw {
                    kind: BEFORE,
                    d_id: d_id as u8,
                    small: 0,
                    w_id,
                    numbers: [next_o_id, low, high],
                    last: undelivered,
                }
            }
            Entry::NewOrder(entry) => order(NEW_ORDER, entry),
            Entry::RolledBack(entry) => order(ROLLED_BACK, entry),
            Entry::Payment(entry) => payment(PAYMENT, entry),
            Entry::Delivered { w_id, d_id, o_id, carrier_id } => Raw {
                kind: DELIVERED,
                d_id: d_id as u8,
                small: carrier_id as u8,
                w_id,
                numbers: [o_id, 0, 0],
                last: at_ms,
            },
            Entry::UnknownNewOrder(entry) => order(UNKNOWN_NEW_ORDER, entry),
            Entry::UnknownPayment(entry) => payment(UNKNOWN_PAYMENT, entry),
            Entry::UnknownDelivery { w_id, carrier_id } => {
                Raw { kind: UNKNOWN_DELIVERY, small: carrier_id as u8, w_id, last: at_ms, ..Raw::default() }
            }
            Entry::End { abandoned } => {
                Raw { kind: END, numbers: [abandoned.cast_signed(), 0, 0], last: at_ms, ..Raw::default() }
            }
        };
        raw.bytes()
    }

    /// The entry of a record; `None` if it is none.
    fn decode(bytes: &[u8; RECORD_BYTES]) -> Option<Self> {
        let raw = Raw::of(bytes);
        let (w_id, d_id, small) = (raw.w_id, i32::from(raw.d_id), i32::from(raw.small));
        let [first, second, third] = raw.numbers;
        let order = || NewOrderEntry { w_id, d_id, o_id: first, c_id: second, ol_cnt: small };
        let payment = || PaymentEntry {
            w_id,
            d_id,
            c_w_id: first,
            c_d_id: small,
            customer: Customer::decode(second),
            amount: Cents::from(third),
        };
        Some(match raw.kind {
            BEFORE => {
                let ytd = i64::from(second.cast_unsigned()) | (i64::from(third) << 32);
                Entry::Before { w_id, d_id, next_o_id: first, ytd, undelivered: raw.last }
            }
            NEW_ORDER => Entry::NewOrder(order()),
            ROLLED_BACK => Entry::RolledBack(order()),
            PAYMENT => Entry::Payment(payment()),
            DELIVERED => Entry::Delivered { w_id, d_id, o_id: first, carrier_id: small },
            UNKNOWN_NEW_ORDER => Entry::UnknownNewOrder(order()),
            UNKNOWN_PAYMENT => Entry::UnknownPayment(payment()),
            UNKNOWN_DELIVERY => Entry::UnknownDelivery { w_id, carrier_id: small },
            END => Entry::End { abandoned: first.cast_unsigned() },
            _ => return None,
        })
    }
}

impl Customer {
    /// A last name is below zero, where no number is.
    fn encode(self) -> i32 {
        match self {
            Customer::Number(c_id) => c_id,
            Customer::LastName(number) => -1 - number,
        }
    }

    fn decode(number: i32) -> Self {
        if number < 0 { Customer::LastName(-1 - number) } else { Customer::Number(number) }
    }
}

/// The file's header. `started_us` is the database's clock before the run, as it dates HISTORY, in microseconds since
/// the Unix epoch.
pub fn header(started_us: i64) -> [u8; RECORD_BYTES] {
    let mut bytes = [0; RECORD_BYTES];
    bytes[..8].copy_from_slice(&MAGIC);
    bytes[8..12].copy_from_slice(&VERSION.to_le_bytes());
    bytes[12..16].copy_from_slice(&(RECORD_BYTES as u32).to_le_bytes());
    bytes[16..].copy_from_slice(&started_us.to_le_bytes());
    bytes
}

/// Appends an entry; `at_ms` is when its answer came, in milliseconds since the run's start.
#[inline]
pub fn append(journal: &mut Vec<u8>, at_ms: u32, entry: Entry) {
    journal.extend_from_slice(&entry.encode(at_ms));
}

/// Appends a transaction that was acknowledged, committed or rolled back by design.
#[inline]
pub fn acknowledge(journal: &mut Vec<u8>, at_ms: u32, input: &Input, output: &Output) {
    match (input, output) {
        (Input::NewOrder(order), Output::NewOrder(shown)) => {
            let entry = NewOrderEntry {
                w_id: order.w_id,
                d_id: order.d_id,
                o_id: shown.o_id,
                c_id: order.c_id,
                ol_cnt: order.lines.len() as i32,
            };
            append(journal, at_ms, if shown.rolled_back { Entry::RolledBack(entry) } else { Entry::NewOrder(entry) });
        }
        (Input::Payment(payment), Output::Payment(shown)) => {
            let customer = Customer::Number(shown.c_id);
            append(journal, at_ms, Entry::Payment(payment_entry(payment, customer)));
        }
        (Input::Delivery(delivery), Output::Delivery(done)) => {
            let (w_id, carrier_id) = (delivery.w_id, delivery.carrier_id);
            for (o_id, d_id) in done.o_ids.iter().zip(1..=DISTRICTS_PER_WAREHOUSE) {
                if let Some(o_id) = *o_id {
                    append(journal, at_ms, Entry::Delivered { w_id, d_id, o_id, carrier_id });
                }
            }
        }
        _ => {}
    }
}

/// Appends a failure, if it is a COMMIT without an answer.
pub fn failed(journal: &mut Vec<u8>, at_ms: u32, input: &Input, error: &Error) {
    if error.class() != Class::Unknown {
        return;
    }
    match input {
        Input::NewOrder(order) => {
            let ol_cnt = order.lines.len() as i32;
            let entry = NewOrderEntry { w_id: order.w_id, d_id: order.d_id, o_id: 0, c_id: order.c_id, ol_cnt };
            append(journal, at_ms, Entry::UnknownNewOrder(entry));
        }
        Input::Payment(payment) => {
            let customer = match &payment.customer {
                CustomerBy::Number(c_id) => Customer::Number(*c_id),
                // Terminals enter no names but the standard's.
                CustomerBy::LastName(name) => Customer::LastName(last_name_number(name).unwrap_or_default()),
            };
            append(journal, at_ms, Entry::UnknownPayment(payment_entry(payment, customer)));
        }
        Input::Delivery(delivery) => {
            let entry = Entry::UnknownDelivery { w_id: delivery.w_id, carrier_id: delivery.carrier_id };
            append(journal, at_ms, entry);
        }
        Input::OrderStatus(_) | Input::StockLevel(_) => {}
    }
}

fn payment_entry(payment: &::tpcc::input::Payment, customer: Customer) -> PaymentEntry {
    PaymentEntry {
        w_id: payment.w_id,
        d_id: payment.d_id,
        c_w_id: payment.c_w_id,
        c_d_id: payment.c_d_id,
        customer,
        amount: payment.amount,
    }
}

/// A file read back.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Acknowledged {
    /// The database's clock before the run, as it dates HISTORY, in microseconds since the Unix epoch.
    pub started_us: i64,
    /// The entries, each with when its answer came, in milliseconds since the start.
    pub entries: Vec<(u32, Entry)>,
    /// Bytes at the end that hold no whole record: the client or its machine died in the midst of writing.
    pub torn_bytes: u64,
}

/// Why bytes are no ledger.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum NotALedger {
    /// It begins with something else.
    #[error("not a ledger of acknowledgements")]
    Magic,
    /// Of a version that this tool does not know.
    #[error("a ledger of version {0}, and this tool reads version {VERSION}")]
    Version(u32),
    /// Damaged in its midst.
    #[error("record {0} of the ledger is damaged")]
    Record(usize),
}

impl Acknowledged {
    /// Reads the bytes of a file. What is torn at its end is left out; also zeros, as a file system leaves them where
    /// the machine went down before the data were written.
    ///
    /// # Errors
    /// If the bytes are something else, or damaged anywhere but at their end.
    pub fn parse(bytes: &[u8]) -> Result<Self, NotALedger> {
        let (records, torn) = bytes.as_chunks::<RECORD_BYTES>();
        let Some((header, records)) = records.split_first() else {
            return match MAGIC.starts_with(&bytes[..bytes.len().min(8)]) {
                true => Ok(Self { torn_bytes: bytes.len() as u64, ..Self::default() }),
                false => Err(NotALedger::Magic),
            };
        };
        if header[..8] != MAGIC {
            return Err(NotALedger::Magic);
        }
        let word = |at: usize| u32::from_le_bytes([header[at], header[at + 1], header[at + 2], header[at + 3]]);
        if (word(8), word(12)) != (VERSION, RECORD_BYTES as u32) {
            return Err(NotALedger::Version(word(8)));
        }
        let started_us = (u64::from(word(20)) << 32 | u64::from(word(16))).cast_signed();
        let written = records.iter().rposition(|record| record[0] != 0).map_or(0, |last| last + 1);
        let mut entries = Vec::with_capacity(written);
        for (at, record) in records[..written].iter().enumerate() {
            let entry = Entry::decode(record).ok_or(NotALedger::Record(at + 1))?;
            entries.push((Raw::of(record).last, entry));
        }
        let torn_bytes = ((records.len() - written) * RECORD_BYTES + torn.len()) as u64;
        Ok(Self { started_us, entries, torn_bytes })
    }

    /// How many transactions were under way when the client ended; `None`: it did not come to its end.
    pub fn abandoned(&self) -> Option<u32> {
        match self.entries.last() {
            Some((_, Entry::End { abandoned })) => Some(*abandoned),
            _ => None,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn samples() -> Vec<Entry> {
        let order = NewOrderEntry { w_id: 70_000, d_id: 10, o_id: 3_001, c_id: 3_000, ol_cnt: 15 };
        let payment = |customer| PaymentEntry { w_id: 1, d_id: 2, c_w_id: 99, c_d_id: 10, customer, amount: 500_000 };
        vec![
            Entry::Before { w_id: 3, d_id: 4, next_o_id: 3001, ytd: 987_654_321_012, undelivered: 900 },
            Entry::Before { w_id: 3, d_id: 5, next_o_id: 3001, ytd: 3_000_000_000, undelivered: 0 },
            Entry::NewOrder(order),
            Entry::RolledBack(order),
            Entry::Payment(payment(Customer::Number(7))),
            Entry::Delivered { w_id: 1, d_id: 1, o_id: 2101, carrier_id: 10 },
            Entry::UnknownNewOrder(NewOrderEntry { o_id: 0, ..order }),
            Entry::UnknownPayment(payment(Customer::LastName(0))),
            Entry::UnknownPayment(payment(Customer::LastName(999))),
            Entry::UnknownDelivery { w_id: 5, carrier_id: 3 },
            Entry::End { abandoned: 2 },
        ]
    }

    fn file(entries: &[Entry]) -> Vec<u8> {
        let mut bytes = header(1_790_000_000_123_456).to_vec();
        entries.iter().for_each(|entry| append(&mut bytes, 17, *entry));
        bytes
    }

    #[test]
    fn every_entry_comes_back() {
        let read = Acknowledged::parse(&file(&samples())).unwrap();
        assert_eq!(read.started_us, 1_790_000_000_123_456);
        assert_eq!(read.entries.iter().map(|(_, entry)| *entry).collect::<Vec<_>>(), samples());
        assert_eq!((read.torn_bytes, read.abandoned()), (0, Some(2)));
        assert!(read.entries[2..].iter().all(|(at, _)| *at == 17));
    }

    #[test]
    fn a_torn_end_is_left_out_wherever_it_is_torn() {
        let whole = file(&samples());
        for cut in 0..whole.len() {
            let read = Acknowledged::parse(&whole[..cut]).unwrap();
            let complete = (cut / RECORD_BYTES).saturating_sub(1);
            assert_eq!(read.entries.len(), complete, "cut at {cut}");
            assert_eq!(read.abandoned(), None);
            let torn = if cut < RECORD_BYTES { cut } else { cut % RECORD_BYTES };
            assert_eq!(read.torn_bytes, torn as u64);
        }
        let zeros = Acknowledged::parse(&[whole, vec![0; 4096]].concat()).unwrap();
        assert_eq!((zeros.entries.len(), zeros.torn_bytes), (samples().len(), 4096));
    }

    #[test]
    fn anything_else_is_refused() {
        assert_eq!(Acknowledged::parse(b"elapsed_s,phase,new_order"), Err(NotALedger::Magic));
        assert_eq!(Acknowledged::parse(b"no"), Err(NotALedger::Magic));
        let mut newer = file(&samples());
        newer[8] = 2;
        assert_eq!(Acknowledged::parse(&newer), Err(NotALedger::Version(2)));
        for kind in [0, 77] {
            let mut damaged = file(&samples());
            damaged[RECORD_BYTES * 3] = kind;
            assert_eq!(Acknowledged::parse(&damaged), Err(NotALedger::Record(3)));
        }
    }
}
