//! Payment (2.5).

use ::tpcc::input::{CustomerBy, Payment};
use ::tpcc::money::{Cents, Rate};
use ::tpcc::text::Text;
use target::null_reply::Column;
use target::null_reply::Kind::{self, Char, Int, Numeric, SmallInt, Timestamp, Varchar};
use target::null_reply::Reply;
use target::{Access, Answer, Decimal, Error, Isolation, Row, Session, Statement, StatementBatch, Value};

use super::customer::{BALANCE, CREDIT_BY_DISTRICT as CREDIT, CREDIT_LIM, DISCOUNT, FIRST, LAST, MIDDLE};
use super::plan::{Update, step};
use super::{customer, rate, text};

/// Columns that the null target answers with, at usual lengths.
const NAME: Column = Column::text(Varchar, "DLcbVwLx");
const STREET: Column = Column::text(Varchar, "OpkmVqfRcJhDbHn");
const STATE: Column = Column::text(Char, "GM");
const ZIP: Column = Column::text(Char, "123411111");
const PHONE: Column = Column::text(Char, "1234567890123456");
const CUSTOMER_ROW: &[Column] = &[
    FIRST,
    MIDDLE,
    LAST,
    STREET,
    STREET,
    STREET,
    STATE,
    ZIP,
    PHONE,
    Column::now(),
    CREDIT,
    CREDIT_LIM,
    DISCOUNT,
    BALANCE,
];
/// The part of C_DATA that the null target shows.
pub(super) const DATA_MADE: &str = "1 1 1 1 1 10.00 \
    nKtUwdZkXbQaCsPmEfGhVyLjRoTiNuBqWcDxSzHgFlJvKpMrOeAyUtIwQnEbCdZsXfGaHjVkLmPoRiTuYwNqBcDxEzSgFhJlKvMpOrAeUyItWnQbCdEsZfXaGjHkV\
    mLoPiRuTwYqNcBxDzEgShFlJvKpMrOeAyUtIwQnEbCdZsXfGaHjVkLmPoR";

static WAREHOUSE_READ: Statement = Statement::new(
    "payment.warehouse_read",
    "SELECT w_name, w_street_1, w_street_2, w_city, w_state, w_zip, LOCALTIMESTAMP FROM warehouse WHERE w_id = $1",
)
.takes(&[Int])
.replies(Reply::rows(1, &[NAME, STREET, STREET, STREET, STATE, ZIP, Column::now()]));
static WAREHOUSE_WRITE: Statement =
    Statement::new("payment.warehouse_write", "UPDATE warehouse SET w_ytd = w_ytd + $2 WHERE w_id = $1")
        .takes(&[Int, Numeric]);
static WAREHOUSE: Statement = Statement::new(
    "payment.warehouse",
    "UPDATE warehouse SET w_ytd = w_ytd + $2 WHERE w_id = $1 \
     RETURNING w_name, w_street_1, w_street_2, w_city, w_state, w_zip, LOCALTIMESTAMP",
)
.takes(&[Int, Numeric])
.replies(Reply::rows(1, &[NAME, STREET, STREET, STREET, STATE, ZIP, Column::now()]));
static DISTRICT_READ: Statement = Statement::new(
    "payment.district_read",
    "SELECT d_name, d_street_1, d_street_2, d_city, d_state, d_zip FROM district WHERE d_w_id = $1 AND d_id = $2",
)
.takes(&[Int, SmallInt])
.replies(Reply::rows(1, &[NAME, STREET, STREET, STREET, STATE, ZIP]));
static DISTRICT_WRITE: Statement =
    Statement::new("payment.district_write", "UPDATE district SET d_ytd = d_ytd + $3 WHERE d_w_id = $1 AND d_id = $2")
        .takes(&[Int, SmallInt, Numeric]);
