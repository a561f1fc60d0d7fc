//! The rows with which the null target answers the calls: the columns of the PL/pgSQL functions.

use target::null_reply::Kind::{Int, Text};
use target::null_reply::{Column, Reply};

use ::tpcc::UNUSED_ITEM;

use super::super::customer::{BALANCE, CREDIT_LIM, DISCOUNT};
use super::super::delivery::AMOUNT;
use super::super::payment::DATA_MADE;

const TAX: Column = Column::decimal(1000, 4);
const NAME: Column = Column::text(Text, "DLcbVwLx");
const STREET: Column = Column::text(Text, "OpkmVqfRcJhDbHn");
const STATE: Column = Column::text(Text, "GM");
const ZIP: Column = Column::text(Text, "123411111");
const FIRST: Column = Column::text(Text, "FJikSyXNtBbK");
const MIDDLE: Column = Column::text(Text, "OE");
const LAST: Column = Column::text(Text, "BARBARATION");

/// One row for each line of the list `[[number, item, supplying warehouse, quantity], …]` except the unused item.
pub(super) const NEW_ORDER: Reply = Reply::listed(
    5,
    &[
        Column::int(Int, 3001),
        Column::now(),
        TAX,
        TAX,
        DISCOUNT,
        LAST,
        Column::text(Text, "GC"),
        Column::per_row(Int, 1),
        Column::text(Text, "vMwDdYgfCSgyWeWErT"),
        Column::decimal(5050, 2),
        Column::int(Int, 55),
        Column::int(Int, 0),
        Column::text(Text, "kqHYTjiDnfEBDXLvdjbRCTaQ"),
    ],
)
.without(2, UNUSED_ITEM as i64);

/// One customer in ten has bad credit: those of the last district, whose number is the fourth parameter.
pub(super) const PAYMENT: Reply = Reply::rows(
    1,
    &[
        Column::int(Int, 2),
        Column::now(),
        Column::text(Text, DATA_MADE),
        NAME,
        STREET,
        STREET,
        STREET,
        STATE,
        ZIP,
        NAME,
        STREET,
        STREET,
        STREET,
        STATE,
        ZIP,
        FIRST,
        MIDDLE,
        LAST,
        STREET,
        STREET,
        STREET,
        STATE,
        ZIP,
        Column::text(Text, "1234567890123456"),
        Column::now(),
        Column::text_where(Text, 4, 10, "BC", "GC"),
        CREDIT_LIM,
        DISCOUNT,
        BALANCE,
    ],
);

pub(super) const ORDER_STATUS: Reply = Reply::rows(
    10,
    &[
        Column::int(Int, 2),
        BALANCE,
        FIRST,
        MIDDLE,
        LAST,
        Column::int(Int, 3000),
        Column::now(),
        Column::null(Int),
        Column::number(Int),
        Column::fixed(Int, 1),
        Column::int(Int, 5),
        AMOUNT,
        Column::null(target::null_reply::Kind::Timestamp),
    ],
);

pub(super) const DELIVERY: Reply = Reply::rows(10, &[Column::number(Int), Column::int(Int, 2101)]);

pub(super) const STOCK_LEVEL: Reply = Reply::rows(1, &[Column::int(Int, 20)]);
