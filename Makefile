# The two commands of the README, and what stands behind them.

CARGO ?= cargo
# What a build may leave out. Packages are tried without it. Not named FEATURES: that is for what the scripts below build.
TESTED := parquet,object-store,otlp
# More than cores, as half of the time tests wait for a server.
THREADS := $(or $(RUST_TEST_THREADS),$(shell echo $$((3 * $$(nproc) / 2))))
TARGET := $(or $(CARGO_TARGET_DIR),target)

.PHONY: demo test lint setup bench-load bench-client static deb wheel container

## demo: build, then load, run, check and report on embedded SQLite
demo:
	$(CARGO) build --release --quiet --bin weighbridge
	./target/release/weighbridge demo

## test: all tests, against real databases that the tests start themselves
test: setup lint
	RUST_TEST_THREADS=$(THREADS) $(CARGO) test --workspace --features $(TESTED) --no-fail-fast
	WEIGHBRIDGE=$(TARGET)/debug/weighbridge scripts/check-pages.sh
	WEIGHBRIDGE=$(TARGET)/debug/weighbridge scripts/bench-load --quick
	WEIGHBRIDGE=$(TARGET)/debug/weighbridge scripts/bench-client --quick
	WEIGHBRIDGE=$(TARGET)/debug/weighbridge scripts/try-deploy
	PROFILE=package-test FEATURES= scripts/try-packages
	SEED=7 WEIGHBRIDGE=$(TARGET)/debug/weighbridge scripts/soak --quick

## bench-load: what a load costs, beside psql
bench-load:
	scripts/bench-load

## bench-client: what the client weighs, beside pgbench
bench-client:
	scripts/bench-client

## static: the program as one file that runs on any Linux of this machine's architecture
static:
	scripts/build-static

## deb, wheel, container: the same as a Debian package, a Python wheel, and a container's image
deb:
	scripts/build-deb

wheel:
	scripts/build-wheel

container:
	scripts/build-container

## lint: formatting, idioms in the docs, compiler and clippy warnings are errors, and so are licences and sources that deny.toml doesn't name
lint:
	scripts/check-prose
	$(CARGO) fmt --all --check
	$(CARGO) clippy --workspace --all-targets --features $(TESTED) --quiet -- -D warnings
	scripts/deny.sh

## setup: get what the tests need and this machine lacks (Debian packages; TiDB, built once; a newer PostgreSQL)
setup:
	@scripts/setup.sh
