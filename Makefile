# elephan: make, Python 3.11 or newer, Rust 1.90 or newer; nothing else. `make` alone lists the verbs.
# Everything installed goes into .venv, everything built into target.

.DEFAULT_GOAL := help
.DELETE_ON_ERROR:
.PHONY: help demo build package wheel sdist walk constraints licences lint-workflows test quick coverage semver mutants check test-rust test-python check-rust check-python check-layers check-papers bench scaling survey front answers reproduction survival fuzz docs bpf quic bless clean
# Without the built-in rules: one of them would compile the object of the kernel for this machine, where its source looks newer.
MAKEFLAGS += --no-print-directory --no-builtin-rules
.SUFFIXES:

VENV := .venv
BIN  := $(VENV)/bin
PY   := $(BIN)/python
PIP  := $(PY) -m pip --quiet --disable-pip-version-check
LOG  := $(VENV)/build.log
TOOLS := target/tools/bin
# How the extension module is compiled: release, with all that costs; dev is what the Rust tests are compiled as, so that
# with `make PROFILE=dev test` nothing is compiled twice. Results are the same bytes.
PROFILE ?= release
# Builds and installs the package; prints nothing unless it fails. An active environment must not catch what belongs into .venv.
INSTALL = env -u CONDA_PREFIX VIRTUAL_ENV='$(CURDIR)/$(VENV)' PIP_DISABLE_PIP_VERSION_CHECK=1 \
          $(PY) -m maturin develop --profile $(PROFILE) $(KERNEL) --extras all
# The evidence beside it, which adds verbs: elephan is there already, and no other package is needed.
EVIDENCE = $(PIP) install --no-deps --editable ./evidence
# With the laws of the Linux kernel where the headers that their loader needs are there; built again once they come, and
# for another profile.
HAS_KERNEL := $(shell pkg-config --exists libelf zlib 2>/dev/null && echo yes)
BUILT_AS   := $(VENV)/.built-as-$(PROFILE)-$(if $(HAS_KERNEL),with,without)-kernel
COMMA      := ,
KERNEL  = $(if $(HAS_KERNEL),--features kernel)
LOADER  = $(if $(HAS_KERNEL),--features elephan-bpf/load$(COMMA)elephan-py/kernel)
# Every page and link of the documentation; what is generated is generated, and the notebooks show what they have.
SITE    = $(PY) -m sphinx --builder html --fail-on-warning --keep-going --nitpicky --fresh-env --jobs auto --quiet \
          --doctree-dir target/site-cache docs target/site
APIDOC  = RUSTDOCFLAGS='-D warnings -A rustdoc::private-intra-doc-links' \
          cargo doc --workspace --no-deps --document-private-items --quiet
QUIETLY = >$(LOG) 2>&1 || { cat $(LOG) >&2; exit 1; }
# What the extension module is built from.
CRATES  = $(shell find crates -name Cargo.toml -o -path '*/src/*' -name '*.rs') crates/law/kernel/laws.bpf.o

# The first Python that is recent enough and can make an environment; or say make PYTHON=/path/to/python3.
SUITS  := import ensurepip, sys, venv; sys.exit(sys.version_info < (3, 11))
PYTHON ?= $(shell for p in python3 python3.13 python3.12 python3.11 python3.14 python; do \
                  if $$p -c '$(SUITS)' >/dev/null 2>&1; then command -v $$p; break; fi; done)
NO_PYTHON := elephan needs Python 3.11 or newer with its venv module (or say make PYTHON=/path/to/python3)
NO_RUST   := elephan needs Rust 1.90 or newer, with cargo on the path

# The same interpreter for every build of the extension module, so that cargo need not build it again.
export PYO3_PYTHON := $(CURDIR)/$(PY)

help: ## this list
	@awk -F ':.*## ' '/^[a-z]+:.*## / { n = split($$2, word, " "); line = sprintf("  make %-12s", $$1); \
	  for (i = 1; i <= n; i++) { if (length(line word[i]) > 78) { print line; line = sprintf("%19s", "") } \
	  line = line " " word[i] } print line }' $(MAKEFILE_LIST)

demo: build ## size the buffer of a 1 Gbit/s, 120 ms path under HighSpeed TCP; the answer goes to demo/
	@$(BIN)/elephan demo

build: $(VENV)/.built ## the package, ready as .venv/bin/elephan

test: test-rust test-python ## every test, Rust and Python

