//! Tables, keys and indexes as data, from which a dialect writes its DDL.

/// A column's type, by what it must hold.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ColumnType {
    /// A whole number of 16 bits.
    SmallInt,
    /// A whole number of 32 bits.
    Int,
    /// A whole number of 64 bits.
    BigInt,
    /// An exact decimal of `precision` digits, `scale` of them behind the point.
    Decimal {
        /// Digits in all.
        precision: u8,
        /// Digits behind the point.
        scale: u8,
    },
    /// Text of exactly this many characters.
    Char(u16),
    /// Text of up to this many characters.
    Varchar(u16),
    /// A date and time of day.
    Timestamp,
    /// A universally unique identifier of 128 bits; text of 36 characters where the database has no type for it.
    Uuid,
    /// A JSON document of up to [`JSON_CHARACTERS`]; text where the database has no type for it.
    Json,
}

/// The longest JSON document where it is text of a declared width.
pub const JSON_CHARACTERS: u16 = 2000;

/// A column of a table.
#[derive(Debug)]
pub struct Column {
    /// Its name.
    pub name: &'static str,
    /// Its type.
    pub kind: ColumnType,
    /// Whether it may be NULL.
    pub nullable: bool,
}

impl Column {
    /// A column that is never NULL.
    pub const fn new(name: &'static str, kind: ColumnType) -> Self {
        Self { name, kind, nullable: false }
    }

    /// The same column, NULL allowed.
    #[must_use]
    pub const fn nullable(self) -> Self {
        Self { nullable: true, ..self }
    }
}

/// A foreign key: `columns` of its table reference `parent_columns` of `parent`.
#[derive(Debug)]
pub struct ForeignKey {
    /// The constraint's name.
    pub name: &'static str,
    /// The referencing columns.
    pub columns: &'static [&'static str],
    /// The referenced table.
    pub parent: &'static str,
    /// The referenced columns.
    pub parent_columns: &'static [&'static str],
}

/// A condition that every row must meet.
#[derive(Debug)]
pub struct Check {
    /// The constraint's name.
    pub name: &'static str,
    /// The condition, in standard SQL over the row's columns.
    pub condition: &'static str,
}

/// A secondary index.
#[derive(Debug)]
pub struct Index {
    /// Its name.
    pub name: &'static str,
    /// Its key.
    pub columns: &'static [&'static str],
}

/// A table with its keys and indexes.
#[derive(Debug)]
pub struct Table {
    /// Its name.
    pub name: &'static str,
    /// Its columns, in order.
    pub columns: &'static [Column],
    /// Its primary key; empty if it has none.
    pub primary_key: &'static [&'static str],
    /// Its foreign keys.
    pub foreign_keys: &'static [ForeignKey],
    /// The conditions that its rows must meet, declared with the table.
    pub checks: &'static [Check],
    /// Its secondary indexes.
    pub indexes: &'static [Index],
    /// The column by whose value its rows can be spread over a cluster, if there is one. It is the first column of
    /// the primary key and of every index.
    pub spread_by: Option<&'static str>,
}

impl Table {
    /// The columns' names, joined by `, `.
    pub fn column_list(&self) -> String {
        let names: Vec<_> = self.columns.iter().map(|c| c.name).collect();
        names.join(", ")
    }

    /// Characters of a row, about: what decides how large the table is beside others.
    pub fn width(&self) -> u64 {
        let characters = |column: &Column| match column.kind {
            ColumnType::SmallInt => 3,
            ColumnType::Int | ColumnType::Decimal { .. } => 6,
            ColumnType::BigInt => 12,
            ColumnType::Char(n) | ColumnType::Varchar(n) => n.into(),
            ColumnType::Timestamp => 20,
            ColumnType::Uuid => 36,
            ColumnType::Json => 60,
        };
        self.columns.iter().map(characters).sum()
    }
}
