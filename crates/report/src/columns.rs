//! Aligned columns of plain text.

use comfy_table::{CellAlignment, Table, presets};

/// Text in columns two blanks apart: those whose header starts with `<` to the left, others to the right.
#[must_use]
pub fn columns(header: &[&str], rows: Vec<Vec<String>>) -> String {
    let mut table = Table::new();
    table.load_style(presets::NOTHING);
    table.set_header(header.iter().map(|name| name.trim_start_matches('<')));
    table.add_rows(rows);
    for (column, name) in table.column_iter_mut().zip(header) {
        let left = name.starts_with('<');
        column.set_padding((0, 2));
        column.set_cell_alignment(if left { CellAlignment::Left } else { CellAlignment::Right });
    }
    let mut text = table.trim_fmt();
    text.push('\n');
    text
}

/// Milliseconds with the digits that their size deserves; `-` for a time of nothing.
pub(crate) fn ms(count: u64, value: f64) -> String {
    match value {
        _ if count == 0 => "-".into(),
        value if value < 100.0 => format!("{value:.2}"),
        value if value < 10_000.0 => format!("{value:.1}"),
        value => format!("{value:.0}"),
    }
}
