# Tests speak TAP: CUnit programs under unit/, shell scripts beside them.  All
# are named *.t.
TEST_EXTENSIONS = .t
T_LOG_DRIVER = env AM_TAP_AWK='$(AWK)' $(SHELL) $(top_srcdir)/build-aux/tap-driver.sh
AM_T_LOG_DRIVER_FLAGS = --merge

# CSCOPE: the program, by way of seeded.c.  CS_PROGRAM: itself.  MPIRUN: `$MPIRUN N PROGRAM ARGUMENT...`.  FAKE: folder of
# the test doubles.  FORBID: forbid.c.  SLOWEXIT, SLOWNET: slowexit.c, slownet.c.  STORAGE: storage.c.  TESTDATA: folder of this file.  MANDIR: where manual pages are
# built.  HAVE_CUDA: 1 or empty.  CUDA_INCLUDE: folder of cuda.h, or empty.  PYTHON: one with jsonschema, or empty.
AM_TESTS_ENVIRONMENT = \
	LC_ALL=C; export LC_ALL; \
	CSCOPE='$(abs_top_builddir)/%D%/program/cscope-mpi$(EXEEXT)'; export CSCOPE; \
	CS_PROGRAM='$(abs_top_builddir)/cscope-mpi$(EXEEXT)'; export CS_PROGRAM; \
	MPIRUN='$(abs_top_srcdir)/%D%/mpi-run'; export MPIRUN; \
	CS_LAUNCHER='$(LAUNCHER)'; export CS_LAUNCHER; \
	FAKE='$(abs_top_builddir)/%D%/fake'; export FAKE; \
	FORBID='$(abs_top_builddir)/%D%/forbid'; export FORBID; \
	SLOWEXIT='$(abs_top_builddir)/%D%/slowexit.so'; export SLOWEXIT; \
	SLOWNET='$(abs_top_builddir)/%D%/slownet.so'; export SLOWNET; \
	STORAGE='$(abs_top_builddir)/%D%/storage'; export STORAGE; \
	TESTDATA='$(abs_top_srcdir)/%D%'; export TESTDATA; \
	MANDIR='$(abs_top_builddir)/doc'; export MANDIR; \
	HAVE_CUDA='$(CS_HAVE_CUDA)'; export HAVE_CUDA; \
	NVCC='$(NVCC)'; export NVCC; \
	CC='$(CC)'; export CC; \
	CUDA_INCLUDE='$(CUDA_INCLUDE)'; export CUDA_INCLUDE; \
	PYTHON='$(PYTHON)'; export PYTHON; \
	CS_NO_GPU='$(abs_top_builddir)/%D%/no-gpu'; export CS_NO_GPU; \
	CS_KNOWN=none; export CS_KNOWN; \
	CS_TEST_ROOT=$$CS_NO_GPU; export CS_TEST_ROOT; \
	CS_LIBCUDA=/nowhere/libcuda.so.1; export CS_LIBCUDA; \
	CS_LIBNVML=/nowhere/libnvidia-ml.so.1; export CS_LIBNVML; \
	unset CUDA_VISIBLE_DEVICES NVIDIA_VISIBLE_DEVICES NVIDIA_DRIVER_CAPABILITIES; \
	HWLOC_COMPONENTS=-linux:pci,-pci; export HWLOC_COMPONENTS;

# This machine as one without GPUs, whatever it has: its driver is not found, its PCI bus
# not looked at (HWLOC_COMPONENTS), and files that describe it are those of a folder
# where NVIDIA's are missing.  A test that wants some describes a machine of its own.
check_DATA = %D%/no-gpu/made
%D%/no-gpu/made:
	@rm -rf %D%/no-gpu && mkdir -p %D%/no-gpu/proc %D%/no-gpu/sys %D%/no-gpu/dev
	@for file in proc/self proc/sys proc/meminfo proc/cmdline sys/bus sys/class sys/devices \
		sys/fs sys/kernel dev/shm; do ln -s /$$file %D%/no-gpu/$$file; done
	@touch $@