static DISTRICT: Statement = Statement::new(
    "payment.district",
    "UPDATE district SET d_ytd = d_ytd + $3 WHERE d_w_id = $1 AND d_id = $2 \
     RETURNING d_name, d_street_1, d_street_2, d_city, d_state, d_zip",
)
.takes(&[Int, SmallInt, Numeric])
.replies(Reply::rows(1, &[NAME, STREET, STREET, STREET, STATE, ZIP]));
static CUSTOMER_READ: Statement = Statement::new(
    "payment.customer_read",
    "SELECT c_first, c_middle, c_last, c_street_1, c_street_2, c_city, c_state, c_zip, c_phone, c_since, c_credit, \
     c_credit_lim, c_discount, c_balance FROM customer WHERE c_w_id = $1 AND c_d_id = $2 AND c_id = $3 FOR UPDATE",
)
.takes(&[Int, SmallInt, Int])
.replies(Reply::rows(1, CUSTOMER_ROW));
static CUSTOMER_WRITE: Statement = Statement::new(
    "payment.customer_write",
    "UPDATE customer SET c_balance = c_balance - $4, c_ytd_payment = c_ytd_payment + $4, \
     c_payment_cnt = c_payment_cnt + 1 WHERE c_w_id = $1 AND c_d_id = $2 AND c_id = $3",
)
.takes(&[Int, SmallInt, Int, Numeric]);
static CUSTOMER: Statement = Statement::new(
    "payment.customer",
    "UPDATE customer SET c_balance = c_balance - $4, c_ytd_payment = c_ytd_payment + $4, \
     c_payment_cnt = c_payment_cnt + 1 WHERE c_w_id = $1 AND c_d_id = $2 AND c_id = $3 \
     RETURNING c_first, c_middle, c_last, c_street_1, c_street_2, c_city, c_state, c_zip, c_phone, c_since, c_credit, \
     c_credit_lim, c_discount, c_balance",
)
.takes(&[Int, SmallInt, Int, Numeric])
.replies(Reply::rows(1, CUSTOMER_ROW));
static DATA_READ: Statement =
    Statement::new("payment.data_read", "SELECT c_data FROM customer WHERE c_w_id = $1 AND c_d_id = $2 AND c_id = $3")
        .takes(&[Int, SmallInt, Int])
        .replies(Reply::rows(1, &[Column::text(Varchar, DATA_MADE)]));
static DATA_WRITE: Statement = Statement::new(
    "payment.data_write",
    "UPDATE customer SET c_data = $4 WHERE c_w_id = $1 AND c_d_id = $2 AND c_id = $3",
)
.takes(&[Int, SmallInt, Int, Varchar]);
static DATA: Statement = Statement::new(
    "payment.data",
    "UPDATE customer SET c_data = SUBSTR($4 || c_data, 1, 500) WHERE c_w_id = $1 AND c_d_id = $2 AND c_id = $3 \
     RETURNING SUBSTR(c_data, 1, 200)",
)
.takes(&[Int, SmallInt, Int, Kind::Text])
.replies(Reply::rows(1, &[Column::text(Kind::Text, DATA_MADE)]));
static HISTORY: Statement = Statement::new(
    "payment.history",
    "INSERT INTO history (h_c_w_id, h_c_d_id, h_c_id, h_w_id, h_d_id, h_date, h_amount, h_data) \
     VALUES ($1, $2, $3, $4, $5, $6, $7, $8)",
)
.takes(&[Int, SmallInt, Int, Int, SmallInt, Timestamp, Numeric, Varchar]);

step! {
    /// The statements of Payment.
    struct Plan { warehouse: Update, district: Update, by_name, customer: Update, data: Update, history }
}

/// Each read and each write is a statement.
pub(super) const APART: Plan = Plan {
    warehouse: Update::Apart { read: &WAREHOUSE_READ, write: &WAREHOUSE_WRITE },
    district: Update::Apart { read: &DISTRICT_READ, write: &DISTRICT_WRITE },
    by_name: &customer::BY_NAME,
    customer: Update::Apart { read: &CUSTOMER_READ, write: &CUSTOMER_WRITE },
    data: Update::Apart { read: &DATA_READ, write: &DATA_WRITE },
    history: &HISTORY,
};
/// Each statement writes a row and returns it.
pub(super) const RETURNING: Plan = Plan {
    warehouse: Update::Returning { update: &WAREHOUSE },
    district: Update::Returning { update: &DISTRICT },
    by_name: &customer::BY_NAME,
    customer: Update::Returning { update: &CUSTOMER },
    data: Update::Returning { update: &DATA },
    history: &HISTORY,
};

