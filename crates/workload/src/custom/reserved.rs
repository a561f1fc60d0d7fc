//! Words that no table, column, index or key can be called by: DDL writes their names as they are.

/// What is reserved in PostgreSQL, CockroachDB, MySQL, MariaDB, TiDB or SQLite, sorted; with the columns that each of
/// PostgreSQL's tables has already. A file is for all of them.
const WORDS: &str = "\
    accessible add all alter analyse analyze and any array as asc asensitive asymmetric authorization \
    autoincrement before between bigint binary blob both by call cascade case cast change char character check \
    cmax cmin collate collation column commit concurrently condition constraint continue convert create cross ctid \
    cube cume_dist current_catalog current_date current_role current_schema current_time current_timestamp \
    current_user cursor database databases day_hour day_microsecond day_minute day_second dec decimal declare \
    default deferrable delayed delete delete_domain_id dense_rank desc describe deterministic distinct distinctrow \
    div do do_domain_ids double drop dual each else elseif empty enclosed end escape escaped except exists exit \
    explain false family fetch first_value float float4 float8 for force foreign freeze from full fulltext \
    function generated get grant group grouping groups having high_priority hour_microsecond hour_minute \
    hour_second if ignore ignore_domain_ids ilike in index infile initially inner inout insensitive insert int \
    int1 int2 int3 int4 int8 integer intersect interval into io_after_gtids io_before_gtids is isnull iterate join \
    json_table key keys kill lag last_value lateral lead leading leave left like limit linear lines load localtime \
    localtimestamp lock long longblob longtext loop low_priority manual master_bind master_ssl_verify_server_cert \
    match maxvalue mediumblob mediumint mediumtext middleint minute_microsecond minute_second mod modifies natural \
    no_write_to_binlog not nothing notnull nth_value ntile null numeric of offset on only optimize optimizer_costs \
    option optionally or order out outer outfile over overlaps page_checksum parallel parse_vcol_expr partition \
    percent_rank placing precision primary procedure purge qualify range rank read read_write reads real recursive \
    ref_system_id references regexp release rename repeat replace require resignal restrict return returning \
    revoke right rlike row row_number rows schema schemas second_microsecond select sensitive separator \
    session_user set show signal similar smallint some spatial specific sql sql_big_result sql_calc_found_rows \
    sql_small_result sqlexception sqlstate sqlwarning ssl starting stats_auto_recalc stats_persistent \
    stats_sample_pages stored straight_join symmetric system table tableoid tablesample terminated then \
    tidb_current_tso tinyblob tinyint tinytext to trailing transaction trigger true undo union unique unlock \
    unsigned until update usage use user using utc_date utc_time utc_timestamp values varbinary varchar \
    varcharacter variadic varying verbose virtual when where while window with write xmax xmin xor year_month \
    zerofill";

/// Whether a database takes a word for its own.
pub(super) fn is_reserved(word: &str) -> bool {
    WORDS.split(' ').any(|reserved| reserved == word)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_words_are_sorted_and_spare_what_works_everywhere() {
        assert!(WORDS.split(' ').is_sorted());
        for word in
            ["order", "user", "group", "select", "table", "key", "rows", "transaction", "accessible", "zerofill"]
        {
            assert!(is_reserved(word), "{word}");
        }
        let common = "name value balance id status type date time level data region city amount owner version account count \
            at code kind text number position comment start year month day label size price title target source";
        for word in common.split(' ') {
            assert!(!is_reserved(word), "{word}");
        }
    }
}
