# Everything a developer or a packager does with this tree. `make` alone lists it.

SHELL := /bin/bash
PREFIX ?= /usr/local
DESTDIR ?=

# For building and the demo: the C libraries, what SwiftPM needs for linking beside the Swift toolchain, git and
# certificates to fetch the Swift packages, Python to serve the samples.
build_packages := libvips-dev libavformat-dev libavcodec-dev libavutil-dev libswscale-dev libswresample-dev \
    libjpeg62-turbo-dev libspng-dev libwebp-dev \
    libcurl4-openssl-dev libpq-dev libmagic-dev libsqlite3-dev pkg-config binutils gcc libc6-dev libstdc++-12-dev \
    zlib1g-dev libdeflate-dev git ca-certificates python3
# For the tests and samples/make-media: generators of real media, an HTTP/2 server, certificates, a system call tracer,
# a font for the burnt-in clock and for pages, a browser for the pages, OpenStack Swift as an S3 server that checks
# signatures (never python3-swiftclient: its /usr/bin/swift would hide the compiler), Node for the samples in it (Go
# would take 450 MB: its samples are tested where it is installed), a YAML parser for deploy/kubernetes, and for
# tools/faults network namespaces and file systems.
# tools/install-postgres installs PostgreSQL and PgBouncer, which the tests start themselves.
test_packages := ffmpeg libvips-tools libheif-examples libjxl-tools imagemagick fonts-dejavu-core \
    chromium-headless-shell nghttp2-server openssl strace libjpeg-turbo-progs procps file curl jq util-linux mount \
    bsdutils python3-venv swift-proxy swift-account swift-container swift-object nodejs python3-yaml \
    iproute2 e2fsprogs
# For the benchmarks, beside the packages of the tests: other tools, libraries of the bare programs, an origin server.
bench_packages := nginx-light wrk ffmpegthumbnailer libheif-dev valgrind \
    liblcms2-dev make
# For packages: debhelper and lintian, debootstrap and sqlite3 for their test.
package_packages := dpkg-dev debhelper fakeroot lintian debootstrap sqlite3 util-linux mount python3-venv python3-yaml

formatted := Package.swift Packages Sources Tests Fuzz samples/NotificationService \
    samples/NotificationContent

release_build := swift build -c release --static-swift-stdlib
# The demo and the tests share one build: debug, with the media modules optimized (Package.swift). Compiling each module
# as a whole takes a quarter less processor time for a clean build than file by file, but more after an edit. For a
# debugger there are only line numbers, which backtraces need. With WHOLE_MODULES= the flags are those of a plain
# `swift build`. A change of flags builds everything again. The compiler's index stays, because SwiftPM finds the test
# targets by it.
WHOLE_MODULES ?= -Xswiftc -whole-module-optimization -Xswiftc -num-threads -Xswiftc 2 \
    -Xswiftc -gline-tables-only -Xcc -g0 -Xcxx -g0
debug_build := tools/build $(WHOLE_MODULES)
# Packages name the commit that they are built from; `make build` does not, so that a commit makes no build longer.
commit = $(shell git rev-parse --short=12 HEAD 2>/dev/null || echo unknown)$(shell git diff --quiet HEAD 2>/dev/null \
    || echo -changed)
# All tests use Swift Testing; without --disable-xctest a second, empty summary is printed. One test at a time, in
# several processes that run concurrently (tools/tests): tests that block while a program runs would otherwise take the
# threads that other tests need.
swift_test := tools/tests --disable-xctest --no-parallel

.DEFAULT_GOAL := help
.NOTPARALLEL:
.PHONY: help deps deps-test deps-packages deb dist test-packages release-build \
    build demo test test-changed lint tidy format check docs docs-update docs-check screenshot \
    test-long test-hostile test-asan test-tsan fuzz fuzz-ci install client docc test-app \
    bench bench-on-time bench-sandbox bench-memory bench-service bench-scale bench-calls bench-campaign \
    bench-budget bench-peers bench-compare bench-damage bench-report bench-programs deps-bench clean toolchain

help: ## List the targets
	@awk -F ':.*## ' '/^[a-z-]+:.*## / { printf "make %-10s %s\n", $$1, $$2 }' $(MAKEFILE_LIST)

