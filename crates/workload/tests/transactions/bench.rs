//! A session to try transactions on, with what reads and spoils the tables around them.

use std::collections::BTreeMap;
use std::sync::{Arc, Mutex};

use target::placement::Placement;
use target::schema::Table;
use target::{Answer, Class, Error, Session, Url, Value};
use tpcc::input::{CustomerBy, Delivery, Input, Line, NewOrder, OrderStatus, Payment, StockLevel};
use tpcc::money::Cents;
use tpcc::text::Text;
use workload::tpcc::catalog::Catalog;
use workload::tpcc::load::{LoadPlan, LoadProgress};
use workload::tpcc::schema;
use workload::tpcc::{
    Delivered, NewOrderOutput, OrderStatusOutput, Output, PaymentOutput, Profile, StockLevelOutput, Style, execute,
    prepare,
};

use crate::record::Record;

/// The warehouse of the terminal.
pub(crate) const HOME: i32 = 1;
/// The only other one.
pub(crate) const AWAY: i32 = 2;

const LOAD_TIME_US: i64 = 1_600_000_000_000_000;

/// Loads the two warehouses.
pub(crate) async fn load(url: &Url) {
    let catalog = Catalog::new(42, AWAY, LOAD_TIME_US, false);
    let plan = LoadPlan { jobs: 2, ..LoadPlan::new(catalog) };
    let report =
        workload::tpcc::load::load(&url.clone().into(), plan, Arc::new(LoadProgress::default())).await.unwrap();
    assert!(report.complete);
}

/// What all cases together have committed.
#[derive(Clone, Debug, Default)]
pub(crate) struct Book {
    pub(crate) orders: i64,
    pub(crate) remote_orders: i64,
    pub(crate) payments: i64,
    pub(crate) paid: Cents,
    pub(crate) delivered: i64,
}

pub(crate) type SharedBook = Arc<Mutex<Book>>;

pub(crate) struct Bench {
    pub(crate) session: Session,
    pub(crate) profile: Profile,
    url: Url,
    book: SharedBook,
}

impl Bench {
    pub(crate) async fn new(url: &Url, style: Style, book: &SharedBook) -> Bench {
        let mut session = Session::connect(url).await.unwrap();
        let profile = Profile::new(style, session.dialect().default_isolation(), session.dialect()).unwrap();
        prepare(&mut session, profile).await.unwrap();
        Bench { session, profile, url: url.clone(), book: book.clone() }
    }

    /// A session beside this one.
    pub(crate) async fn another(&self) -> Bench {
        let mut session = Session::connect(&self.url).await.unwrap();
        prepare(&mut session, self.profile).await.unwrap();
        Bench { session, profile: self.profile, url: self.url.clone(), book: self.book.clone() }
    }

    pub(crate) fn book(&self) -> Book {
        self.book.lock().unwrap().clone()
    }

    /// Runs a transaction once, and books it.
    pub(crate) async fn run(&mut self, input: &Input) -> Result<Output, Error> {
        let output = execute(&mut self.session, self.profile, input).await?;
        let mut book = self.book.lock().unwrap();
        match (input, &output) {
            (Input::NewOrder(order), Output::NewOrder(shown)) if !shown.rolled_back => {
                book.orders += 1;
                book.remote_orders += i64::from(order.lines.iter().any(|line| line.supply_w_id != order.w_id));
            }
            (Input::Payment(payment), _) => {
                book.payments += 1;
                book.paid += payment.amount;
            }
            (_, Output::Delivery(done)) => book.delivered += done.o_ids.iter().flatten().count() as i64,
            _ => {}
        }
        drop(book);
        Ok(output)
    }

    /// Runs a transaction, again and again if the database asks for it.
    pub(crate) async fn insist(&mut self, input: &Input) -> Output {
        loop {
            match self.run(input).await {
                Ok(output) => return output,
                Err(e) => assert_eq!(e.class(), Class::Retry, "{e}"),
            }
        }
    }

    pub(crate) async fn new_order(&mut self, input: &NewOrder) -> NewOrderOutput {
        match self.run(&Input::NewOrder(input.clone())).await.unwrap() {
            Output::NewOrder(shown) => *shown,
            other => panic!("{other:?}"),
        }
    }

    pub(crate) async fn payment(&mut self, input: &Payment) -> PaymentOutput {
        match self.run(&Input::Payment(input.clone())).await.unwrap() {
            Output::Payment(shown) => *shown,
            other => panic!("{other:?}"),
        }
    }

    /// Asks for the status of a customer of the home warehouse.
    pub(crate) async fn order_status(&mut self, d_id: i32, customer: CustomerBy) -> OrderStatusOutput {
        match self.run(&Input::OrderStatus(OrderStatus { w_id: HOME, d_id, customer })).await.unwrap() {
            Output::OrderStatus(shown) => *shown,
            other => panic!("{other:?}"),
        }
    }

