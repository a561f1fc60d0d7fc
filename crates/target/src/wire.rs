//! Wires: how bytes travel to a database. One file each, alike in layout.

pub(crate) mod mysql;
pub(crate) mod null;
pub(crate) mod odbc;
pub(crate) mod pg;
pub(crate) mod sqlite;