toolchain:
	@command -v swift >/dev/null \
	    || { echo "There is no swift in PATH; 6.3 or newer is at https://www.swift.org/install/linux" >&2; exit 1; }

deps: toolchain ## Install the Debian packages that building and the demo need (only what is missing)
	@tools/install-packages $(build_packages)

deps-test: toolchain ## Install the Debian packages and servers that the tests need (only what is missing)
	@tools/install-packages $(test_packages)
	@tools/install-postgres
	@tools/install-test-tools

deps-bench: deps-test ## Install what the comparison with other tools needs (only what is missing)
	@tools/install-packages $(bench_packages)
	@Benchmarks/peers/install

build: deps ## Build attachprep and attachprep-media for release, Swift runtime linked in
	$(release_build) --product attachprep
	$(release_build) --product attachprep-media

demo: deps ## Build, serve the samples on loopback, prepare all of them by URL, show the table
	ATTACHPREP_PROGRAMS=1 $(debug_build)
	samples/demo

lint: deps
	tools/timed "format" swift format lint --strict --parallel --recursive $(formatted)
	tools/timed "build of programs and tests" $(debug_build) --build-tests

format: toolchain ## Format all Swift
	swift format --in-place --parallel --recursive $(formatted)

# Needs no build of the product: the house rules are built alone, in a folder of their own.
tidy: toolchain ## Check format, house rules, links and the tables made from declarations, in seconds
	swift format lint --strict --parallel --recursive $(formatted)
	tools/docs/reference --check --without-program
	tools/docs/links
	ATTACHPREP_TESTS=TidyTests swift test --scratch-path .build/tidy --disable-xctest --no-parallel \
	    --skip DeclaredModulesTests --skip PackagingTests

# SINCE=main takes the commits of a branch as well; ALL=1 runs the tests of everything that stands on the change.
SINCE ?=
test-changed: toolchain ## Build, and run the tests that name a changed module [SINCE=main] [ALL=1]
	$(debug_build) --build-tests
	tools/test-changed $(SINCE)

check: lint docs-check ## Check format, house rules and documents; build everything with warnings as errors
	$(swift_test) --skip-build --filter TidyTests

docs-check: lint
	tools/timed "tables of the documentation" tools/docs/reference --check
	tools/docs/links
	tools/timed "DocC" tools/docc >/dev/null

client: ## Generate the Python client from docs/openapi.json and build its wheel in .build/client
	@command -v python3 >/dev/null || tools/install-packages python3 python3-venv
	@tools/openapi-client/build .build/client

docs-update: ## Write the generated tables of docs/ from the built program and the declarations
	tools/docs/reference

docs: ## Check the documents and build their site into .build/docs
	tools/docs/reference --check
	tools/docs/links
	NO_MKDOCS_2_WARNING=1 "$$(tools/docs/install)" build --strict --quiet
	@echo "The site is in .build/docs: python3 -m http.server -d .build/docs"

docc: ## Build the DocC documentation of AttachPrep and the package for apps into .build/docc, with warnings as errors
	$(debug_build) --target AttachPrep
	tools/docc

screenshot: deps-test ## Remake the picture of the README with the built program
	tools/docs/screenshot

# The house rules are tests among them. The test runner's summary is the last thing that is printed.
test: deps deps-test lint docs-check ## Check, and run all tests but the long ones
	TESTS_BESIDE='tools/timed "package RichPush in an app" tools/test-richpush-package' $(swift_test) --skip-build

test-app: toolchain ## Export the package RichPush, build an app's package with it, check what an app writes
	tools/test-richpush-package

# Faults of the campaign that follows the tests, about 1.7 s each; SEED repeats one.
FAULTS ?= 1000
SEED ?=
test-long: deps deps-test ## Run all tests, kills and full disks included, and the fault campaign [FAULTS=1000] [SEED=N]
	$(debug_build) --build-tests
	ATTACHPREP_LONG=1 $(swift_test) --skip-build
	tools/faults/campaign --faults $(FAULTS) $(if $(SEED),--seed $(SEED))

