//! Rows of the data set, field by field in the order of the tables' columns.

use ::movr::{Movr, Table};
use target::bulk::RowSink;

/// Says the row at a position of a table.
pub fn write(movr: &Movr, table: Table, position: u64, sink: &mut impl RowSink) {
    sink.start_row();
    match table {
        Table::Users => user(movr, position, sink),
        Table::Vehicles => vehicle(movr, position, sink),
        Table::Rides => ride(movr, position, sink),
    }
}

fn user(movr: &Movr, position: u64, sink: &mut impl RowSink) {
    let row = movr.user(position);
    sink.uuid(row.id.0);
    sink.text(row.city);
    sink.text(&row.name);
    sink.text(&row.address);
    sink.text(&row.credit_card);
}

fn vehicle(movr: &Movr, position: u64, sink: &mut impl RowSink) {
    let row = movr.vehicle(position);
    sink.uuid(row.id.0);
    sink.text(row.city);
    sink.text(row.kind);
    sink.uuid(row.owner_id.0);
    sink.timestamp(row.creation_time_us);
    sink.text(row.status);
    sink.json(&row.ext);
    sink.null();
}

fn ride(movr: &Movr, position: u64, sink: &mut impl RowSink) {
    let row = movr.ride(position);
    sink.uuid(row.id.0);
    sink.text(row.city);
    sink.text(row.city);
    sink.uuid(row.rider_id.0);
    sink.uuid(row.vehicle_id.0);
    sink.text(&row.start_address);
    sink.text(&row.end_address);
    sink.timestamp(row.start_time_us);
    sink.timestamp(row.end_time_us);
    sink.decimal(row.revenue_cents, 2);
}
