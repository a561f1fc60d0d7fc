#!/usr/bin/env bash
# Builds `tidb-server` from its Go module, once on a machine, and prints its path.
#
#   scripts/build-tidb.sh
#
# The program goes to a folder of the cache that is named for the module's version: 6 to 9 minutes on two cores,
# afterwards nothing. A second run meanwhile waits for the first. Needs Go 1.23.6 or later and the Go module proxy.
set -euo pipefail
module=$(cd "$(dirname "$0")/tidb" && pwd)
version=$(awk '$1 == "github.com/pingcap/tidb" { print $2 }' "$module/go.mod")
cache=${XDG_CACHE_HOME:-$HOME/.cache}/weighbridge
program=$cache/tidb-$version/tidb-server
say() { printf 'build-tidb: %s\n' "$*" >&2; }

if [ ! -x "$program" ]; then
    command -v go >/dev/null || { say "there is no \`go\` on PATH; scripts/setup.sh gets one"; exit 1; }
    mkdir -p "$cache"
    exec 9>"$cache/tidb.lock"
    flock --nonblock 9 || { say "waiting for another build of it"; flock 9; }
fi
if [ ! -x "$program" ]; then
    say "building TiDB $version with $(go env GOVERSION) (6 to 9 minutes on two cores)"
    mkdir -p "$(dirname "$program")"
    # -mod=mod: the module here names only what it needs; go.sum beside it pins every byte.
    (cd "$module" && go build -trimpath -ldflags '-s -w' -o "$program.partial" github.com/pingcap/tidb/cmd/tidb-server)
    # A build that was cut short leaves no file of that name.
    mv "$program.partial" "$program"
    say "done: $program"
fi
printf '%s\n' "$program"