test-hostile: deps deps-test ## Run the attack tests and print whether each promise of SECURITY.md held [QUICK=1]
	$(debug_build) --build-tests
	SKIP_BUILD=1 tools/test-hostile

# A sandboxed media process cannot run under a sanitizer (ASan's shadow does not fit its address space, and it opens
# /proc), so these runs use the in-process engine; PreparationTests runs the whole pipeline with it. Left out are tests
# that start a media process or the command, the house rules, and tests of encoding under a deadline, because a
# sanitizer multiplies the time; PreparationTests also encodes a movie, audio and an animation.
sanitized := RichPushTests|MediaEngineTests|MediaProcessingTests|CurlTests|PostgresDatabaseTests
sanitized := $(sanitized)|AttachPrepTests|PreparationTests
sanitized := $(sanitized)|AttachPrepJobsTests|AttachPrepServiceTests
with_media_process := MediaProcessPoolTests|AnswerValidationTests|MediaProcessErrorTests|MediaProcessRecyclingTests
with_media_process := $(with_media_process)|MediaProcessSandboxTests|MemoryLeakTests|EarlyProcessingTests
with_media_process := $(with_media_process)|CorruptStillTests
with_clock := $(shell cat tools/paced-tests)
# A tester in Python with a time limit of one minute, which it needs without a sanitizer.
with_tester := SchemathesisTests
# The Swift runtime's crash report would wait for a debugger and hide the sanitizer's report.
sanitizer_environment := SWIFT_BACKTRACE=enable=no LSAN_OPTIONS=suppressions=$(CURDIR)/tools/sanitizers/lsan.txt \
    TSAN_OPTIONS=suppressions=$(CURDIR)/tools/sanitizers/tsan.txt

test-asan: deps deps-test ## Run the tests in one process under the address sanitizer, leaks included
	swift build --build-tests --sanitize=address --scratch-path .build-asan
	$(sanitizer_environment) $(swift_test) --skip-build --sanitize=address --scratch-path .build-asan \
	    --filter '$(sanitized)' --skip '$(with_media_process)' --skip '$(with_clock)' \
	    --skip '$(with_tester)'

test-tsan: deps deps-test ## Run the tests in one process under the thread sanitizer
	swift build --build-tests --sanitize=thread --scratch-path .build-tsan
	clang -O1 -shared -fPIC -Wall -Werror tools/sanitizers/visible-locks.c -o .build-tsan/visible-locks.so
	$(sanitizer_environment) LD_PRELOAD=$(CURDIR)/.build-tsan/visible-locks.so \
	    $(swift_test) --skip-build --sanitize=thread --scratch-path .build-tsan \
	    --filter '$(sanitized)' --skip '$(with_media_process)' --skip '$(with_clock)' \
	    --skip '$(with_tester)'

# Seconds for each target; TARGET=HeaderFuzz runs one.
TIME ?= 60
fuzz: deps ## Fuzz the project's parsers: make fuzz TIME=60 [TARGET=HeaderFuzz]
	Fuzz/run $(TIME) $(TARGET)

# Notices a target that does not build or fails at once. The seed is fixed, because a search of five seconds must not
# fail another change by chance.
fuzz-ci: deps ## Build every fuzz target and run each for five seconds
	FUZZ_SEED=1 Fuzz/run 5

install: build ## Install into PREFIX (/usr/local) below DESTDIR: both programs, manual pages, shell completions
	install -s -D -m 755 .build/release/attachprep $(DESTDIR)$(PREFIX)/bin/attachprep
	install -s -D -m 755 .build/release/attachprep-media $(DESTDIR)$(PREFIX)/libexec/attachprep-media
	tools/install-share .build/release/attachprep $(DESTDIR)$(PREFIX)/share

# Packages are made of a release build, or of the programs in BINARIES, built before; BUILD is then the folder of that
# build, whose checkouts have the licenses of the Swift packages.
BUILD ?= .build
BINARIES ?=
MAINTAINER ?=
package_options = --build $(BUILD) $(if $(BINARIES),--binaries $(BINARIES))

deps-packages: ## Install what packages and their test need (only what is missing)
	@tools/install-packages $(package_packages)