check_PROGRAMS += %D%/program/cscope-mpi
%C%_program_cscope_mpi_LDADD =
%C%_program_cscope_mpi_SOURCES = %D%/seeded.c

# Seeded noise of known median, for simulations and the driver's double.
NOISE = %D%/noise.c %D%/noise.h
FLEET = %D%/fleet.c %D%/fleet.h %D%/unit/canned.h
NETSIM = %D%/netsim.c %D%/netsim.h %D%/noise.c %D%/noise.h

# What tests link with that say nothing else.
LDADD = $(TAP) $(CS_LINK) $(CUNIT_LIBS)

include tests/unit/local.mk
include tests/fuzz/local.mk
include tests/fake/local.mk
include tests/bench/local.mk

# ---- a filter of system calls, for tests/run/hostile.t ----
check_PROGRAMS += %D%/forbid
%C%_forbid_LDADD =
%C%_forbid_SOURCES = %D%/forbid.c

# ---- storage that fails, for tests/run/storage.t ----
check_PROGRAMS += %D%/storage
%C%_storage_LDADD =
%C%_storage_SOURCES = %D%/storage.c

# ---- a message of which only the head comes, for tests/run/nodes.t ----
check_PROGRAMS += %D%/halfway
%C%_halfway_CPPFLAGS = $(AM_CPPFLAGS) $(MPI_CFLAGS)
%C%_halfway_SOURCES = %D%/halfway.c

# ---- processes that end slowly, for tests/run/stalls.t ----
check_PROGRAMS += %D%/slowexit.so
%C%_slowexit_so_CFLAGS = $(fake_cflags)
%C%_slowexit_so_LDFLAGS = $(fake_ldflags)
%C%_slowexit_so_LDADD =
%C%_slowexit_so_SOURCES = %D%/slowexit.c

# ---- a network of known rate, for tests/run/between.t ----
check_PROGRAMS += %D%/slownet.so
%C%_slownet_so_CPPFLAGS = $(AM_CPPFLAGS) $(MPI_CFLAGS)
%C%_slownet_so_CFLAGS = $(fake_cflags)
%C%_slownet_so_LDFLAGS = $(fake_ldflags)
%C%_slownet_so_LDADD = $(MPI_LIBS)
%C%_slownet_so_SOURCES = %D%/slownet.c

# ---- one test, without building what it does not need: make tests/unit/plan.test ----
SUFFIXES = .t .test
TEST_TOOLS = %D%/program/cscope-mpi %D%/forbid %D%/halfway %D%/storage %D%/slowexit.so \
	%D%/slownet.so $(FAKE_DRIVERS)
.t.test:
	@$(MAKE) $(AM_MAKEFLAGS) check TESTS=$*.t check_PROGRAMS='$(TEST_TOOLS)' || \
		{ grep -A20 '^not ok' $*.log; exit 1; }

