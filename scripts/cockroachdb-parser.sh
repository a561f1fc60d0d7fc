#!/bin/sh
# Prints the path of a program around CockroachDB's official parser, built once a machine: outside the build folder, under a
# name with its version and its sources' checksum. Fails with a line of reason where there is no Go.
set -eu
sources="$(cd "$(dirname "$0")" && pwd)/cockroachdb-parser"
if ! command -v go >/dev/null 2>&1; then
    [ -x /usr/local/go/bin/go ] || { echo "Go is not installed here: see https://go.dev/dl" >&2; exit 3; }
    PATH="$PATH:/usr/local/go/bin"
fi
version=$(sed -n 's/^require .*cockroachdb-parser v//p' "$sources/go.mod")
sum=$(cat "$sources/go.mod" "$sources/go.sum" "$sources/main.go" | cksum | cut -d' ' -f1)
cache="${XDG_CACHE_HOME:-$HOME/.cache}/weighbridge"
program="$cache/cockroachdb-parser-$version-$sum"
mkdir -p "$cache"
# Whoever comes second waits for the first, and finds it built.
exec 9>"$program.lock"
flock 9
if [ ! -x "$program" ]; then
    (cd "$sources" && go build -mod=readonly -o "$program.new" .) >&2
    mv "$program.new" "$program"
fi
printf '%s\n' "$program"
