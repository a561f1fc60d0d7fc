#!/usr/bin/env bash
# Builds `tidb-server` from its Go module, once on a machine, and prints its path.
#
#   scripts/build-tidb.sh
#
# The program goes to a folder of the cache that is named for the module's version: 6 to 9 minutes on two idle cores,
# afterwards nothing. A second run meanwhile waits for the first. Needs Go, of any age, and the Go module proxy.
set -euo pipefail
module=$(cd "$(dirname "$0")/tidb" && pwd)
version=$(awk '$1 == "github.com/pingcap/tidb" { print $2 }' "$module/go.mod")
cache=${XDG_CACHE_HOME:-$HOME/.cache}/weighbridge
program=$cache/tidb-$version/tidb-server
say() { printf 'build-tidb: %s\n' "$*" >&2; }

# Prints the Go to build with: the one on PATH, or the one that it fetches as a module where it is too old for TiDB.
newer=1.24.13
go_program() {
    local needed has folder
    needed=$(awk '$1 == "go" { print $2 }' "$module/go.mod")
    has=$(GOTOOLCHAIN=local go version | awk '{ print substr($3, 3) }')
    if [ "$(printf '%s\n' "$needed" "$has" | sort -V | head -n 1)" = "$needed" ]; then
        command -v go
        return
    fi
    say "Go $has is too old (TiDB needs $needed): fetching Go $newer"
    folder=$(cd / && GO111MODULE=on GOTOOLCHAIN=local go mod download -json \
        "golang.org/toolchain@v0.0.1-go$newer.$(go env GOOS)-$(go env GOARCH)" | awk -F'"' '$2 == "Dir" { print $4 }')
    # As a module it comes read-only, and nothing in it may be run.
    chmod -R u+wX "$folder"
    chmod +x "$folder"/bin/* "$folder"/pkg/tool/*/*
    printf '%s\n' "$folder/bin/go"
}

if [ ! -x "$program" ]; then
    command -v go >/dev/null || { say "there is no \`go\` on PATH; scripts/setup.sh gets one"; exit 1; }
    mkdir -p "$cache"
    exec 9>"$cache/tidb.lock"
    flock --nonblock 9 || { say "waiting for another build of it"; flock 9; }
fi
if [ ! -x "$program" ]; then
    go=$(go_program)
    say "building TiDB $version with $("$go" env GOVERSION) (6 to 9 minutes on two idle cores)"
    mkdir -p "$(dirname "$program")"
    # go.sum beside go.mod pins every byte.
    (cd "$module" && GOTOOLCHAIN=local "$go" build -trimpath -ldflags '-s -w' -o "$program.partial" \
        github.com/pingcap/tidb/cmd/tidb-server)
    # A build that was cut short leaves no file of that name.
    mv "$program.partial" "$program"
    say "done: $program"
fi
printf '%s\n' "$program"