# ---- whole-program tests and the rules of the house ----
# The longest first, so that none of them is left alone at the end.
SHELL_TESTS = \
	%D%/lint.t \
	%D%/run/prolog.t \
	%D%/run/between.t \
	%D%/run/health.t \
	%D%/run/via.t \
	%D%/run/torture.t \
	%D%/run/between_gpu.t \
	%D%/run/storage.t \
	%D%/run/onegpu.t \
	%D%/run/placement.t \
	%D%/run/model.t \
	%D%/run/host.t \
	%D%/run/unified.t \
	%D%/run/faults.t \
	%D%/run/files.t \
	%D%/run/width.t \
	%D%/run/schedule.t \
	%D%/run/fleet.t \
	%D%/run/launch.t \
	%D%/run/kernels.t \
	%D%/run/system.t \
	%D%/run/html.t \
	%D%/docs.t \
	%D%/run/nodes.t \
	%D%/run/timeline.t \
	%D%/run/healthy.t \
	%D%/run/stalls.t \
	%D%/run/judge.t \
	%D%/run/gpu.t \
	%D%/run/faults-found.t \
	%D%/run/hostile.t \
	%D%/run/signals.t \
	%D%/run/soak.t \
	%D%/run/trends.t \
	%D%/abi.t \
	%D%/device-code.t \
	%D%/layers.t \
	%D%/man.t \
	%D%/quickstart.t \
	%D%/golden/run.t \
	%D%/run/article.t \
	%D%/run/commands.t \
	%D%/run/commscope-names.t \
	%D%/run/commscope.t \
	%D%/run/compare.t \
	%D%/run/calls.t \
	%D%/run/costs.t \
	%D%/run/cpu.t \
	%D%/run/data.t \
	%D%/run/faults-differ.t \
	%D%/run/findings.t \
	%D%/run/known.t \
	%D%/run/launcher.t \
	%D%/run/launchers.t \
	%D%/run/nvbandwidth.t \
	%D%/run/nvbandwidth_line.t \
	%D%/run/outputs.t \
	%D%/run/plan.t \
	%D%/run/shapes.t \
	%D%/run/sweep.t \
	%D%/run/texts.t \
	%D%/run/topology.t \
	%D%/run/usage.t \
	%D%/run/variants.t \
	%D%/run/views.t
TESTS += $(SHELL_TESTS)
dist_check_SCRIPTS += \
	$(SHELL_TESTS) \
	%D%/run/threads.t \
	%D%/cluster/cluster.t \
	%D%/cluster/net.t \
	%D%/cluster/rsh \
	%D%/cluster/task \
	%D%/mpi-run \
	%D%/patience \
	%D%/schema-check \
	%D%/torture.py \
	%D%/html/check.sh \
	%D%/html/look.py \
	%D%/html/read.js \
	%D%/network.py \
	%D%/page.py \
	%D%/views.py \
	%D%/wrappers.py
EXTRA_DIST += \
	%D%/README.md \
	%D%/bench/README.md \
	%D%/cluster/README.md \
	%D%/fixtures/README.md \
	%D%/fuzz/README.md \
	%D%/golden/README.md \
	%D%/run/README.md \
	%D%/unit/README.md \
	%D%/bench/compare.py \
	%D%/bench/kills \
	%D%/bench/race \
	%D%/bench/grow.py \
	%D%/bench/rows.py \
	%D%/cluster/cluster.sh \
	%D%/cppcheck.cfg \
	%D%/cppcheck.suppress \
	%D%/fake/README.md \
	%D%/rules \
	%D%/fixtures \
	%D%/fuzz/corpus \
	%D%/golden \
	%D%/matrix \
	%D%/packages/lib.sh \
	%D%/run/lib.sh \
	%D%/run/moves.sh \
	%D%/tap.sh \
	%D%/validator.py

clean-local:
	rm -rf %D%/fuzz/libfuzzer %D%/no-gpu

