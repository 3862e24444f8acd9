# prof: a sampling profiler for Linux. `make help` lists the targets.
#
# Every room (common, format, record, report, bench) becomes one archive of all .c files in it
# and its sub-rooms except main.c; a program is its main.c plus the archives it may use.
# CFLAGS, CPPFLAGS and LDFLAGS belong to the user; what the build itself needs is in PROF_*.

.DEFAULT_GOAL := all

## deps: install what the build and the tests need, with the distribution's package manager
.PHONY: deps
deps:
	./.ci/deps

ifneq ($(filter deps,$(MAKECMDGOALS)),)
# `make deps check` on a bare machine: the goals beside deps run after it, one after the other, each
# in a make of its own that finds the tools it has installed and uses all CPUs.
others := $(filter-out deps,$(MAKECMDGOALS))
.PHONY: $(others)
ifneq ($(others),)
$(firstword $(others)): deps
	+@set -e; for goal in $(others); do $(MAKE) $(if $(findstring -j,$(MAKEFLAGS)),,-j$$(nproc)) $$goal; done
$(wordlist 2,$(words $(others)),$(others)): $(firstword $(others))
	@:
endif
else

PREFIX ?= /usr/local
LIBDIR ?= lib
DESTDIR ?=
BUILD ?= build
CC ?= cc
CLANG ?= clang
# Ubuntu's bpftool is a script that refuses kernels other than its own; the program it would start
# makes skeletons on any.
BPFTOOL ?= $(lastword bpftool $(wildcard /sbin/bpftool /usr/sbin/bpftool) $(sort $(wildcard /usr/lib/linux-tools*/*/bpftool /usr/lib/linux-tools-*/bpftool)))
# .clang-format is written for version 14; others break some lines differently.
CLANG_FORMAT ?= $(firstword $(shell command -v clang-format-14 clang-format 2>/dev/null) clang-format)
LLVM_STRIP ?= $(firstword $(shell command -v llvm-strip llvm-strip-14 llvm-strip-15 llvm-strip-16 2>/dev/null) llvm-strip)
OBJCOPY ?= objcopy
CFLAGS ?= -O2 -g
V ?= 0
Q := $(if $(filter 1,$(V)),,@)
say = $(if $(filter 1,$(V)),,@printf '  %-8s %s\n' '$(1)' '$(2)')

VERSION := 0.1.0

# Target architecture, from the compiler, so that cross compiling needs no further flag.
ARCH := $(firstword $(subst -, ,$(shell $(CC) -dumpmachine)))
BPF_ARCH := $(if $(filter aarch64,$(ARCH)),arm64,x86)

PROF_CPPFLAGS := -I. -I$(BUILD) -D_GNU_SOURCE -DPROF_VERSION='"$(VERSION)"'
PROF_CFLAGS := -std=gnu11 -Wall -Wextra -Wshadow -Wstrict-prototypes -Wmissing-prototypes \
	-Wno-unused-parameter -Wno-missing-field-initializers -fno-strict-aliasing -pthread
ifneq ($(DEV),)
PROF_CFLAGS += -Werror
endif
ifneq ($(SAN),)
PROF_CFLAGS += -fsanitize=$(SAN) -fno-omit-frame-pointer -fno-sanitize-recover=all
PROF_LDFLAGS += -fsanitize=$(SAN)
# gcc's UBSan ignores log_path beside ASan, and tests/run would miss what it finds in processes whose standard
# error goes nowhere: ASan reports its traps.
PROF_CFLAGS += $(if $(findstring clang,$(CC)),,$(and $(findstring address,$(SAN)),$(findstring undefined,$(SAN)),-fsanitize-undefined-trap-on-error))
endif
# Hardened: nothing at fixed addresses or writable after the start, no executable stack, checked
# copies and returns. Fortified headers need an optimizing compiler, and are in the sanitizers' way.
PROF_CFLAGS += -fPIE -fstack-protector-strong -fstack-clash-protection \
	$(if $(filter aarch64,$(ARCH)),-mbranch-protection=standard,-fcf-protection=full)
