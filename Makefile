# The two commands of the README, and what stands behind them.

CARGO ?= cargo

.PHONY: demo test lint setup

## demo: build, then load, run, check and report on embedded SQLite
demo:
	$(CARGO) build --release --quiet --bin weighbridge
	./target/release/weighbridge demo

## test: all tests, against real databases that the tests start themselves
test: setup lint
	$(CARGO) test --workspace --no-fail-fast

## lint: formatting, compiler and clippy warnings are errors
lint:
	$(CARGO) fmt --all --check
	$(CARGO) clippy --workspace --all-targets --quiet -- -D warnings

## setup: get what the tests need and this machine lacks (Debian packages; TiDB, built once; a newer PostgreSQL)
setup:
	@scripts/setup.sh