# golden/ and fixtures/ go as they are; logs of a build in the source tree stay.
dist-hook:
	rm -f $(distdir)/%D%/golden/*.log $(distdir)/%D%/golden/*.trs

# ---- other builds of the same sources ----

# For work: errors of memory and undefined behaviour end the program.
dev:
	@$(MKDIR_P) dev
	@cd dev && { test -f Makefile || $(abs_top_srcdir)/configure -q --enable-werror \
		--enable-sanitize=address,undefined CFLAGS='-g -O1'; }
	$(MAKE) -C dev $(AM_MAKEFLAGS)

# The unit tests alone, as fast as they are built.
check-units:
	$(MAKE) $(AM_MAKEFLAGS) check-TESTS TESTS='$(UNIT_TESTS) $(UNIT_CUDA_TESTS)' \
		check_PROGRAMS='$(UNIT_TESTS) $(UNIT_CUDA_TESTS) $(FAKE_DRIVERS)'

# The same by the other compiler, and with its sanitizers.  The kernels are no others:
# what nvcc has made here is taken, for it is slow.
check-clang:
	@$(MKDIR_P) clang/kernels
	@cd clang && { test -f Makefile || $(abs_top_srcdir)/configure -q --enable-werror \
		CC=$(CLANG) --enable-sanitize=address,undefined CFLAGS='-g -O0' \
		$(if $(CS_HAVE_CUDA),,--without-cuda); }
	@test ! -f kernels/kernels.fatbin || { $(MAKE) $(AM_MAKEFLAGS) kernels/kernels.c && \
		cp -u kernels/kernels.fatbin kernels/kernels.c clang/kernels; }
	$(MAKE) -C clang $(AM_MAKEFLAGS) check-units

# What has threads, with ThreadSanitizer.  Without a launcher: Open MPI has races of its own.
# The double's handler of SIGSEGV runs at a fault that its own page has caused, and may call
# what is not safe in other handlers.
THREAD_UNITS = %D%/unit/cpu_transfer.t %D%/unit/hostmem.t %D%/unit/host_fill_check.t %D%/unit/node.t \
	%D%/unit/workers.t $(UNIT_CUDA_TESTS)
check-races:
	TSAN_OPTIONS=report_signal_unsafe=0 $(MAKE) $(AM_MAKEFLAGS) check \
		TESTS='$(THREAD_UNITS) %D%/run/threads.t' \
		check_PROGRAMS='$(THREAD_UNITS) $(TEST_TOOLS)'

check-threads:
	@$(MKDIR_P) threads
	@cd threads && { test -f Makefile || $(abs_top_srcdir)/configure -q --enable-werror \
		--enable-sanitize=thread CFLAGS='-g -O1' \
		$(if $(CS_HAVE_CUDA),,--without-cuda); }
	$(MAKE) -C threads $(AM_MAKEFLAGS)
	$(MAKE) -C threads $(AM_MAKEFLAGS) check-races

# Lines that no test runs.  What a process that is killed ran is not counted.
coverage:
	@$(MKDIR_P) coverage
	@cd coverage && { test -f Makefile || $(abs_top_srcdir)/configure -q \
		CFLAGS='-g -O0 --coverage'; }
	$(MAKE) -C coverage $(AM_MAKEFLAGS) check || :
	cd coverage && gcovr -r $(abs_top_srcdir) --filter '.*/src/' --print-summary \
		--html-details src.html --sort-uncovered .

check-html: all
	$(SHELL) -c 'bash $(srcdir)/%D%/html/check.sh ./cscope-mpi$(EXEEXT) $(srcdir)/doc/results html-pictures'

# The builds that are promised beside this one: an hour.  MATRIX='mpich release' chooses.
check-matrix:
	$(abs_top_srcdir)/%D%/matrix $(MATRIX)
.PHONY: dev check-units check-races check-threads check-clang coverage check-html check-matrix

# ---- several hosts and a real Slurm on this machine, as root: not in `make check` ----
check-cluster:
	$(MAKE) $(AM_MAKEFLAGS) check TESTS='%D%/cluster/cluster.t %D%/cluster/net.t' \
		check_PROGRAMS='$(TEST_TOOLS)'
.PHONY: check-cluster

# ---- the long runs of tests/torture.py: minutes ----
check-torture: cs_torture_parts = fail hang data death
check-kill: cs_torture_parts = kill
check-torture check-kill: all
	$(MAKE) $(AM_MAKEFLAGS) $(check_PROGRAMS)
	$(AM_TESTS_ENVIRONMENT) CS_TORTURE=full $(SHELL) -c \
		'for part; do $(abs_top_srcdir)/%D%/run/torture.t $$part || exit; done' \
		torture $(cs_torture_parts)

# Without the driver's double, which hands bad addresses to the kernel by intent.
check-valgrind: all
	$(MAKE) $(AM_MAKEFLAGS) check TESTS='$(UNIT_TESTS)' \
		T_LOG_COMPILER='valgrind -q --fair-sched=yes --leak-check=full \
		--errors-for-leak-kinds=definite --error-exitcode=9'
.PHONY: check-torture check-kill check-valgrind
