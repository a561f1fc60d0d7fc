//! The calls of the routines: they pass a transaction's input as parameters and read its output from the rows.

use ::tpcc::UNUSED_ITEM;
use ::tpcc::input::{CustomerBy, Delivery, Input, Kind, NewOrder, OrderStatus, Payment, StockLevel};
use ::tpcc::money::{Cents, total_amount};
use target::{Answer, Decimal, Error, Isolation, RoutineLanguage, Row, Session, Value};

use super::super::delivery::district_index;
use super::super::payment::{Address, NamedAddress};
use super::super::{
    Delivered, NewOrderOutput, OrderStatusOutput, OrderedLine, Output, PaymentOutput, StatusLine, StockLevelOutput,
    rate, text,
};
use super::call_of;

/// Runs one transaction in one call.
pub(in super::super) async fn execute(
    session: &mut Session,
    isolation: Isolation,
    language: RoutineLanguage,
    input: &Input,
) -> Result<Output, Error> {
    match input {
        Input::NewOrder(input) => {
            new_order(session, isolation, language, input).await.map(Box::new).map(Output::NewOrder)
        }
        Input::Payment(input) => payment(session, isolation, language, input).await.map(Box::new).map(Output::Payment),
        Input::OrderStatus(input) => {
            order_status(session, isolation, language, input).await.map(Box::new).map(Output::OrderStatus)
        }
        Input::Delivery(input) => delivery(session, isolation, language, input).await.map(Output::Delivery),
        Input::StockLevel(input) => stock_level(session, isolation, language, input).await.map(Output::StockLevel),
    }
}

/// The first row; every row repeats the order's header.
fn header(answer: &Answer, kind: Kind) -> Result<Row<'_>, Error> {
    answer.get(0).ok_or_else(|| Error::integrity(format!("{}: an order without lines", kind.name())))
}

async fn new_order(
    session: &mut Session,
    isolation: Isolation,
    language: RoutineLanguage,
    input: &NewOrder,
) -> Result<NewOrderOutput, Error> {
    let lines = lines_in_key_order(input);
    let all_local = i32::from(input.all_local()).into();
    let values = [input.w_id.into(), input.d_id.into(), input.c_id.into(), all_local, lines.as_str().into()];
    let answer = session.transact(isolation, call_of(Kind::NewOrder, language), &values).await?;

    let header = header(&answer, Kind::NewOrder)?;
    let mut shown: Vec<Option<OrderedLine>> = input.lines.iter().map(|_| None).collect();
    for row in answer.rows() {
        let at = usize::try_from(row.int(7)? - 1).ok().filter(|at| *at < shown.len());
        let at = at.ok_or_else(|| Error::integrity("a line came back that was not entered"))?;
        let line = input.lines[at];
        let i_price = row.cents(9)?;
        shown[at] = Some(OrderedLine {
            line,
            i_name: text(row, 8)?,
            i_price,
            amount: Cents::from(line.quantity) * i_price,
            s_quantity: row.int(10)?,
            brand: row.int(11)? == 1,
            dist_info: text(row, 12)?,
        });
    }
    // Only the unused item may have no row, and it rolls the order back.
    for (line, shown) in input.lines.iter().zip(&shown) {
        if shown.is_none() != (line.i_id == UNUSED_ITEM) {
            return Err(Error::integrity(format!("the line of item {} has no answer, or one too many", line.i_id)));
        }
    }
    let lines: Vec<OrderedLine> = shown.into_iter().flatten().collect();
    let c_discount = rate(header, 4)?;
    let w_tax = rate(header, 2)?;
    let d_tax = rate(header, 3)?;
    let sum = lines.iter().map(|line| line.amount).sum();
    Ok(NewOrderOutput {
        rolled_back: lines.len() < input.lines.len(),
        o_id: header.int(0)?,
        c_last: text(header, 5)?,
        c_credit: text(header, 6)?,
        c_discount,
        w_tax,
        d_tax,
        o_entry_d_us: header.timestamp(1)?,
        total: total_amount(sum, c_discount, w_tax, d_tax),
        lines,
    })
}

