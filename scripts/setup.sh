#!/bin/sh
# Installs what the tests need and the machine lacks. Says what it does; does nothing twice.
set -eu

say() { printf 'setup: %s\n' "$*"; }

have_postgres() {
    command -v initdb >/dev/null 2>&1 || ls /usr/lib/postgresql/*/bin/initdb >/dev/null 2>&1
}

need=""
command -v cc >/dev/null 2>&1 || need="$need gcc libc6-dev"
have_postgres || need="$need postgresql"
ls /usr/lib/*/libodbc.so.2 /usr/lib/libodbc.so.2 /usr/lib64/libodbc.so.2 >/dev/null 2>&1 || need="$need unixodbc"
for driver in psqlodbcw:odbc-postgresql libmaodbc:odbc-mariadb libsqlite3odbc:libsqliteodbc; do
    ls /usr/lib/*/odbc/"${driver%%:*}".so >/dev/null 2>&1 || need="$need ${driver##*:}"
done
# With it the stand-in for an IMPORT fetches rows.
command -v curl >/dev/null 2>&1 || need="$need curl"
command -v go >/dev/null 2>&1 || [ -x /usr/local/go/bin/go ] ||
    say "Go 1.26 is missing (https://go.dev/dl): the tests can't build CockroachDB's parser"
[ -n "$need" ] || exit 0

if ! command -v apt-get >/dev/null 2>&1; then
    say "missing:$need; install what corresponds to these Debian packages (the tests skip what they can't find)"
    exit 0
fi
if [ "$(id -u)" = 0 ]; then sudo=""; else sudo="sudo"; fi
say "installing the Debian packages:$need"
# The tests start servers of their own, so the package must not start one.
if [ -d /etc/postgresql-common ] || $sudo mkdir -p /etc/postgresql-common; then
    [ -e /etc/postgresql-common/createcluster.conf ] ||
        printf 'create_main_cluster = false\n' | $sudo tee /etc/postgresql-common/createcluster.conf >/dev/null
fi
$sudo apt-get update -qq
# shellcheck disable=SC2086
DEBIAN_FRONTEND=noninteractive $sudo apt-get install -y -qq --no-install-recommends $need >/dev/null
say "done"