/// C_DATA stores 500 characters (1.3.1) and the screen shows 200 (2.5.3.3).
const DATA_LENGTH: usize = 500;
const DATA_SHOWN: usize = 200;

/// What Payment shows (2.5.3.3), beside its input.
#[derive(Clone, Debug, PartialEq)]
pub struct PaymentOutput {
    /// `C_ID`, found by name or entered.
    pub c_id: i32,
    /// The warehouse where it was paid.
    pub warehouse: NamedAddress,
    /// The district where it was paid.
    pub district: NamedAddress,
    /// `C_FIRST`.
    pub c_first: Text<16>,
    /// `C_MIDDLE`.
    pub c_middle: Text<2>,
    /// `C_LAST`.
    pub c_last: Text<16>,
    /// The customer's address.
    pub address: Address,
    /// `C_PHONE`.
    pub c_phone: Text<16>,
    /// `C_SINCE` in microseconds since the Unix epoch.
    pub c_since_us: i64,
    /// `C_CREDIT`.
    pub c_credit: Text<2>,
    /// `C_CREDIT_LIM` in cents.
    pub c_credit_lim: Cents,
    /// `C_DISCOUNT` in ten-thousandths.
    pub c_discount: Rate,
    /// The new `C_BALANCE` in cents (2.2.2.5).
    pub c_balance: Cents,
    /// `H_DATE` in microseconds since the Unix epoch.
    pub h_date_us: i64,
    /// The first 200 characters of `C_DATA`, of customers with bad credit only.
    pub c_data: Option<String>,
}

/// A warehouse or a district as shown.
#[derive(Clone, Debug, PartialEq)]
pub struct NamedAddress {
    /// Its name.
    pub name: Text<10>,
    /// Its address.
    pub address: Address,
}

/// An address as shown.
#[derive(Clone, Debug, PartialEq)]
pub struct Address {
    /// Street, first line.
    pub street_1: Text<20>,
    /// Street, second line.
    pub street_2: Text<20>,
    /// City.
    pub city: Text<20>,
    /// State.
    pub state: Text<2>,
    /// Zip code.
    pub zip: Text<9>,
}

impl Address {
    /// Reads the five columns from `first` on.
    pub(super) fn read(row: Row<'_>, first: usize) -> Result<Self, Error> {
        Ok(Self {
            street_1: text(row, first)?,
            street_2: text(row, first + 1)?,
            city: text(row, first + 2)?,
            state: text(row, first + 3)?,
            zip: text(row, first + 4)?,
        })
    }
}

impl NamedAddress {
    /// Reads the six columns from `first` on.
    pub(super) fn read(row: Row<'_>, first: usize) -> Result<Self, Error> {
        Ok(Self { name: text(row, first)?, address: Address::read(row, first + 1)? })
    }
}

