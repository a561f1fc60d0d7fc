#!/bin/bash
# Load time and client CPU of `weighbridge load` against `psql \copy` of the same rows into the same
# schema with the same keys and statistics, in one run on one PostgreSQL server.
#
#   scripts/load-against-copy.sh postgres://postgres@127.0.0.1:5432 [WAREHOUSES] [JOBS]
#
# The URL names a server, without a database; two databases are made and dropped.
set -euo pipefail

server=${1:?usage: $0 SERVER-URL [WAREHOUSES] [JOBS]}
warehouses=${2:-10}
jobs=${3:-2}
tool=${WEIGHBRIDGE:-target/release/weighbridge}
folder=$(mktemp -d)
load_time=2026-11-21T12:00:00Z
sql() { psql -qX -v ON_ERROR_STOP=1 "$server/$1" "${@:2}"; }
cleanup() {
    for database in copy_ours copy_psql; do sql postgres -c "DROP DATABASE IF EXISTS $database"; done
    rm -rf "$folder"
}
trap cleanup EXIT

# Prints wall and client CPU seconds and peak memory of a command.
measured() {
    local name=$1; shift
    /usr/bin/time -f "%e %U %S %M" -o "$folder/time" "$@" >"$folder/out" 2>&1 || { cat "$folder/out"; exit 1; }
    awk -v name="$name" '{ printf "%-28s %7.1f s wall  %6.2f s client CPU  %5.0f MB peak\n", name, $1, $2 + $3, $4 / 1024 }' "$folder/time"
}

cleanup 2>/dev/null; mkdir -p "$folder"; trap cleanup EXIT
sql postgres -c "CREATE DATABASE copy_ours" -c "CREATE DATABASE copy_psql"
echo "$warehouses warehouses, $jobs jobs, $(nproc) cores"
measured "generate csv" "$tool" generate --warehouses "$warehouses" --load-time "$load_time" --out "$folder/csv" --jobs "$jobs"
measured "weighbridge load" "$tool" load --url "$server/copy_ours" --warehouses "$warehouses" --load-time "$load_time" --jobs "$jobs"

pg_dump "$server/copy_ours" --section=pre-data -T weighbridge -T weighbridge_load >"$folder/tables.sql"
pg_dump "$server/copy_ours" --section=post-data -T weighbridge -T weighbridge_load >"$folder/keys.sql"
sql copy_psql -f "$folder/tables.sql" >/dev/null

cat >"$folder/copy.sh" <<'COPY'
set -euo pipefail
url=$1 folder=$2 jobs=$3
one() { psql -qX -v ON_ERROR_STOP=1 "$url" -c "\copy $1 from '$folder/csv/$1.csv' with (format csv)"; }
export -f one; export url folder
# The largest first, as many side by side as the other has jobs.
printf '%s\n' order_line stock customer orders history item new_order district warehouse | xargs -P "$jobs" -I{} bash -c 'one {}'
PGOPTIONS='-c maintenance_work_mem=256MB -c search_path=public' psql -qX -v ON_ERROR_STOP=1 "$url" -f "$folder/keys.sql" >/dev/null
psql -qX -v ON_ERROR_STOP=1 "$url" -c 'VACUUM (ANALYZE)'
COPY
measured "psql \\copy, keys, statistics" bash "$folder/copy.sh" "$server/copy_psql" "$folder" "$jobs"
for database in copy_ours copy_psql; do
    sql "$database" -At -c "SELECT '$database: ' || COUNT(*) || ' order lines' FROM order_line"
done