    /// Delivers orders of the home warehouse.
    pub(crate) async fn delivery(&mut self, carrier_id: i32) -> Delivered {
        match self.run(&Input::Delivery(Delivery { w_id: HOME, carrier_id })).await.unwrap() {
            Output::Delivery(done) => done,
            other => panic!("{other:?}"),
        }
    }

    /// Asks for the stock level of a district of the home warehouse.
    pub(crate) async fn low_stock(&mut self, d_id: i32, threshold: i32) -> i32 {
        match self.run(&Input::StockLevel(StockLevel { w_id: HOME, d_id, threshold })).await.unwrap() {
            Output::StockLevel(StockLevelOutput { low_stock }) => low_stock,
            other => panic!("{other:?}"),
        }
    }

    /// Runs a statement.
    pub(crate) async fn query(&mut self, sql: &str, values: &[Value<'_>]) -> Answer {
        self.session.query(sql, values).await.unwrap_or_else(|e| panic!("{e} in {sql}"))
    }

    /// The number in the only row and column of a query.
    pub(crate) async fn number(&mut self, sql: &str, values: &[Value<'_>]) -> i64 {
        self.query(sql, values).await.only().unwrap().decimal(0, 0).unwrap()
    }

    /// As [`Bench::number`], of an amount.
    pub(crate) async fn cents(&mut self, sql: &str, values: &[Value<'_>]) -> Cents {
        self.query(sql, values).await.only().unwrap().cents(0).unwrap()
    }

    /// The rows of a table for which `key` holds; `key` may end in an ORDER BY.
    pub(crate) async fn records(&mut self, table: &str, key: &str, values: &[Value<'_>]) -> Vec<Record> {
        let sql = format!("SELECT * FROM {table} WHERE {key}");
        self.query(&sql, values).await.rows().map(Record::read).collect()
    }

    /// The row of a table for which `key` holds.
    pub(crate) async fn record(&mut self, table: &str, key: &str, values: &[i32]) -> Record {
        let values: Vec<Value<'_>> = values.iter().map(|value| (*value).into()).collect();
        let mut found = self.records(table, key, &values).await;
        assert_eq!(found.len(), 1, "{table}: {key} {values:?}");
        found.remove(0)
    }

    pub(crate) async fn warehouse(&mut self, w_id: i32) -> Record {
        self.record("warehouse", "w_id = $1", &[w_id]).await
    }

    pub(crate) async fn district(&mut self, w_id: i32, d_id: i32) -> Record {
        self.record("district", "d_w_id = $1 AND d_id = $2", &[w_id, d_id]).await
    }

    pub(crate) async fn customer(&mut self, w_id: i32, d_id: i32, c_id: i32) -> Record {
        self.record("customer", "c_w_id = $1 AND c_d_id = $2 AND c_id = $3", &[w_id, d_id, c_id]).await
    }

    pub(crate) async fn item(&mut self, i_id: i32) -> Record {
        self.record("item", "i_id = $1", &[i_id]).await
    }

    pub(crate) async fn stock(&mut self, w_id: i32, i_id: i32) -> Record {
        self.record("stock", "s_w_id = $1 AND s_i_id = $2", &[w_id, i_id]).await
    }

    /// The stock rows of lines, in the order of the lines.
    pub(crate) async fn stocks(&mut self, lines: &[Line]) -> Vec<Record> {
        let mut stocks = Vec::new();
        for line in lines {
            stocks.push(self.stock(line.supply_w_id, line.i_id).await);
        }
        stocks
    }

    pub(crate) async fn order(&mut self, w_id: i32, d_id: i32, o_id: i32) -> Record {
        self.record("orders", "o_w_id = $1 AND o_d_id = $2 AND o_id = $3", &[w_id, d_id, o_id]).await
    }

    pub(crate) async fn order_lines(&mut self, w_id: i32, d_id: i32, o_id: i32) -> Vec<Record> {
        let key = "ol_w_id = $1 AND ol_d_id = $2 AND ol_o_id = $3 ORDER BY ol_number";
        self.records("order_line", key, &[w_id.into(), d_id.into(), o_id.into()]).await
    }

    /// The number that the next order of a home district gets.
    pub(crate) async fn next_o_id(&mut self, d_id: i32) -> i32 {
        self.district(HOME, d_id).await.int("d_next_o_id")
    }

    /// The server's clock.
    pub(crate) async fn clock(&mut self) -> i64 {
        self.query("SELECT LOCALTIMESTAMP", &[]).await.only().unwrap().timestamp(0).unwrap()
    }

    /// Sets the quantities in stock of lines.
    pub(crate) async fn set_quantities(&mut self, lines: &[Line], quantities: &[i32]) {
        for (line, quantity) in lines.iter().zip(quantities) {
            let values = [line.supply_w_id.into(), line.i_id.into(), (*quantity).into()];
            self.query("UPDATE stock SET s_quantity = $3 WHERE s_w_id = $1 AND s_i_id = $2", &values).await;
        }
    }

    /// Sets a column of a customer to what a row of that customer has in it.
    pub(crate) async fn set_customer(&mut self, column: &str, value: Value<'_>, key: [i32; 3]) {
        let sql = format!("UPDATE customer SET {column} = $4 WHERE c_w_id = $1 AND c_d_id = $2 AND c_id = $3");
        self.query(&sql, &[key[0].into(), key[1].into(), key[2].into(), value]).await;
    }

    /// Takes rows of a table aside.
    pub(crate) async fn take_out(&mut self, table: &str, rows: &str) {
        let original = schema::TABLES.iter().find(|candidate| candidate.name == table).unwrap();
        let aside =
            Table { name: "aside", primary_key: original.primary_key, foreign_keys: &[], indexes: &[], ..**original };
        let sql = self.session.dialect().create_table(&aside, true, false, &Placement::default());
        self.session.execute(&sql).await.unwrap();
        for sql in [
            format!("INSERT INTO aside SELECT * FROM {table} WHERE {rows}"),
            format!("DELETE FROM {table} WHERE {rows}"),
        ] {
            self.session.execute(&sql).await.unwrap();
        }
    }

    /// Puts them back.
    pub(crate) async fn put_back(&mut self, table: &str) {
        for sql in [format!("INSERT INTO {table} SELECT * FROM aside"), "DROP TABLE aside".to_owned()] {
            self.session.execute(&sql).await.unwrap();
        }
    }

    /// Row counts and sums of all tables.
    pub(crate) async fn sums(&mut self) -> Vec<Record> {
        let mut sums = Vec::new();
        for sql in SUMS {
            sums.push(Record::read(self.query(sql, &[]).await.only().unwrap()));
        }
        sums
    }

    /// For every number of customers that share a last name in a district: such a name, and their
    /// numbers in the order of their first names.
    pub(crate) async fn namesakes(&mut self, w_id: i32, d_id: i32) -> BTreeMap<usize, (Text<16>, Vec<i32>)> {
        let mut by_name: BTreeMap<String, Vec<(String, i32)>> = BTreeMap::new();
        for customer in self.records("customer", "c_w_id = $1 AND c_d_id = $2", &[w_id.into(), d_id.into()]).await {
            let first = (customer.text("c_first").to_owned(), customer.int("c_id"));
            by_name.entry(customer.text("c_last").to_owned()).or_default().push(first);
        }
        let mut by_count = BTreeMap::new();
        for (name, mut found) in by_name {
            found.sort();
            let numbers = found.into_iter().map(|(_, c_id)| c_id).collect();
            let name = Text::try_from(name.as_str()).unwrap();
            by_count.entry(Vec::len(&numbers)).or_insert((name, numbers));
        }
        by_count
    }
}

const SUMS: [&str; 9] = [
    "SELECT COUNT(*) AS n, SUM(w_ytd) AS ytd, SUM(w_tax) AS tax FROM warehouse",
    "SELECT COUNT(*) AS n, SUM(d_ytd) AS ytd, SUM(d_tax) AS tax, SUM(d_next_o_id) AS next FROM district",
    "SELECT COUNT(*) AS n, SUM(c_balance) AS balance, SUM(c_ytd_payment) AS paid, SUM(c_payment_cnt) AS payments, \
     SUM(c_delivery_cnt) AS deliveries, SUM(LENGTH(c_data)) AS data, SUM(c_discount) AS discount FROM customer",
    "SELECT COUNT(*) AS n, SUM(h_amount) AS amount FROM history",
    "SELECT COUNT(*) AS n, SUM(no_o_id) AS o_id FROM new_order",
    "SELECT COUNT(*) AS n, SUM(o_id) AS o_id, SUM(o_carrier_id) AS carrier, SUM(o_ol_cnt) AS order_lines, \
     SUM(o_all_local) AS all_local FROM orders",
    "SELECT COUNT(*) AS n, COUNT(ol_delivery_d) AS delivered, SUM(ol_amount) AS amount, SUM(ol_quantity) AS quantity \
     FROM order_line",
    "SELECT COUNT(*) AS n, SUM(i_price) AS price FROM item",
    "SELECT COUNT(*) AS n, SUM(s_quantity) AS quantity, SUM(s_ytd) AS ytd, SUM(s_order_cnt) AS orders, \
     SUM(s_remote_cnt) AS remote FROM stock",
];

/// An order at home.
pub(crate) fn order(d_id: i32, c_id: i32, lines: impl IntoIterator<Item = Line>) -> NewOrder {
    NewOrder { w_id: HOME, d_id, c_id, lines: lines.into_iter().collect() }
}

/// A line supplied by the home warehouse.
pub(crate) fn home(i_id: i32, quantity: i32) -> Line {
    Line { i_id, supply_w_id: HOME, quantity }
}

/// A line supplied by the other warehouse.
pub(crate) fn away(i_id: i32, quantity: i32) -> Line {
    Line { i_id, supply_w_id: AWAY, quantity }
}

/// S_QUANTITY after a line of `quantity`, by the form derived from 2.4.2.2.
pub(crate) fn left_of(s_quantity: i32, quantity: i32) -> i32 {
    10 + (s_quantity - quantity - 10).rem_euclid(91)
}
