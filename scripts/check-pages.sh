#!/usr/bin/env bash
# Makes the pages of a run, a sweep, a comparison and the ACID tests, and examines them in a headless Chromium: see
# check_pages.py; then `weighbridge serve` over the same results, and a run that is watched to its end: see check_serve.py.
#
#   scripts/check-pages.sh [FOLDER]       screenshots go to FOLDER
#
# Needs Chromium with its driver, and Python with pip (scripts/setup.sh installs them). WEIGHBRIDGE names a program that
# is there already; without it one is built.
set -euo pipefail
cd "$(dirname "$0")/.."
selenium=4.49.0 axe=0.1.0
cache=${XDG_CACHE_HOME:-$HOME/.cache}/weighbridge/pages-$selenium-$axe
say() { printf 'check-pages: %s\n' "$*" >&2; }

for program in chromium chromedriver; do
    command -v "$program" >/dev/null || { say "there is no \`$program\`; scripts/setup.sh installs it"; exit 1; }
done
if [ ! -d "$cache" ]; then
    say "fetching selenium $selenium and axe-core"
    mkdir -p "${cache%/*}"
    partial=$(mktemp -d "$cache.XXXXXX")
    trap 'rm -rf "$partial"' EXIT
    python3 -m pip install --quiet --disable-pip-version-check --root-user-action=ignore --target "$partial" \
        "selenium==$selenium" "axe-core-python==$axe"
    # A second run meanwhile may have been first.
    mv -T "$partial" "$cache" 2>/dev/null || [ -d "$cache" ]
    rm -rf "$partial"
fi

tool=${WEIGHBRIDGE:-}
if [ -z "$tool" ]; then
    cargo build --release --quiet --bin weighbridge
    tool=${CARGO_TARGET_DIR:-target}/release/weighbridge
fi
work=$(mktemp -d)
server=
trap '[ -z "$server" ] || kill "$server"; rm -rf "$work"' EXIT
for run in base new; do
    "$tool" run --url 'null:?latency=2ms&spread=1ms' --warehouses 50 --ramp 1s --duration 6s --seed 7 \
        --out "$work/$run" >/dev/null 2>&1 || [ $? = 3 ] # a verdict, for which the pages are good too
done
"$tool" compare "$work/base" "$work/new" --force --html "$work/compare.html" >/dev/null 2>&1
"$tool" sweep --url 'null:?latency=1ms' --warehouses 4 --connections 2,4 --repeat 2 --pacing none \
    --ramp 0s --duration 1s --out "$work/sweep" >/dev/null 2>&1 || [ $? = 3 ]
"$tool" load --url "sqlite:$work/acid.db" --warehouses 1 >/dev/null 2>&1
"$tool" acid --url "sqlite:$work/acid.db" --seed 7 --html "$work/acid.html" --json >"$work/acid.json" 2>/dev/null
of="select count(*) from customer where c_last = 'BARBARBAR'"
"$tool" time --url "sqlite:$work/acid.db" -e "$of" --json >"$work/times.json" 2>/dev/null
"$tool" advise --url "sqlite:$work/acid.db" -e "$of" --json >"$work/advice.json" 2>/dev/null
PYTHONPATH=$cache python3 scripts/check_pages.py "${1:-}" \
    "$work/base/report.html" "$work/sweep/report.html" "$work/compare.html" "$work/acid.html"

mkdir "$work/results"
mv "$work"/{base,new,sweep,acid.json,times.json,advice.json} "$work/results"
"$tool" run --url 'null:?latency=1ms' --warehouses 4 --pacing none --ramp 0s --duration 3s \
    --out "$work/results/free" >/dev/null 2>&1 || [ $? = 3 ]
"$tool" serve "$work/results" --listen 127.0.0.1:0 --writable >"$work/address" 2>/dev/null &
server=$!
for _ in $(seq 100); do [ -s "$work/address" ] && break; sleep 0.1; done
PYTHONPATH=$cache python3 scripts/check_serve.py "${1:-}" "$(cat "$work/address")" "$work/results" \
    "$tool" run --url "sqlite:$work/acid.db" --pacing none --ramp 2s --duration 8s --out "$work/results/live"