# Without the examples of the crates, which `make check` compiles: instances of the whole engine take minutes.
test-rust: $(VENV)/.made
	cargo test --workspace $(LOADER) --tests
	cargo test --workspace $(LOADER) --doc

test-python: $(VENV)/.dev
	$(PY) -m pytest -n logical --dist loadfile --no-loadscope-reorder

quick: $(VENV)/.dev ## formatters, lints and the tests that take no time, for every save
	cargo fmt --all --check
	cargo clippy --quiet --workspace --all-targets $(LOADER) -- -D warnings
	cargo test --quiet --workspace $(LOADER) --lib --bins
	$(PY) -m ruff check --quiet
	$(PY) -m ruff format --check --quiet
	$(BIN)/lint-imports --no-cache >/dev/null || $(BIN)/lint-imports
	$(PY) -m pytest -n logical --dist loadfile -m 'not slow' -q

check: check-rust check-python check-layers ## format, lints, types, the order of the layers

check-rust: $(VENV)/.made
	cargo fmt --all --check
	rustfmt --check --edition 2024 --config-path . $(wildcard crates/law/src/*.rs crates/queue/src/*.rs crates/traffic/src/*.rs crates/transport/src/loss/*.rs examples/*/src/*.rs examples/*/src/bin/*.rs)
	cargo clippy --workspace --all-targets $(LOADER) -- -D warnings
	$(if $(HAS_KERNEL),cargo clippy --package elephan-py --package elephan-bpf --all-targets -- -D warnings)
	$(APIDOC)
	$(PY) tools/packaged.py

check-python: $(VENV)/.dev
	$(PY) -m ruff check
	$(PY) -m ruff format --check
	$(PY) -m mypy python/elephan tests tools evidence
	$(PY) -m mypy.stubtest --mypy-config-file pyproject.toml elephan._native
	$(BIN)/lint-imports

# Without the pictures that are not committed: make docs draws them.
check-layers: $(VENV)/.dev
	$(PY) tools/layers.py
	$(PY) tools/circles.py
	$(PY) tools/lengths.py
	$(PY) tools/catalog.py --check
	$(PY) tools/stubs.py --check
	$(PY) tools/notebooks.py --check
	$(SITE) --define suppress_warnings=image.not_readable

check-papers: $(VENV)/.dev ## every measure of the papers, and measurements of others, in shortened runs (minutes), held against what they gave before
	$(BIN)/elephan reproduce --quick --store target/quick-reproduction
	$(BIN)/elephan judge --quick
	$(BIN)/elephan answer --quick --store target/answers

# Counting makes a run ten times as long, and these run the same lines as the others.
coverage: UNCOUNTED = $(shell sed -n 's/^mod \(.*\);/--skip \1::/p' crates/sim/tests/references/main.rs)
coverage: $(VENV)/.dev $(TOOLS)/cargo-tarpaulin ## how much of the lines the tests run: Rust's but for the long comparisons with references, Python's that are not slow
	$(TOOLS)/cargo-tarpaulin tarpaulin --workspace $(LOADER) --exclude-files "crates/py/*" --exclude-files "target/*" --engine llvm --skip-clean --timeout 1800 \
	    --target-dir target/coverage --out Json --output-dir target/coverage -- $(UNCOUNTED) >target/coverage.log 2>&1 || { tail -50 target/coverage.log; exit 1; }
	COVERAGE_FILE=target/.coverage $(PY) -m pytest -n logical --dist loadfile -m 'not slow' -q --cov=elephan --cov=elephan_evidence --cov-report=
	@tail -1 target/coverage.log | sed 's/^/Rust: /'
	@COVERAGE_FILE=target/.coverage $(PY) -m coverage report | tail -1 | sed 's/^TOTAL/Python:/'

semver: BEFORE ?= HEAD~1
semver: $(TOOLS)/cargo-semver-checks ## what a caller of the crates would notice since the commit before (or BEFORE=)
	$(TOOLS)/cargo-semver-checks semver-checks --workspace --exclude elephan-py --baseline-rev $(BEFORE)

mutants: SHARD ?= 0/16
mutants: $(TOOLS)/cargo-mutants ## laws and queues with one operation changed at a time: do the tests notice? (SHARD=3/16; hours in all)
	$(TOOLS)/cargo-mutants mutants --package elephan-law --package elephan-queue --shard $(SHARD) --output target

package: ## every crate as it would be published, compiled from what is packed
	cargo package --workspace --allow-dirty --exclude elephan-py

# Without the loader of kernel laws: libelf is none of the libraries that every Linux of manylinux has. What `make` compiled is used: the
# last crate alone is compiled again, and linked by zig for the C library of manylinux2014 (`maturin --zig` compiles all of it for a target
# of its own). maturin refuses to pack what needs a newer one.
wheel: LINKER = $(CURDIR)/$(VENV)/zig-cc
wheel: $(VENV)/.made ## target/wheels: an abi3 wheel for every Linux of manylinux2014 on this processor, and the wheel of elephan-evidence
	@$(PIP) install 'ziglang>=0.13,<0.17' 'build>=1.2'
	@printf '#!/bin/sh\nCARGO_ZIGBUILD_ZIG_PATH="%s" exec "%s" zig cc -- -target "%s-linux-gnu.2.17" "$$@"\n' \
	    "$$($(PY) -c 'import pathlib, ziglang; print(pathlib.Path(ziglang.__file__).with_name("zig"))')" \
	    '$(CURDIR)/$(BIN)/maturin' "$$(uname -m)" >'$(LINKER)' && chmod +x '$(LINKER)'
	$(PY) -m build --wheel --outdir target/wheels evidence
	$(PY) -m maturin build --release --locked --compatibility manylinux2014 --out target/wheels -- -C linker='$(LINKER)'

sdist: $(VENV)/.made ## target/wheels: the source as pip builds it, of elephan and of elephan-evidence
	@$(PIP) install 'build>=1.2'
	$(PY) -m maturin sdist --out target/wheels
	$(PY) -m build --sdist --outdir target/wheels evidence

walk: ## every documented command in clean environments made from target/wheels (make wheel before)
	@$(if $(PYTHON),,$(error $(NO_PYTHON)))
	$(PYTHON) tools/walk.py

constraints: $(VENV)/.dev ## constraints.txt: versions and hashes of the packages that elephan and its extras take here
	$(PY) tools/constraints.py

licences: $(VENV)/.dev ## THIRD-PARTY.md: what comes with the wheel, crate by crate and package by package
	$(PY) tools/licences.py

lint-workflows: ## the files in .github/workflows by actionlint, which has to be on the path
	@command -v actionlint >/dev/null || { echo 'actionlint is not on the path' >&2; exit 1; }
	actionlint

scaling: ONLY ?=
scaling: build ## is anything superlinear? instructions per packet of every sender, by valgrind (a quarter of an hour, resumable; ONLY="cubic rack")
	cargo build --release --quiet -p elephan --example count
	$(PY) tools/scaling.py $(addprefix --only ,$(ONLY))

bench: build ## the speed workloads, with the memory floor and the reference engine beside them
	@$(BIN)/elephan bench

survey: build ## simulate all over buffer x flows x RTT (some minutes), and compare every model to it
	@$(PY) tools/survey.py

front: build ## the demo's numbers and picture in README.md and docs/index.md, as the command says
	$(PY) tools/front.py

answers: build ## docs/answers: every question asked again (about an hour, resumable)
	$(BIN)/elephan answer --ask --bless --store target/answers
	$(BIN)/elephan answer --quick --bless --store target/answers
	$(BIN)/elephan answer --pages docs/answers

reproduction: $(VENV)/.dev ## every experiment of the papers in full (about half an hour on two cores, resumable), and docs/reproduction
	$(BIN)/elephan reproduce --out target/reproduction --pages docs/reproduction --bless
	$(BIN)/elephan conform bbr --pages docs/conformance
	$(BIN)/elephan judge --pages docs/judged --bless

survival: $(VENV)/.dev ## kill -9, a full disk, damage: failing system calls: what a sweep must survive (root: small disks are mounted)
	$(PY) tests/survival.py --points 500 --kills 20
	$(PY) tests/faults.py --seeds 200
	ELEPHAN_TESTBED_CYCLES=200 $(PY) -m pytest -q tests/test_testbed_leaves_nothing.py

fuzz: INPUTS ?= 1000000
fuzz: $(VENV)/.dev ## hostile files, command lines, stores, requests of elephan web, random networks and sequences of events, searches for broken invariants (INPUTS=1000000): hours; goes on where it was, finds are kept in target/fuzz
	cd tests && ../$(PY) -m fuzz --inputs $(INPUTS)
	cd tests && ../$(PY) -m fuzz --kinds web --inputs $(INPUTS)
	cd tests && ../$(PY) -m fuzz --kinds worst --inputs $$(($(INPUTS) / 5000))
	FUZZ_NETWORKS=$$(($(INPUTS) / 100)) cargo test --package elephan-sim --test engines fuzz
	PROPTEST_CASES=$$(($(INPUTS) / 10)) cargo test --workspace --exclude elephan-py --lib --tests
	MUTANTS=$(INPUTS) cargo test --package elephan-ebpf --test objects million -- --ignored

# Draws the pictures of the catalogue and of test cases, too, which are not committed.
docs: $(VENV)/.dev ## docs/catalog, the notebooks, and the site target/site/index.html; the Rust documentation
	$(PY) tools/catalog.py
	$(BIN)/elephan conform bbr --quiet --pages docs/conformance >/dev/null
	$(PY) tools/stubs.py
	$(PY) tools/notebooks.py
	$(SITE)
	$(APIDOC)

bpf: BPF = crates/law/kernel
bpf: ## the laws of the kernel from crates/law/kernel, with clang and the headers of libbpf
	cargo run --quiet -p elephan-bpf --example defaults >$(BPF)/defaults.h
	clang -g -O2 -target bpf -mcpu=v3 -Wall -Werror -ffile-prefix-map='$(CURDIR)=.' -c $(BPF)/laws.bpf.c -o $(BPF)/laws.bpf.o
	llvm-strip -g $(BPF)/laws.bpf.o
	cd $(BPF) && sha256sum *.h laws.bpf.c >laws.sha256

quic: QUIC = cd adapters/quic &&
quic: ## elephan-quic: the controls of quinn, noq and s2n-quic on our links, built and tested (Rust 1.95 or newer; make test needs none of it)
	$(QUIC) cargo fmt --check -- --config-path ../..
	$(QUIC) cargo clippy --quiet --all-targets -- -D warnings
	$(QUIC) cargo test --quiet
	$(QUIC) cargo build --quiet --release
	@if [ -d $(BIN) ]; then cp adapters/quic/target/release/elephan-quic $(BIN)/ && echo 'elephan-quic is in $(BIN)'; fi

bless: $(VENV)/.dev ## take the present results as the new snapshots; review them as physics
	INSTA_UPDATE=always cargo test --workspace
	@git status --short -- '*.snap'

clean: ## remove what make made; runs in .elephan stay
	rm -rf $(VENV) target adapters/*/target demo .pytest_cache .mypy_cache .ruff_cache .hypothesis .import_linter_cache
	rm -f python/elephan/*.so docs/catalog/*/*.svg docs/conformance/pictures/*.svg
	find crates python tests tools evidence \( -name __pycache__ -o -name '*.snap.new' \) -prune -exec rm -rf {} +

# Each of one version, into target; they are asked for rarely and take minutes to compile.
$(TOOLS)/cargo-tarpaulin: VERSION := 0.37.5
$(TOOLS)/cargo-mutants: VERSION := 27.1.0
$(TOOLS)/cargo-semver-checks: VERSION := 0.51.0
$(TOOLS)/%:
	@echo 'installing $* into target (some minutes)' >&2
	@cargo install --quiet --locked --root $(TOOLS:/bin=) --version $(VERSION) $*

$(VENV)/.made:
	@$(if $(PYTHON),,$(error $(NO_PYTHON)))
	@command -v cargo >/dev/null || { echo '$(NO_RUST)' >&2; exit 1; }
	@echo 'making .venv' >&2
	@$(PYTHON) -m venv --clear $(VENV)
	@$(PIP) install --upgrade 'pip>=25.1' 'maturin>=1.9,<2'
	@touch $@

$(BUILT_AS): $(VENV)/.made
	@rm -f $(VENV)/.built-as-*
	@touch $@

$(VENV)/.built: $(VENV)/.made $(BUILT_AS) pyproject.toml evidence/pyproject.toml Cargo.toml Cargo.lock $(CRATES)
	@echo 'building elephan (some minutes the first time)' >&2
	@$(INSTALL) $(QUIETLY)
	@$(EVIDENCE) $(QUIETLY)
	@touch $@

$(VENV)/.dev: pyproject.toml | $(VENV)/.built
	@echo 'installing the tools of test and check' >&2
	@$(INSTALL),dev $(QUIETLY)
	@touch $@
