#!/usr/bin/env bash
# A fleet over SSH: loads and runs from several machines at once, fetches their run folders, and merges them here.
#
#   WEIGHBRIDGE_URL=postgres://me@db/bench deploy/ssh/fleet.sh 40 results/fleet client-1 client-2 client-3
#
# Each machine needs the binary on its path, and so does this one, for the merge. LOAD and RUN add options, such as
# LOAD=--replace (without it existing data are refused) and RUN="--ramp 5m --duration 2h". SSH replaces ssh as the
# command that runs a command on a host.
set -euo pipefail
[ $# -ge 3 ] || { sed -n '2,8s/^# \{0,1\}//p' "$0" >&2; exit 2; }
: "${WEIGHBRIDGE_URL:?say where the database is}"
warehouses=$1 results=$2
shift 2
hosts=("$@")
SSH=${SSH:-ssh}
folder=weighbridge-fleet-$$

# on NUMBER COMMAND: on that host, with $n and $of set. The URL goes through standard input: it may contain a
# password, which must not show in a list of processes.
on() {
  local set="read -r WEIGHBRIDGE_URL; export WEIGHBRIDGE_URL; n=$1 of=${#hosts[@]}"
  $SSH "${hosts[$1 - 1]}" "$set; $2" <<<"$WEIGHBRIDGE_URL"
}

# all COMMAND: on every host at once. Fails if one of them fails, once all have ended.
all() {
  local n status=0 pids=()
  for ((n = 1; n <= ${#hosts[@]}; n++)); do
    on "$n" "$1" 2>&1 | sed "s/^/${hosts[n - 1]}: /" &
    pids+=($!)
  done
  for pid in "${pids[@]}"; do wait "$pid" || status=$?; done
  return "$status"
}

all "weighbridge load --shard \$n/\$of --warehouses $warehouses ${LOAD:-}"
# A worker's own verdict or failure is not that of the fleet: the merge judges the fleet and names what is missing.
all "weighbridge run --shard \$n/\$of --out $folder-\$n ${RUN:-}" || echo "a worker did not end well: see above" >&2
all "weighbridge check --shard \$n/\$of" || echo "a check failed: see above" >&2

mkdir -p "$results"
folders=()
for ((n = 1; n <= ${#hosts[@]}; n++)); do
  mkdir "$results/$n"
  if on "$n" "tar -C $folder-$n -cf - . && rm -r $folder-$n" | tar -C "$results/$n" -xf -; then
    folders+=("$results/$n")
  fi
done
weighbridge merge "${folders[@]}" --out "$results/merged"