pub(super) async fn run(
    session: &mut Session,
    plan: &Plan,
    isolation: Isolation,
    input: &Payment,
) -> Result<PaymentOutput, Error> {
    session.begin(isolation, Access::ReadWrite);
    let w = input.w_id.into();
    let d = input.d_id.into();
    let c_w = input.c_w_id.into();
    let c_d = input.c_d_id.into();
    let amount = Decimal::cents(input.amount).into();

    // The warehouse first: its row is the hottest, and a snapshot taken at its lock is the freshest.
    let mut batch = StatementBatch::new();
    pay(&mut batch, plan.warehouse, &[w, amount]);
    pay(&mut batch, plan.district, &[w, d, amount]);
    let places = batch.len();
    match &input.customer {
        CustomerBy::Number(c_id) => pay(&mut batch, plan.customer, &[c_w, c_d, (*c_id).into(), amount]),
        // The name is looked up in the customer's own district, which may be remote.
        CustomerBy::LastName(name) => {
            batch.call(plan.by_name, &[c_w, c_d, name.as_str().into()]);
        }
    }
    let mut answers = session.send_all(&batch).await?;
    let mut paid = answers.split_off(places);
    let c_id = match &input.customer {
        CustomerBy::Number(c_id) => *c_id,
        CustomerBy::LastName(_) => {
            let c_id = customer::middle(read(&paid)?)?.int(0)?;
            let mut batch = StatementBatch::new();
            pay(&mut batch, plan.customer, &[c_w, c_d, c_id.into(), amount]);
            paid = session.send_all(&batch).await?;
            c_id
        }
    };
    let (warehouse, district) = answers.split_at(places / 2);
    let warehouse = read(warehouse)?.only()?;
    let district = read(district)?.only()?;
    let row = read(&paid)?.only()?;
    let h_date_us = warehouse.timestamp(6)?;
    let warehouse = NamedAddress::read(warehouse, 0)?;
    let district = NamedAddress::read(district, 0)?;
    let c_credit: Text<2> = text(row, 10)?;

    // W_NAME, four blanks, D_NAME.
    let h_data = format!("{}    {}", warehouse.name.as_str(), district.name.as_str());
    let c_id_value = c_id.into();
    let history = [c_w, c_d, c_id_value, w, d, Value::Timestamp(h_date_us), amount, h_data.as_str().into()];
    let c_data = if c_credit.as_str() == "BC" {
        let key = [c_w, c_d, c_id_value];
        let mut data = data_prefix(input, c_id);
        if let Update::Apart { read, .. } = plan.data {
            read_data(session, read, &key, &mut data).await?;
        }
        let mut batch = StatementBatch::new();
        let (Update::Returning { update: write } | Update::Apart { write, .. }) = plan.data;
        batch.call(write, &[key[0], key[1], key[2], data.as_str().into()]).call(plan.history, &history);
        let [written, inserted] = session.send_and_commit(&batch).await?;
        written.expect_affected(1)?;
        inserted.expect_affected(1)?;
        drop(batch);
        match plan.data {
            Update::Returning { .. } => data = written.only()?.text(0)?.to_owned(),
            Update::Apart { .. } => data.truncate(DATA_SHOWN),
        }
        Some(data)
    } else {
        let mut batch = StatementBatch::new();
        batch.call(plan.history, &history);
        let [inserted] = session.send_and_commit(&batch).await?;
        inserted.expect_affected(1)?;
        None
    };

    Ok(PaymentOutput {
        c_id,
        warehouse,
        district,
        c_first: text(row, 0)?,
        c_middle: text(row, 1)?,
        c_last: text(row, 2)?,
        address: Address::read(row, 3)?,
        c_phone: text(row, 8)?,
        c_since_us: row.timestamp(9)?,
        c_credit,
        c_credit_lim: row.cents(11)?,
        c_discount: rate(row, 12)?,
        c_balance: row.cents(13)?,
        h_date_us,
        c_data,
    })
}

/// Adds the statements that pay an amount, the last value, and read the row. The read takes all values but the amount.
fn pay<'a>(batch: &mut StatementBatch<'a>, row: Update, key_and_amount: &[Value<'a>]) {
    match row {
        Update::Returning { update } => batch.call(update, key_and_amount),
        Update::Apart { read, write } => {
            batch.call(write, key_and_amount).call(read, &key_and_amount[..key_and_amount.len() - 1])
        }
    };
}

/// Finds the answer that holds the row: the only one, or the one after the write's.
fn read(answers: &[Answer]) -> Result<&Answer, Error> {
    match answers {
        [answer] => Ok(answer),
        [written, answer] => written.expect_affected(1).map(|()| answer),
        _ => Err(Error::permanent("the answers do not fit the calls")),
    }
}

/// Reads the customer's C_DATA, appends it to `data`, and cuts `data` to the column's length.
async fn read_data(
    session: &mut Session,
    read: &'static Statement,
    key: &[Value<'_>; 3],
    data: &mut String,
) -> Result<(), Error> {
    let mut batch = StatementBatch::new();
    batch.call(read, key);
    let [old] = session.send(&batch).await?;
    data.push_str(old.only()?.text(0)?);
    data.truncate(DATA_LENGTH);
    Ok(())
}

/// Formats C_ID C_D_ID C_W_ID D_ID W_ID H_AMOUNT, in this order (2.5.2.2).
fn data_prefix(input: &Payment, c_id: i32) -> String {
    let Payment { w_id, d_id, c_w_id, c_d_id, amount, .. } = input;
    format!("{c_id} {c_d_id} {c_w_id} {d_id} {w_id} {} ", Decimal::cents(*amount))
}