PROF_CPPFLAGS += $(if $(filter -O1 -O2 -O3 -Os -Og,$(CFLAGS)),$(if $(SAN),,-U_FORTIFY_SOURCE -D_FORTIFY_SOURCE=2))
PROF_LDFLAGS += -Wl,-z,relro,-z,now,-z,noexecstack
# Only libraries that are used: not all compilers have the linker drop the others.
PROF_LDFLAGS += -pthread -Wl,--as-needed
# STATIC=1: prof-record and prof-report need no library of the machine they run on. prof-bench counts
# allocations by taking malloc's place, which a static libc does not allow.
static := $(if $(STATIC),-static-pie,-pie)
PROF_CPPFLAGS += $(if $(STATIC),-DPROF_STATIC)

COMMON_LIBS := -lelf
FORMAT_LIBS := -lzstd -lxxhash
RECORD_LIBS := -lbpf -lz -lcap
REPORT_LIBS := -liberty -ldeflate -llzma -lm
BENCH_LIBS := -ldw -ljansson
# Not needed, but without it -f annotate has no instructions.
disassembler := $(shell CC='$(CC)' CPPFLAGS='$(CPPFLAGS)' LDFLAGS='$(LDFLAGS)' .ci/disassembler)

rooms := common format record report bench
sources = $(filter-out $(1)/main.c bench/library.c bench/measure/interpose.c bench/suite/slow.c %.bpf.c,$(wildcard $(1)/*.c $(1)/*/*.c))
objects = $(patsubst %.c,$(BUILD)/%.o,$(1))
archive = $(BUILD)/lib$(1).a
programs := prof-record prof-report prof-bench
skeletons := $(patsubst %.bpf.c,$(BUILD)/%.skel.h,$(wildcard bpf/*.bpf.c bench/*/*.bpf.c))

# INJECT="fibonacci ..." builds in the faults that the gates must find; see bench/README.md.
INJECT ?=
comma := ,
PROF_CPPFLAGS += $(foreach fault,$(INJECT),-DINJECT_$(fault))
PROF_CPPFLAGS += $(if $(disassembler),-DPROF_DISASSEMBLER)

.DELETE_ON_ERROR:
.SECONDARY:
.PHONY: all demo oops check bench fuzz format install uninstall clean help FORCE

## all: build the programs and libprof_bench (needs no privileges)
all: $(addprefix $(BUILD)/,$(programs)) $(BUILD)/libprof_bench.a

# Everything that the build needs, looked for once: one line for each thing that is missing.
$(BUILD)/probed: .ci/probe
	@mkdir -p $(@D)
	@CC='$(CC)' CPPFLAGS='$(CPPFLAGS)' CLANG='$(CLANG)' BPFTOOL='$(BPFTOOL)' .ci/probe && touch $@

# The flags of the last build; a change of flags rebuilds what they touch.
flags := $(CC) $(CFLAGS) $(CPPFLAGS) $(LDFLAGS) $(PROF_CPPFLAGS) $(PROF_CFLAGS) $(PROF_LDFLAGS) $(CLANG)
$(BUILD)/flags: FORCE | $(BUILD)/probed
	@mkdir -p $(@D)
	@printf '%s\n' '$(subst ','\'',$(flags))' | cmp -s - $@ || printf '%s\n' '$(subst ','\'',$(flags))' > $@

$(BUILD)/%.o: %.c $(BUILD)/flags
	$(call say,CC,$<)
	@mkdir -p $(@D)
	$(Q)$(CC) $(PROF_CPPFLAGS) $(CPPFLAGS) $(PROF_CFLAGS) $(CFLAGS) -MMD -MP -c -o $@ $<

# Its stacks are walked by frame pointers and by tables alike.
$(BUILD)/bench/kernel/worker.o: PROF_CFLAGS += -fno-omit-frame-pointer -fno-stack-protector

define room_archive
$(call archive,$(1)): $(call objects,$(call sources,$(1)))
	$$(call say,AR,$$@)
	$(Q)rm -f $$@ && $$(AR) rcs $$@ $$(filter %.o,$$^)
endef
$(foreach room,$(rooms),$(eval $(call room_archive,$(room))))