release-build:
	$(if $(BINARIES),,ATTACHPREP_COMMIT=$(commit) $(MAKE) build)

deb: deps-packages release-build ## Build dist/attachprep_VERSION_ARCH.deb and check it by lintian [BINARIES=FOLDER]
	tools/packages/build-deb $(package_options) $(if $(MAINTAINER),--maintainer '$(MAINTAINER)')

dist: deps-packages release-build ## Build tarballs of programs and source, SBOM and checksums in dist [BINARIES=FOLDER]
	tools/packages/build-dist $(package_options)

# The former version is the same programs in a package with a lower number, unless FORMER=DEB names a package.
FORMER ?=
test-packages: deb ## Validate chart and manifests; install, upgrade and purge the package in a fresh Debian 12 (root)
	tools/helm/check
	PATH="$$(dirname "$$(tools/hadolint/install)"):$$PATH" tools/packages/check
	folder=$$(mktemp -d) && trap 'rm -rf "$$folder"' EXIT && former='$(FORMER)' \
	    && { [ -n "$$former" ] || former=$$(tools/packages/build-deb $(package_options) --output "$$folder" \
	        --version 0.9.0 | tail -1); } \
	    && tools/packages/test dist/attachprep_$$(tools/packages/version)_$$(dpkg --print-architecture).deb \
	        --former "$$former"
	tools/packages/test-image $(if $(BINARIES),$(BINARIES),$(BUILD)/release)

# Programs that the benchmarks run beside attachprep.
bench-programs: build deps-bench
	$(release_build) --product ShapingServer
	$(release_build) --product QueueRate
	tools/simulated-device .build/simulated-device

bench: bench-programs ## Measure the time budget, other tools beside it, and phones [SAMPLES=100]
	Benchmarks/budget --samples $(SAMPLES)
	Benchmarks/side-by-side
	Benchmarks/campaign
	Benchmarks/report

bench-calls: build ## Measure one image and a batch against a pipeline, and a call to a media process
	Benchmarks/run
	$(release_build) --product RoundTrip
	.build/release/RoundTrip .build/release/attachprep-media samples/media/grid.png

bench-on-time: build deps-test ## Prepare heavy files with budgets of 1 to 30 s and count late results
	Benchmarks/on-time

bench-sandbox: build ## Measure what the sandbox of the media processes costs
	Benchmarks/sandbox

bench-memory: build ## Prepare a thousand mixed files and measure how memory grows
	Benchmarks/flat-memory

bench-service: bench-programs ## Measure the queue alone, the service, what a small job costs, how soon one is accepted
	$(release_build) --product QueueRate
	folder=$$(mktemp -d) && .build/release/QueueRate $$folder; rm -rf $$folder
	Benchmarks/service
	Benchmarks/small-job

bench-scale: bench-programs ## Measure two workers beside one on a PostgreSQL queue, and the queue alone
	Benchmarks/scale

bench-campaign: bench-programs ## Send the sample campaign to phones on 3G, LTE and Wi-Fi, raw and prepared
	Benchmarks/campaign

# Samples of each source on each network, fewer for sources that are encoded for seconds. 100 is the least for a p99.
SAMPLES ?= 100
bench-budget: bench-programs ## Measure download to attachment by kind, network and stage [SAMPLES=100]
	Benchmarks/budget --samples $(SAMPLES)

bench-report: ## Write .build/bench/report.html and report.json from the measurements, and print the table of arrivals
	Benchmarks/report

# The comparison's options: make bench-peers OPTIONS='--rows one-jpeg,help --quick'
OPTIONS ?=
bench-peers: bench-programs ## Measure attachprep against other tools and a bare program, on the same files
	Benchmarks/side-by-side $(OPTIONS)

bench-compare: bench-programs ## The same, and report rows more than 15 % worse than recorded
	Benchmarks/compare $(OPTIONS)

bench-damage: build deps-bench ## Measure how much damage in movies, GIFs and audio is found [OPTIONS='--label before']
	nice Benchmarks/damage $(OPTIONS)

clean: ## Remove the output of building and of the demo
	rm -rf .build dist prepared