/// Formats `[[number, item, supplying warehouse, quantity], …]` in the order of STOCK's key, so that two orders can't
/// deadlock.
fn lines_in_key_order(input: &NewOrder) -> String {
    let mut lines: Vec<_> = (1..).zip(input.lines.iter()).collect();
    lines.sort_by_key(|(number, line)| (line.supply_w_id, line.i_id, *number));
    let lines: Vec<String> = lines
        .iter()
        .map(|(number, line)| format!("[{number},{},{},{}]", line.i_id, line.supply_w_id, line.quantity))
        .collect();
    format!("[{}]", lines.join(","))
}

/// The number and the last name of a customer, one of which is NULL.
fn number_and_name(customer: &CustomerBy) -> [Value<'_>; 2] {
    match customer {
        CustomerBy::Number(c_id) => [(*c_id).into(), Value::Null],
        CustomerBy::LastName(name) => [Value::Null, name.as_str().into()],
    }
}

async fn payment(
    session: &mut Session,
    isolation: Isolation,
    language: RoutineLanguage,
    input: &Payment,
) -> Result<PaymentOutput, Error> {
    let [c_id, c_last] = number_and_name(&input.customer);
    let Payment { w_id, d_id, c_w_id, c_d_id, amount, .. } = *input;
    let amount = Decimal::cents(amount).into();
    let values = [w_id.into(), d_id.into(), c_w_id.into(), c_d_id.into(), c_id, c_last, amount];
    let answer = session.transact(isolation, call_of(Kind::Payment, language), &values).await?;
    let row = answer.only()?;
    let c_credit = text(row, 25)?;
    Ok(PaymentOutput {
        c_id: row.int(0)?,
        warehouse: NamedAddress::read(row, 3)?,
        district: NamedAddress::read(row, 9)?,
        c_first: text(row, 15)?,
        c_middle: text(row, 16)?,
        c_last: text(row, 17)?,
        address: Address::read(row, 18)?,
        c_phone: text(row, 23)?,
        c_since_us: row.timestamp(24)?,
        c_data: if c_credit.as_str() == "BC" { Some(row.text(2)?.to_owned()) } else { None },
        c_credit,
        c_credit_lim: row.cents(26)?,
        c_discount: rate(row, 27)?,
        c_balance: row.cents(28)?,
        h_date_us: row.timestamp(1)?,
    })
}

async fn order_status(
    session: &mut Session,
    isolation: Isolation,
    language: RoutineLanguage,
    input: &OrderStatus,
) -> Result<OrderStatusOutput, Error> {
    let [c_id, c_last] = number_and_name(&input.customer);
    let values = [input.w_id.into(), input.d_id.into(), c_id, c_last];
    let answer = session.transact(isolation, call_of(Kind::OrderStatus, language), &values).await?;
    let header = header(&answer, Kind::OrderStatus)?;
    let lines: Result<Vec<_>, Error> = answer.rows().map(|row| StatusLine::read(row, 8)).collect();
    Ok(OrderStatusOutput {
        c_id: header.int(0)?,
        c_balance: header.cents(1)?,
        c_first: text(header, 2)?,
        c_middle: text(header, 3)?,
        c_last: text(header, 4)?,
        o_id: header.int(5)?,
        o_entry_d_us: header.timestamp(6)?,
        o_carrier_id: header.opt_int(7)?,
        lines: lines?,
    })
}

pub(in super::super) async fn delivery(
    session: &mut Session,
    isolation: Isolation,
    language: RoutineLanguage,
    input: &Delivery,
) -> Result<Delivered, Error> {
    let answer = session
        .transact(isolation, call_of(Kind::Delivery, language), &[input.w_id.into(), input.carrier_id.into()])
        .await?;
    let mut delivered = Delivered::default();
    answer.expect_affected(delivered.o_ids.len())?;
    for row in answer.rows() {
        delivered.o_ids[district_index(row.int(0)?)?] = row.opt_int(1)?;
    }
    Ok(delivered)
}

async fn stock_level(
    session: &mut Session,
    isolation: Isolation,
    language: RoutineLanguage,
    input: &StockLevel,
) -> Result<StockLevelOutput, Error> {
    let values = [input.w_id.into(), input.d_id.into(), input.threshold.into()];
    let answer = session.transact(isolation, call_of(Kind::StockLevel, language), &values).await?;
    Ok(StockLevelOutput { low_stock: answer.only()?.int(0)? })
}