# The page of -f html is embedded by the assembler, of which the compiler's dependencies know nothing.
$(BUILD)/report/page/html_page.o: $(wildcard report/page/html/*)

# The kernel half: compiled for BPF, stripped of DWARF (BTF stays), and embedded as a skeleton.
$(BUILD)/%.bpf.o: %.bpf.c $(BUILD)/flags
	$(call say,BPF,$<)
	@mkdir -p $(@D)
	$(Q)$(CLANG) -target bpf -mcpu=v3 -O2 -g -D__TARGET_ARCH_$(BPF_ARCH) -I. \
		-Wall -Wno-missing-declarations $(if $(DEV),-Werror) -ffile-prefix-map=$(CURDIR)=. $(BPF_CFLAGS) \
		$(foreach fault,$(INJECT),-DINJECT_$(fault)) \
		-isystem /usr/include/$(ARCH)-linux-gnu -MMD -MP -c -o $@ $<
	$(Q)$(LLVM_STRIP) -g $@

$(BUILD)/%.skel.h: $(BUILD)/%.bpf.o
	$(call say,SKEL,$@)
	$(Q)$(BPFTOOL) gen skeleton $< name $(notdir $*)_bpf > $@

$(call objects,$(filter-out %.bpf.c,$(wildcard record/*.c record/*/*.c bench/*.c bench/*/*.c tests/unit/*.c tests/simulate/*.c tests/images/*.c))): | $(skeletons)

$(BUILD)/prof-record: $(BUILD)/record/main.o $(call archive,record) $(call archive,format) $(call archive,common)
$(BUILD)/prof-record: libs = $(RECORD_LIBS) $(FORMAT_LIBS) $(COMMON_LIBS)
$(BUILD)/prof-report: $(BUILD)/report/main.o $(call archive,report) $(call archive,format) $(call archive,common)
$(BUILD)/prof-report: libs = $(disassembler) $(REPORT_LIBS) $(FORMAT_LIBS) $(COMMON_LIBS)
$(BUILD)/prof-bench: $(BUILD)/bench/main.o $(BUILD)/bench/measure/interpose.o $(call archive,bench) $(call archive,report) $(call archive,record) \
	$(call archive,format) $(call archive,common)
$(BUILD)/prof-bench: libs = $(RECORD_LIBS) $(disassembler) $(REPORT_LIBS) $(BENCH_LIBS) $(FORMAT_LIBS) $(COMMON_LIBS)

injected = $(if $(filter $(1),$(INJECT)),$(2))
$(BUILD)/prof-record: $(call injected,drain nap,$(BUILD)/bench/suite/inject.o)
$(BUILD)/prof-report: $(call injected,tally,$(BUILD)/bench/suite/inject_tally.o) $(call injected,rounds,$(BUILD)/bench/suite/slow.o)
$(BUILD)/prof-bench $(BUILD)/prof-record: PROF_LDFLAGS += $(call injected,drain nap,-Wl$(comma)--wrap=resolver_resolve)
$(BUILD)/prof-bench $(BUILD)/prof-report: PROF_LDFLAGS += $(call injected,tally,-Wl$(comma)--wrap=tally_add)

# Benchmarks of other people's code link this; all names but those of bench/prof_bench.h are hidden.
OBJCOPY ?= objcopy
$(BUILD)/libprof_bench.a: $(BUILD)/bench/library.o $(call archive,bench) $(call archive,common)
	$(call say,AR,$@)
	$(Q)$(LD) -r -o $(BUILD)/prof_bench.o $< --start-group $(filter %.a,$^) --end-group
	$(Q)$(OBJCOPY) --wildcard --keep-global-symbol='prof_bench_*' $(BUILD)/prof_bench.o
	$(Q)rm -f $@ && $(AR) rcs $@ $(BUILD)/prof_bench.o

# prof-report with a slowdown of chosen size, for bench/ci/operating-curve.py.
$(BUILD)/prof-report-slow: $(BUILD)/report/main.o $(BUILD)/bench/suite/slow.o $(call archive,report) \
	$(call archive,format) $(call archive,common)
$(BUILD)/prof-report-slow: libs = $(disassembler) $(REPORT_LIBS) $(FORMAT_LIBS) $(COMMON_LIBS)

$(addprefix $(BUILD)/,$(programs) prof-report-slow):
	$(call say,LINK,$@)
	$(Q)$(CC) $(PROF_CFLAGS) $(CFLAGS) $(PROF_LDFLAGS) $(LDFLAGS) -o $@ $(filter %.o,$^) \
		-Wl,--start-group $(filter %.a,$^) -Wl,--end-group $(libs) $(if $(findstring bench,$@),-pie,$(static))

# libprf for other programs: format/prf.h and the errors it hands out, nothing else is visible.
library := $(BUILD)/libprf.so.1 $(BUILD)/libprf.a
library_objects := $(patsubst %.c,$(BUILD)/shared/%.o,$(call sources,format))
library_common := $(BUILD)/shared/libcommon.a
$(BUILD)/shared/%.o: %.c $(BUILD)/flags
	$(call say,CC,$<)
	@mkdir -p $(@D)
	$(Q)$(CC) $(PROF_CPPFLAGS) $(CPPFLAGS) $(PROF_CFLAGS) $(CFLAGS) -fPIC -MMD -MP -c -o $@ $<
# Of common/ only what format/ calls.
$(library_common): $(patsubst %.c,$(BUILD)/shared/%.o,$(call sources,common))
	$(Q)rm -f $@ && $(AR) rcs $@ $^
$(BUILD)/libprf.so.1: $(library_objects) $(library_common) format/libprf.map
	$(call say,LINK,$@)
	$(Q)$(CC) -shared -Wl,-soname,libprf.so.1 -Wl,--version-script=format/libprf.map -Wl,-z,defs \
		$(PROF_LDFLAGS) $(LDFLAGS) -o $@ $(library_objects) $(library_common) $(FORMAT_LIBS)
$(BUILD)/libprf.a: $(library_objects) $(library_common) format/libprf.map
	$(call say,AR,$@)
	$(Q)$(LD) -r -o $(BUILD)/shared/libprf.o $(library_objects) $(library_common)
	$(Q)sed -n 's/^\t\t\([a-z].*\);$$/\1/p' format/libprf.map > $(BUILD)/shared/libprf.names
	$(Q)$(OBJCOPY) --wildcard --keep-global-symbols=$(BUILD)/shared/libprf.names $(BUILD)/shared/libprf.o
	$(Q)rm -f $@ && $(AR) rcs $@ $(BUILD)/shared/libprf.o

# Tests: a unit test is one program per module, linked with the archives it pulls from.
unit_tests := $(patsubst tests/unit/%.c,$(BUILD)/tests/unit/%,$(wildcard tests/unit/test_*.c))
fuzz_targets := $(patsubst tests/fuzz/%.c,$(BUILD)/tests/fuzz/%,$(wildcard tests/fuzz/fuzz_*.c))
tool_sources := $(wildcard testdata/*.c)
tools := $(patsubst testdata/%.c,$(BUILD)/testdata/%,$(tool_sources))

all_archives := $(foreach room,record report bench format common,$(call archive,$(room)))
link_all = $(CC) $(PROF_CFLAGS) $(CFLAGS) $(PROF_LDFLAGS) $(LDFLAGS) -pie -o $@ $(filter %.o,$^) \
	-Wl,--start-group $(filter %.a,$^) -Wl,--end-group $(RECORD_LIBS) $(disassembler) $(REPORT_LIBS) $(BENCH_LIBS) $(FORMAT_LIBS) $(COMMON_LIBS)

$(BUILD)/tests/unit/%: $(BUILD)/tests/unit/%.o $(BUILD)/tests/unit/main.o $(all_archives)
	$(call say,LINK,$@)
	$(Q)$(link_all) -lcmocka

# Without a fuzzer a target is a program that replays the files it is given (tests/fuzz/replay.c);
# FUZZER=1 with CC=clang links libFuzzer instead.
ifdef FUZZER
PROF_CFLAGS += -fsanitize=fuzzer-no-link -DPRF_FUZZING
$(BUILD)/tests/fuzz/%: $(BUILD)/tests/fuzz/%.o $(all_archives)
	$(call say,LINK,$@)
	$(Q)$(link_all) -fsanitize=fuzzer
else
$(BUILD)/tests/fuzz/%: $(BUILD)/tests/fuzz/%.o $(BUILD)/tests/fuzz/replay.o $(all_archives)
	$(call say,LINK,$@)
	$(Q)$(link_all)
endif

$(BUILD)/testdata/%: $(BUILD)/testdata/%.o $(all_archives)
	$(call say,LINK,$@)
	$(Q)$(link_all)

# The recorder on a machine that does not exist; it has its own sideband and sampler.
simulator := $(BUILD)/tests/simulate/simulate
$(simulator): $(patsubst %.c,$(BUILD)/%.o,$(wildcard tests/simulate/*.c)) $(all_archives)
	$(call say,LINK,$@)
	$(Q)$(link_all)

# Threads of runtimes, replayed from images: see tests/images/make.
replay := $(patsubst %,$(BUILD)/tests/images/%.o,kernel_half image replay)
image_maker := $(if $(filter x86_64,$(ARCH)),$(BUILD)/tests/images/make_image)
$(BUILD)/tests/unit/test_images: $(replay)
$(BUILD)/tests/images/make_image: $(BUILD)/tests/images/make_image.o $(BUILD)/tests/images/file_copy.o $(replay) $(all_archives)
	$(call say,LINK,$@)
	$(Q)$(link_all) -Wl,--wrap=elf_names_find,--wrap=elf_names_has,--wrap=elf_names_span \
		-Wl,--wrap=machine_code_jumped_to,--wrap=machine_code_only_caller

$(BUILD)/tests/unit/test_jit: PROF_LDFLAGS += -Wl,--wrap=mapped_file_read

## check: build and run all tests; those that need root or BPF say "skipped" without it
check: all $(unit_tests) $(fuzz_targets) $(tools) $(simulator) $(image_maker)
	$(Q)BUILD='$(abspath $(BUILD))' CC='$(CC)' SAN='$(SAN)' \
		MAKE_ARGUMENTS="BUILD='$(BUILD)' CC='$(CC)' CFLAGS='$(CFLAGS)' SAN='$(SAN)' DEV='$(DEV)'" tests/run $(TESTS)

## check-slow: run the tests that take long: recipes of bench/ci from end to end, hostile programs, a static build
check-slow:
	$(Q)$(MAKE) check TESTS=slow

## check-fleet: let databases read -f parquet, and kill prof-ship and ClickHouse; what deps-fleet has not installed is skipped
check-fleet: all $(tools)
	$(Q)BUILD='$(abspath $(BUILD))' tests/run fleet

## deps-fleet: install the databases of check-fleet below the build folder, with npm
deps-fleet:
	command -v npm > /dev/null || apt-get install -y -qq --no-install-recommends nodejs npm > /dev/null
	npm install --silent --no-audit --no-fund --prefix $(BUILD)/fleet @duckdb/node-api@1.5.6-r.1 @chdb/lib-linux-x64-gnu@26.5.3

## trust: try to break both programs, and write tests/README.md, also if that fails as something was found (hours; needs root)
trust: all $(tools) $(simulator)
	$(Q)BUILD='$(abspath $(BUILD))' tests/trust-table > $(BUILD)/trust.md; status=$$?; \
		case $$status in 0|3) mv $(BUILD)/trust.md tests/README.md ;; esac; exit $$status

## coverage: run the tests (TESTS) in a separate build, and print how many lines of each folder they run
coverage:
	$(Q)$(MAKE) -s BUILD=build-coverage CFLAGS='-O1 -g --coverage' LDFLAGS='--coverage' check || echo 'some tests failed'
	$(Q)tests/coverage build-coverage

## analyze: run gcc's static analyser on all programs; fails on what tests/analyze.txt does not explain (GCC 12)
analyze:
	$(Q)rm -rf build-analyze && mkdir build-analyze
	$(Q)LC_ALL=C $(MAKE) -s --output-sync BUILD=build-analyze DEV= SAN= CFLAGS='-O2 -g -fanalyzer' all > build-analyze/log 2>&1 || \
		{ tail build-analyze/log; exit 1; }
	$(Q)tests/analyze build-analyze/log

## faults: let every call of the C library fail once, in small runs of both programs (an hour; needs root)
faults: all $(tools)
	$(Q)BUILD='$(abspath $(BUILD))' CC='$(CC)' SAN='$(SAN)' tests/faults/run $(FAULTS)

## simulate: run the recorder on simulated machines: SEEDS=100 of EVENTS=1000000 events each, from SEED=1
simulate: $(simulator)
	$(Q)$(simulator) $(or $(SEED),1) $(or $(SEEDS),100) $(or $(EVENTS),1000000)

## kills: kill the recorder a hundred times, and read what it has written (needs root)
kills: all
	$(Q)BUILD='$(abspath $(BUILD))' tests/faults/kills --kills $(or $(KILLS),100)

## ends: end the recorder by signals in many states, and measure how long that takes (needs root)
ends: all
	$(Q)BUILD='$(abspath $(BUILD))' tests/faults/ends --each $(or $(ENDS),10)

## check-kernels: run the end-to-end tests on other kernels and on arm64, in qemu (see tests/kernels/run)
check-kernels:
	$(Q)tests/kernels/run $(KERNELS)

## deps-kernels: install what check-kernels needs (Debian)
# On Debian its cross compiler and the gcc-multilib of deps-truth exclude each other: the last one wins.
deps-kernels:
	apt-get install -y -qq --no-install-recommends mmdebstrap qemu-system-x86 qemu-system-arm e2fsprogs cpio \
		gcc-12-aarch64-linux-gnu libc6-dev-arm64-cross >/dev/null

## truth: record the programs of tests/truth and write tests/truth.md (needs root)
truth: all
	$(Q)BUILD='$(abspath $(BUILD))' tests/truth-table > $(BUILD)/truth.md
	$(Q)mv $(BUILD)/truth.md tests/truth.md

## deps-truth: install the programs that `make truth` records (Debian)
deps-truth:
	apt-get install -y -qq --no-install-recommends libc6-dbg llvm musl-tools g++ golang-go gcc-multilib nodejs \
		default-jdk-headless python3 postgresql rustc git sqlite3 perl php-cli ruby valgrind qemu-user >/dev/null

.PHONY: tools truth deps-truth trust coverage analyze faults kills ends simulate check-slow check-fleet deps-fleet check-kernels deps-kernels install-library dist deb rpm
tools: $(tools)

## fuzz: build the fuzz targets with libFuzzer and run each for TIME seconds (60), or until RUNS executions
fuzz:
	$(Q)FUZZ_RUNS='$(RUNS)' FUZZ_SECONDS='$(TIME)' tests/fuzz/run

## format: format all sources by .clang-format
format:
	$(Q)$(CLANG_FORMAT) -i $(shell find $(rooms) bpf tests testdata -name '*.[ch]')

## bench: run all benchmarks and write results.json (needs root)
bench: all $(tools)
	$(Q)BUILD='$(abspath $(BUILD))' $(BUILD)/prof-bench all --bmf results.json

## demo: record a real program for five seconds, print its hottest stacks, write demo.folded and demo.html
demo: all
	$(Q)BUILD='$(abspath $(BUILD))' testdata/demo.sh

## oops: build a recorder with a fault, and let prof find it: by a profile, and by its time and allocations (needs root)
oops: all
	$(Q)$(MAKE) BUILD='$(BUILD)/oops' INJECT=drain all
	$(Q)BUILD='$(abspath $(BUILD))' bench/oops.sh

# Debian's zsh looks into vendor-completions, others into site-functions.
ZSHDIR ?= share/zsh/site-functions
UNITDIR ?= lib/systemd/system
completions := share/bash-completion/completions $(ZSHDIR) share/fish/vendor_completions.d

units := prof-record.service prof-ship.service

# Queries over rows of -f parquet.
sql_folders := sql/duckdb sql/clickhouse

## install: install the programs, manual pages, completion and systemd units under DESTDIR and PREFIX
install: all
	install -d $(addprefix $(DESTDIR)$(PREFIX)/,bin include lib share/man/man1 share/man/man5 share/man/man7 \
		$(addprefix share/prof/,$(sql_folders)) $(UNITDIR) $(completions))
	install -m 755 $(addprefix $(BUILD)/,$(programs)) .ci/packaging/prof-ship $(DESTDIR)$(PREFIX)/bin
	install -m 644 bench/prof_bench.h $(DESTDIR)$(PREFIX)/include
	install -m 644 $(BUILD)/libprof_bench.a $(DESTDIR)$(PREFIX)/lib
	install -m 644 $(wildcard man/*.1) $(DESTDIR)$(PREFIX)/share/man/man1
	install -m 644 $(wildcard man/*.5) $(DESTDIR)$(PREFIX)/share/man/man5
	install -m 644 $(wildcard man/*.7) $(DESTDIR)$(PREFIX)/share/man/man7
	$(foreach folder,$(sql_folders),install -m 644 $(wildcard report/$(folder)/*.sql) $(DESTDIR)$(PREFIX)/share/prof/$(folder) &&) :
	cd $(DESTDIR)$(PREFIX) && for program in $(programs); do \
		bin/$$program --completion=bash > share/bash-completion/completions/$$program && \
		bin/$$program --completion=zsh > $(ZSHDIR)/_$$program && \
		bin/$$program --completion=fish > share/fish/vendor_completions.d/$$program.fish || exit; done
	$(foreach unit,$(units),sed 's|@PREFIX@|$(PREFIX)|g' .ci/packaging/$(unit).in > $(DESTDIR)$(PREFIX)/$(UNITDIR)/$(unit) &&) :

## install-library: install libprf, its headers, manual page and libprf.pc likewise
install-library: $(library)
	install -d $(addprefix $(DESTDIR)$(PREFIX)/,include/prf $(LIBDIR)/pkgconfig share/man/man3)
	sed 's|"common/error.h"|"prf/error.h"|' format/prf.h > $(DESTDIR)$(PREFIX)/include/prf/prf.h
	install -m 644 common/error.h $(DESTDIR)$(PREFIX)/include/prf
	install -m 755 $(BUILD)/libprf.so.1 $(DESTDIR)$(PREFIX)/$(LIBDIR)
	install -m 644 $(BUILD)/libprf.a $(DESTDIR)$(PREFIX)/$(LIBDIR)
	ln -sf libprf.so.1 $(DESTDIR)$(PREFIX)/$(LIBDIR)/libprf.so
	install -m 644 man/prf.3 $(DESTDIR)$(PREFIX)/share/man/man3
	sed 's|@PREFIX@|$(PREFIX)|; s|@LIBDIR@|$(LIBDIR)|; s|@VERSION@|$(VERSION)|' format/libprf.pc.in \
		> $(DESTDIR)$(PREFIX)/$(LIBDIR)/pkgconfig/libprf.pc

## uninstall: remove what install and install-library put there
uninstall:
	rm -rf $(DESTDIR)$(PREFIX)/include/prf $(DESTDIR)$(PREFIX)/share/prof
	rm -f $(addprefix $(DESTDIR)$(PREFIX)/,$(addprefix $(LIBDIR)/,libprf.so.1 libprf.so libprf.a pkgconfig/libprf.pc) \
		share/man/man3/prf.3)
	rm -f $(addprefix $(DESTDIR)$(PREFIX)/bin/,$(programs) prof-ship) \
		$(DESTDIR)$(PREFIX)/include/prof_bench.h $(DESTDIR)$(PREFIX)/lib/libprof_bench.a \
		$(addprefix $(DESTDIR)$(PREFIX)/share/man/man1/,$(notdir $(wildcard man/*.1))) \
		$(addprefix $(DESTDIR)$(PREFIX)/share/man/man5/,$(notdir $(wildcard man/*.5))) \
		$(addprefix $(DESTDIR)$(PREFIX)/share/man/man7/,$(notdir $(wildcard man/*.7))) \
		$(addprefix $(DESTDIR)$(PREFIX)/$(UNITDIR)/,$(units)) \
		$(foreach program,$(programs),$(addprefix $(DESTDIR)$(PREFIX)/,share/bash-completion/completions/$(program) \
		$(ZSHDIR)/_$(program) share/fish/vendor_completions.d/$(program).fish))

## dist: the sources of this version as build/prof-VERSION.tar.xz
dist:
	@mkdir -p $(BUILD)
	git archive --format=tar --prefix=prof-$(VERSION)/ HEAD | xz -9 > $(BUILD)/prof-$(VERSION).tar.xz

## deb: packages for this Debian or Ubuntu, in build/deb (needs devscripts' tools: see .ci/debian)
deb:
	$(Q)BUILD='$(abspath $(BUILD))' VERSION='$(VERSION)' .ci/deb

## rpm: packages for this Fedora or another distribution that has rpmbuild, in build/rpm
rpm: dist
	rpmbuild -bb $(RPM_FLAGS) --define '_topdir $(abspath $(BUILD))/rpm' --define '_sourcedir $(abspath $(BUILD))' \
		.ci/packaging/prof.spec

## clean: remove the build folder
clean:
	rm -rf $(BUILD)

## help: list the targets
help:
	@sed -n 's/^## \([a-z-]*\): /  \1\t/p' Makefile

-include $(shell find $(BUILD) -type f -name '*.d' 2>/dev/null)

endif
