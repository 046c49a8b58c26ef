# Tests speak TAP: CUnit programs under unit/, shell scripts beside them.  All
# are named *.t.
TEST_EXTENSIONS = .t
T_LOG_DRIVER = env AM_TAP_AWK='$(AWK)' $(SHELL) $(top_srcdir)/build-aux/tap-driver.sh
AM_T_LOG_DRIVER_FLAGS = --merge

# CSCOPE: the program, by way of seeded.c.  CS_PROGRAM: itself.  MPIRUN: `$MPIRUN N PROGRAM ARGUMENT...`.  FAKE: folder of
# the test doubles.  FORBID: forbid.c.  TESTDATA: folder of this file.  MANDIR: where manual pages are
# built.  HAVE_CUDA: 1 or empty.  CUDA_INCLUDE: folder of cuda.h, or empty.  PYTHON: one with jsonschema, or empty.
AM_TESTS_ENVIRONMENT = \
	LC_ALL=C; export LC_ALL; \
	CSCOPE='$(abs_top_builddir)/%D%/program/cscope-mpi$(EXEEXT)'; export CSCOPE; \
	CS_PROGRAM='$(abs_top_builddir)/cscope-mpi$(EXEEXT)'; export CS_PROGRAM; \
	MPIRUN='$(abs_top_srcdir)/%D%/mpi-run'; export MPIRUN; \
	CS_LAUNCHER='$(LAUNCHER)'; export CS_LAUNCHER; \
	FAKE='$(abs_top_builddir)/%D%/fake'; export FAKE; \
	FORBID='$(abs_top_builddir)/%D%/forbid'; export FORBID; \
	TESTDATA='$(abs_top_srcdir)/%D%'; export TESTDATA; \
	MANDIR='$(abs_top_builddir)/doc'; export MANDIR; \
	HAVE_CUDA='$(CS_HAVE_CUDA)'; export HAVE_CUDA; \
	NVCC='$(NVCC)'; export NVCC; \
	CC='$(CC)'; export CC; \
	CUDA_INCLUDE='$(CUDA_INCLUDE)'; export CUDA_INCLUDE; \
	PYTHON='$(PYTHON)'; export PYTHON; \
	CS_NO_GPU='$(abs_top_builddir)/%D%/no-gpu'; export CS_NO_GPU; \
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

# ---- unit tests ----
if HAVE_CUNIT
UNIT_TESTS = \
	%D%/unit/action.t \
	%D%/unit/alias.t \
	%D%/unit/assign.t \
	%D%/unit/budget.t \
	%D%/unit/carry.t \
	%D%/unit/catalogue.t \
	%D%/unit/chain.t \
	%D%/unit/cells.t \
	%D%/unit/check.t \
	%D%/unit/collect.t \
	%D%/unit/compare.t \
	%D%/unit/cpu.t \
	%D%/unit/explain.t \
	%D%/unit/fields.t \
	%D%/unit/fill.t \
	%D%/unit/finding.t \
	%D%/unit/fingerprint.t \
	%D%/unit/fit.t \
	%D%/unit/fleet.t \
	%D%/unit/flush.t \
	%D%/unit/fma.t \
	%D%/unit/shape.t \
	%D%/unit/gpulist.t \
	%D%/unit/hints.t \
	%D%/unit/instance.t \
	%D%/unit/hostlist.t \
	%D%/unit/hostmem.t \
	%D%/unit/hostpass.t \
	%D%/unit/judge.t \
	%D%/unit/launcher.t \
	%D%/unit/loaded.t \
	%D%/unit/merge.t \
	%D%/unit/node.t \
	%D%/unit/nvml.t \
	%D%/unit/options.t \
	%D%/unit/output.t \
	%D%/unit/pci.t \
	%D%/unit/places.t \
	%D%/unit/plan.t \
	%D%/unit/planfile.t \
	%D%/unit/pool.t \
	%D%/unit/print.t \
	%D%/unit/quant.t \
	%D%/unit/report.t \
	%D%/unit/rng.t \
	%D%/unit/row.t \
	%D%/unit/sampler.t \
	%D%/unit/inventory.t \
	%D%/unit/scale.t \
	%D%/unit/stats.t \
	%D%/unit/student.t \
	%D%/unit/topo.t \
	%D%/unit/turns.t \
	%D%/unit/units.t \
	%D%/unit/vec.t \
	%D%/unit/versus.t \
	%D%/unit/vote.t \
	%D%/unit/workers.t
if HAVE_CUDA
UNIT_CUDA_TESTS = \
	%D%/unit/cuda.t \
	%D%/unit/fake.t \
	%D%/unit/um.t \
	%D%/unit/umlies.t
endif
check_PROGRAMS += $(UNIT_TESTS) $(UNIT_CUDA_TESTS)
TESTS += $(UNIT_TESTS) $(UNIT_CUDA_TESTS)

check_LIBRARIES += %D%/unit/libtap.a
%C%_unit_libtap_a_CPPFLAGS = $(AM_CPPFLAGS) $(CUNIT_CFLAGS)
%C%_unit_libtap_a_SOURCES = \
	%D%/unit/tap.c \
	%D%/unit/tap.h

LDADD = %D%/unit/libtap.a $(CS_LINK) $(CUNIT_LIBS)

%C%_unit_action_t_SOURCES = %D%/unit/test_action.c %D%/unit/canned.h
%C%_unit_alias_t_SOURCES = %D%/unit/test_alias.c
%C%_unit_assign_t_SOURCES = %D%/unit/test_assign.c
%C%_unit_budget_t_SOURCES = %D%/unit/test_budget.c %D%/unit/canned.h
%C%_unit_carry_t_SOURCES = %D%/unit/test_carry.c %D%/unit/node.h
%C%_unit_catalogue_t_SOURCES = %D%/unit/test_catalogue.c
%C%_unit_chain_t_SOURCES = %D%/unit/test_chain.c
%C%_unit_cells_t_SOURCES = %D%/unit/test_cells.c %D%/unit/canned.h
%C%_unit_check_t_SOURCES = %D%/unit/test_check.c %D%/unit/canned.h
%C%_unit_collect_t_SOURCES = %D%/unit/test_collect.c
%C%_unit_compare_t_SOURCES = %D%/unit/test_compare.c
%C%_unit_cpu_t_SOURCES = %D%/unit/test_cpu.c
%C%_unit_cuda_t_SOURCES = %D%/unit/test_cuda.c
%C%_unit_explain_t_SOURCES = %D%/unit/test_explain.c
%C%_unit_fake_t_SOURCES = %D%/unit/test_fake.c %D%/unit/story.h
%C%_unit_fill_t_SOURCES = %D%/unit/test_fill.c
%C%_unit_finding_t_SOURCES = %D%/unit/test_finding.c
%C%_unit_fingerprint_t_SOURCES = %D%/unit/test_fingerprint.c %D%/unit/canned.h
%C%_unit_fit_t_SOURCES = %D%/unit/test_fit.c
%C%_unit_fleet_t_SOURCES = %D%/unit/test_fleet.c $(FLEET)
%C%_unit_flush_t_SOURCES = %D%/unit/test_flush.c
%C%_unit_fma_t_SOURCES = %D%/unit/test_fma.c
%C%_unit_shape_t_SOURCES = %D%/unit/test_shape.c
%C%_unit_gpulist_t_SOURCES = %D%/unit/test_gpulist.c
%C%_unit_hints_t_SOURCES = %D%/unit/test_hints.c
%C%_unit_instance_t_SOURCES = %D%/unit/test_instance.c
%C%_unit_hostlist_t_SOURCES = %D%/unit/test_hostlist.c
%C%_unit_hostmem_t_SOURCES = %D%/unit/test_hostmem.c %D%/unit/root.h
%C%_unit_hostpass_t_SOURCES = %D%/unit/test_hostpass.c
%C%_unit_judge_t_SOURCES = %D%/unit/test_judge.c %D%/unit/canned.h $(NOISE)
%C%_unit_launcher_t_SOURCES = %D%/unit/test_launcher.c
%C%_unit_fields_t_CPPFLAGS = $(AM_CPPFLAGS) $(JANSSON_CFLAGS)
%C%_unit_fields_t_SOURCES = %D%/unit/test_fields.c %D%/unit/canned.h
%C%_unit_loaded_t_CPPFLAGS = $(AM_CPPFLAGS) $(JANSSON_CFLAGS)
%C%_unit_loaded_t_SOURCES = %D%/unit/test_loaded.c %D%/unit/canned.h
%C%_unit_merge_t_SOURCES = %D%/unit/test_merge.c %D%/unit/canned.h
%C%_unit_node_t_SOURCES = %D%/unit/test_node.c %D%/unit/node.h
%C%_unit_nvml_t_SOURCES = %D%/unit/test_nvml.c
%C%_unit_options_t_SOURCES = %D%/unit/test_options.c $(CS_OPTIONS)
%C%_unit_output_t_SOURCES = %D%/unit/test_output.c %D%/unit/canned.h
%C%_unit_pci_t_SOURCES = %D%/unit/test_pci.c %D%/unit/root.h
%C%_unit_places_t_SOURCES = %D%/unit/test_places.c
%C%_unit_plan_t_SOURCES = %D%/unit/test_plan.c
%C%_unit_planfile_t_SOURCES = %D%/unit/test_planfile.c
%C%_unit_pool_t_SOURCES = %D%/unit/test_pool.c %D%/unit/canned.h
%C%_unit_print_t_CPPFLAGS = $(AM_CPPFLAGS) $(JANSSON_CFLAGS)
%C%_unit_print_t_SOURCES = %D%/unit/test_print.c
%C%_unit_quant_t_SOURCES = %D%/unit/test_quant.c
%C%_unit_report_t_CPPFLAGS = $(AM_CPPFLAGS) $(JANSSON_CFLAGS)
%C%_unit_report_t_SOURCES = %D%/unit/test_report.c %D%/unit/canned.h
%C%_unit_rng_t_SOURCES = %D%/unit/test_rng.c
%C%_unit_row_t_SOURCES = %D%/unit/test_row.c
%C%_unit_sampler_t_SOURCES = %D%/unit/test_sampler.c $(NOISE)
%C%_unit_inventory_t_SOURCES = %D%/unit/test_inventory.c
%C%_unit_scale_t_SOURCES = %D%/unit/test_scale.c
%C%_unit_stats_t_SOURCES = %D%/unit/test_stats.c
%C%_unit_student_t_SOURCES = %D%/unit/test_student.c
%C%_unit_topo_t_SOURCES = %D%/unit/test_topo.c
%C%_unit_turns_t_SOURCES = %D%/unit/test_turns.c
%C%_unit_um_t_SOURCES = %D%/unit/test_um.c %D%/unit/managed.h %D%/unit/story.h
%C%_unit_umlies_t_SOURCES = %D%/unit/test_umlies.c %D%/unit/managed.h %D%/unit/story.h
%C%_unit_units_t_SOURCES = %D%/unit/test_units.c
%C%_unit_vec_t_SOURCES = %D%/unit/test_vec.c
%C%_unit_versus_t_SOURCES = %D%/unit/test_versus.c %D%/unit/canned.h
%C%_unit_vote_t_SOURCES = %D%/unit/test_vote.c %D%/unit/canned.h
%C%_unit_workers_t_SOURCES = %D%/unit/test_workers.c
endif

# ---- fuzz targets: their seeds with `make check`, libFuzzer with `make fuzz` ----
FUZZ_TESTS = \
	%D%/fuzz/argv.t \
	%D%/fuzz/baseline.t \
	%D%/fuzz/check.t \
	%D%/fuzz/gpulist.t \
	%D%/fuzz/json.t \
	%D%/fuzz/jsonl.t \
	%D%/fuzz/launcher.t \
	%D%/fuzz/output.t \
	%D%/fuzz/plan.t \
	%D%/fuzz/planfile.t \
	%D%/fuzz/sampler.t \
	%D%/fuzz/show.t \
	%D%/fuzz/stats.t \
	%D%/fuzz/tests.t \
	%D%/fuzz/threshold.t \
	%D%/fuzz/units.t
check_PROGRAMS += $(FUZZ_TESTS)
TESTS += $(FUZZ_TESTS)
FUZZ_REPLAY = %D%/fuzz/replay.c %D%/fuzz/fuzz.h
FUZZ_WHOLE = %D%/fuzz/whole.h %D%/fuzz/page.h %D%/fuzz/values.h $(FUZZ_REPLAY) $(CS_COMMANDS)

%C%_fuzz_argv_t_LDADD = $(CS_LINK)
%C%_fuzz_argv_t_SOURCES = %D%/fuzz/fuzz_argv.c $(FUZZ_REPLAY) $(CS_OPTIONS)
%C%_fuzz_baseline_t_LDADD = $(CS_LINK)
%C%_fuzz_baseline_t_SOURCES = %D%/fuzz/fuzz_baseline.c $(FUZZ_REPLAY)
%C%_fuzz_check_t_CPPFLAGS = $(AM_CPPFLAGS) $(JANSSON_CFLAGS)
%C%_fuzz_check_t_LDADD = $(CS_LINK)
%C%_fuzz_check_t_SOURCES = %D%/fuzz/fuzz_check.c $(FUZZ_WHOLE)
%C%_fuzz_gpulist_t_LDADD = $(CS_LINK)
%C%_fuzz_gpulist_t_SOURCES = %D%/fuzz/fuzz_gpulist.c $(FUZZ_REPLAY)
%C%_fuzz_json_t_LDADD = $(CS_LINK)
%C%_fuzz_json_t_CPPFLAGS = $(AM_CPPFLAGS) $(JANSSON_CFLAGS)
%C%_fuzz_json_t_SOURCES = \
	%D%/fuzz/fuzz_json.c \
	%D%/fuzz/loaded.h \
	%D%/fuzz/values.h \
	$(FUZZ_REPLAY)
%C%_fuzz_jsonl_t_LDADD = $(CS_LINK)
%C%_fuzz_jsonl_t_CPPFLAGS = $(AM_CPPFLAGS) $(JANSSON_CFLAGS)
%C%_fuzz_jsonl_t_SOURCES = \
	%D%/fuzz/fuzz_jsonl.c \
	%D%/fuzz/loaded.h \
	%D%/fuzz/values.h \
	$(FUZZ_REPLAY)
%C%_fuzz_launcher_t_LDADD = $(CS_LINK)
%C%_fuzz_launcher_t_SOURCES = %D%/fuzz/fuzz_launcher.c $(FUZZ_REPLAY)
%C%_fuzz_output_t_LDADD = $(CS_LINK)
%C%_fuzz_output_t_SOURCES = %D%/fuzz/fuzz_output.c $(FUZZ_REPLAY)
%C%_fuzz_plan_t_LDADD = $(CS_LINK)
%C%_fuzz_plan_t_SOURCES = %D%/fuzz/fuzz_plan.c $(FUZZ_REPLAY)
%C%_fuzz_planfile_t_LDADD = $(CS_LINK)
%C%_fuzz_planfile_t_SOURCES = %D%/fuzz/fuzz_planfile.c $(FUZZ_REPLAY)
%C%_fuzz_sampler_t_LDADD = $(CS_LINK)
%C%_fuzz_sampler_t_SOURCES = %D%/fuzz/fuzz_sampler.c $(FUZZ_REPLAY)
%C%_fuzz_show_t_CPPFLAGS = $(AM_CPPFLAGS) $(JANSSON_CFLAGS)
%C%_fuzz_show_t_LDADD = $(CS_LINK)
%C%_fuzz_show_t_SOURCES = %D%/fuzz/fuzz_show.c $(FUZZ_WHOLE)
%C%_fuzz_stats_t_LDADD = $(CS_LINK)
%C%_fuzz_stats_t_SOURCES = %D%/fuzz/fuzz_stats.c $(FUZZ_REPLAY)
%C%_fuzz_tests_t_LDADD = $(CS_LINK)
%C%_fuzz_tests_t_SOURCES = %D%/fuzz/fuzz_tests.c $(FUZZ_REPLAY)
%C%_fuzz_threshold_t_LDADD = $(CS_LINK)
%C%_fuzz_threshold_t_SOURCES = %D%/fuzz/fuzz_threshold.c $(FUZZ_REPLAY)
%C%_fuzz_units_t_LDADD = $(CS_LINK)
%C%_fuzz_units_t_SOURCES = %D%/fuzz/fuzz_units.c $(FUZZ_REPLAY)

# Straight from the sources, all of them instrumented; what libFuzzer keeps lies
# in the build tree and is taken up again by the next run.  Files of runs are long, and
# real ones are seeds too.
CLANG = clang
FUZZ_RUNS = 1000000
FUZZ_SECONDS = 600
FUZZ_NAMES = argv baseline check gpulist json jsonl launcher output plan planfile sampler \
	show stats tests threshold units
FUZZ_FLAGS = -std=gnu11 -g -O1 -fno-sanitize-recover=all -DCS_WINDOW=64 -I. -I$(top_srcdir)/src \
	$(JANSSON_CFLAGS) -fsanitize=address,undefined
FUZZ_OF = base/* plan/* result/* check/*/* file/* report/* report/html/* options/* \
	node/sampler node/stage node/board job/launcher job/placement \
	command/baseline command/check command/compare command/criteria command/readers \
	command/shared command/show
fuzz:
	@dir='%D%/fuzz/libfuzzer'; $(MKDIR_P) $$dir/objects || exit 1; \
	for of in $(FUZZ_OF); do for file in $(top_srcdir)/src/$$of.c; do \
		object=$$dir/objects/`echo "$$file" | sed 's|.*/src/||; s|/|-|g'`.o; \
		$(CLANG) $(FUZZ_FLAGS) -fsanitize=fuzzer-no-link -c -o $$object $$file || \
			exit 1; \
	done; done; \
	rm -f $$dir/objects.a && $(AR) cr $$dir/objects.a $$dir/objects/*.o || exit 1; \
	for name in $(FUZZ_NAMES); do \
		seeds='$(srcdir)/%D%/fuzz/corpus/'$$name; most=300; \
		case $$name in \
		check | json* | show) seeds="$$seeds $(top_srcdir)/doc/results"; most=65536 ;; \
		esac; \
		echo "fuzz $$name: $(FUZZ_RUNS) runs or $(FUZZ_SECONDS) s"; \
		$(MKDIR_P) $$dir/$$name && \
		$(CLANG) $(FUZZ_FLAGS) -fsanitize=fuzzer -o $$dir/fuzz_$$name \
			$(srcdir)/%D%/fuzz/fuzz_$$name.c $$dir/objects.a \
			$(JANSSON_LIBS) -lm && \
		$$dir/fuzz_$$name -runs=$(FUZZ_RUNS) -max_total_time=$(FUZZ_SECONDS) \
			-max_len=$$most -verbosity=0 \
			-artifact_prefix=$$dir/$$name- $$dir/$$name $$seeds || exit 1; \
	done
clean-local:
	rm -rf %D%/fuzz/libfuzzer %D%/no-gpu
.PHONY: fuzz

# ---- the driver's doubles: the program opens them instead of the real ones ----
# Shared objects, which automake builds as programs: there is no libtool here.
# No sanitizer: the program that opens them may have none.
fake_cflags = $(WARN_CFLAGS) -pthread -fPIC
fake_ldflags = -shared -pthread $(HARD_LDFLAGS)

FAKE_DRIVERS = %D%/fake/libnvidia-ml.so.1
check_PROGRAMS += %D%/fake/libnvidia-ml.so.1
%C%_fake_libnvidia_ml_so_1_CFLAGS = $(fake_cflags)
%C%_fake_libnvidia_ml_so_1_LDFLAGS = $(fake_ldflags) -Wl,-soname,libnvidia-ml.so.1
%C%_fake_libnvidia_ml_so_1_LDADD =
%C%_fake_libnvidia_ml_so_1_SOURCES = \
	%D%/fake/identity.h \
	%D%/fake/nvml.c

if HAVE_CUDA
CS_HAVE_CUDA = 1
FAKE_DRIVERS += %D%/fake/libcuda.so.1
check_PROGRAMS += %D%/fake/libcuda.so.1
%C%_fake_libcuda_so_1_CFLAGS = $(fake_cflags)
%C%_fake_libcuda_so_1_LDFLAGS = $(fake_ldflags) -Wl,-soname,libcuda.so.1
%C%_fake_libcuda_so_1_LDADD = -lm
%C%_fake_libcuda_so_1_SOURCES = \
	src/base/chain.c \
	src/base/fma.c \
	src/base/fma_host.c \
	src/base/rng.c \
	$(NOISE) \
	%D%/fake/calls.c \
	%D%/fake/clock.c \
	%D%/fake/cuda.c \
	%D%/fake/disturb.c \
	%D%/fake/fake.h \
	%D%/fake/identity.h \
	%D%/fake/kernels.c \
	%D%/fake/knobs.c \
	%D%/fake/managed.c \
	%D%/fake/memory.c \
	%D%/fake/queue.c \
	%D%/fake/queue.h \
	%D%/fake/signal.c \
	%D%/fake/stream.c \
	%D%/fake/um.c \
	%D%/fake/vmm.c

check_PROGRAMS += %D%/bench/libkill.so
%C%_bench_libkill_so_CFLAGS = $(fake_cflags)
%C%_bench_libkill_so_LDFLAGS = $(fake_ldflags)
%C%_bench_libkill_so_LDADD =
%C%_bench_libkill_so_SOURCES = %D%/bench/libkill.c
endif

# ---- a filter of system calls, for tests/run/hostile.t ----
check_PROGRAMS += %D%/forbid
%C%_forbid_LDADD =
%C%_forbid_SOURCES = %D%/forbid.c

# ---- a message of which only the head comes, for tests/run/nodes.t ----
check_PROGRAMS += %D%/halfway
%C%_halfway_CPPFLAGS = $(AM_CPPFLAGS) $(MPI_CFLAGS)
%C%_halfway_LDADD = $(CS_LINK)
%C%_halfway_SOURCES = %D%/halfway.c

# ---- benchmarks: built with the tests, run by hand ----
check_PROGRAMS += \
	%D%/bench/bench_collect \
	%D%/bench/bench_coordinator \
	%D%/bench/bench_fleet \
	%D%/bench/bench_plan \
	%D%/bench/bench_start
%C%_bench_bench_collect_LDADD = $(CS_LINK)
%C%_bench_bench_collect_SOURCES = %D%/bench/bench_collect.c
%C%_bench_bench_coordinator_LDADD = $(CS_LINK)
%C%_bench_bench_coordinator_SOURCES = %D%/bench/bench_coordinator.c
check_PROGRAMS += \
	%D%/bench/bench_fill \
	%D%/bench/bench_hostmem \
	%D%/bench/bench_pass
%C%_bench_bench_fill_LDADD = $(CS_LINK)
%C%_bench_bench_fill_SOURCES = %D%/bench/bench_fill.c
%C%_bench_bench_hostmem_LDADD = $(CS_LINK)
%C%_bench_bench_hostmem_SOURCES = %D%/bench/bench_hostmem.c
%C%_bench_bench_pass_LDADD = $(CS_LINK)
%C%_bench_bench_pass_SOURCES = %D%/bench/bench_pass.c
check_PROGRAMS += %D%/bench/bench_sm
%C%_bench_bench_sm_LDADD = src/libcs_backend.a src/libcs_base.a
%C%_bench_bench_sm_SOURCES = %D%/bench/bench_sm.c
%C%_bench_bench_fleet_LDADD = $(CS_LINK)
%C%_bench_bench_fleet_SOURCES = %D%/bench/bench_fleet.c
%C%_bench_bench_plan_LDADD = $(CS_LINK)
%C%_bench_bench_plan_SOURCES = %D%/bench/bench_plan.c
%C%_bench_bench_start_CPPFLAGS = $(AM_CPPFLAGS) $(MPI_CFLAGS)
%C%_bench_bench_start_LDADD = $(MPI_LIBS)
%C%_bench_bench_start_SOURCES = %D%/bench/bench_start.c

# ---- simulations with known truth: a table each, by hand ----
TRUTHS = \
	%D%/bench/truth_baseline \
	%D%/bench/truth_compare \
	%D%/bench/truth_fit \
	%D%/bench/truth_fleet \
	%D%/bench/truth_line \
	%D%/bench/truth_sampler
check_PROGRAMS += $(TRUTHS)
%C%_bench_truth_baseline_LDADD = $(CS_LINK)
%C%_bench_truth_baseline_SOURCES = %D%/bench/truth_baseline.c $(NOISE)
%C%_bench_truth_compare_LDADD = $(CS_LINK)
%C%_bench_truth_compare_SOURCES = %D%/bench/truth_compare.c $(NOISE)
%C%_bench_truth_fit_LDADD = $(CS_LINK)
%C%_bench_truth_fit_SOURCES = %D%/bench/truth_fit.c $(NOISE)
%C%_bench_truth_fleet_LDADD = $(CS_LINK)
%C%_bench_truth_fleet_SOURCES = %D%/bench/truth_fleet.c $(FLEET)
%C%_bench_truth_line_LDADD = $(CS_LINK)
%C%_bench_truth_line_SOURCES = %D%/bench/truth_line.c $(NOISE)
%C%_bench_truth_sampler_LDADD = $(CS_LINK)
%C%_bench_truth_sampler_SOURCES = %D%/bench/truth_sampler.c $(NOISE)

bench-truth: $(TRUTHS)
	@broken=0; for truth in $(TRUTHS); do \
		./$$truth || broken=1; \
	done; exit $$broken
.PHONY: bench-truth

# ---- whole-program tests and the rules of the house ----
# The longest first, so that none of them is left alone at the end.
SHELL_TESTS = \
	%D%/run/via.t \
	%D%/run/placement.t \
	%D%/run/torture.t \
	%D%/run/prolog.t \
	%D%/run/nodes.t \
	%D%/run/system.t \
	%D%/run/unified.t \
	%D%/lint.t \
	%D%/run/schedule.t \
	%D%/run/judge.t \
	%D%/run/launch.t \
	%D%/run/model.t \
	%D%/run/stalls.t \
	%D%/run/gpu.t \
	%D%/run/faults-found.t \
	%D%/run/signals.t \
	%D%/abi.t \
	%D%/device-code.t \
	%D%/docs.t \
	%D%/layers.t \
	%D%/man.t \
	%D%/quickstart.t \
	%D%/golden/run.t \
	%D%/run/article.t \
	%D%/run/commands.t \
	%D%/run/commscope.t \
	%D%/run/compare.t \
	%D%/run/calls.t \
	%D%/run/costs.t \
	%D%/run/cpu.t \
	%D%/run/data.t \
	%D%/run/faults-differ.t \
	%D%/run/faults.t \
	%D%/run/files.t \
	%D%/run/findings.t \
	%D%/run/fleet.t \
	%D%/run/host.t \
	%D%/run/hostile.t \
	%D%/run/html.t \
	%D%/run/kernels.t \
	%D%/run/launcher.t \
	%D%/run/launchers.t \
	%D%/run/nvbandwidth.t \
	%D%/run/onegpu.t \
	%D%/run/outputs.t \
	%D%/run/plan.t \
	%D%/run/shapes.t \
	%D%/run/sweep.t \
	%D%/run/texts.t \
	%D%/run/topology.t \
	%D%/run/usage.t \
	%D%/run/variants.t \
	%D%/run/views.t \
	%D%/run/width.t
TESTS += $(SHELL_TESTS)
dist_check_SCRIPTS += \
	$(SHELL_TESTS) \
	%D%/cluster/cluster.t \
	%D%/cluster/rsh \
	%D%/cluster/task \
	%D%/mpi-run \
	%D%/schema-check \
	%D%/torture.py \
	%D%/html/check.sh \
	%D%/html/look.py \
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
	%D%/bench/rows.py \
	%D%/cluster/cluster.sh \
	%D%/cppcheck.cfg \
	%D%/cppcheck.suppress \
	%D%/fake/README.md \
	%D%/fixtures \
	%D%/fuzz/corpus \
	%D%/golden \
	%D%/matrix \
	%D%/packages/lib.sh \
	%D%/run/lib.sh \
	%D%/run/moves.sh \
	%D%/tap.sh

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

# The same by the other compiler, and with its sanitizers.
check-clang:
	@$(MKDIR_P) clang
	@cd clang && { test -f Makefile || $(abs_top_srcdir)/configure -q --enable-werror \
		CC=$(CLANG) --enable-sanitize=address,undefined CFLAGS='-g -O1' \
		$(if $(CS_HAVE_CUDA),,--without-cuda); }
	$(MAKE) -C clang $(AM_MAKEFLAGS) check-units

# Lines that no test runs.  What a process that is killed ran is not counted.
coverage:
	@$(MKDIR_P) coverage
	@cd coverage && { test -f Makefile || $(abs_top_srcdir)/configure -q \
		CFLAGS='-g -O0 --coverage'; }
	$(MAKE) -C coverage $(AM_MAKEFLAGS) check || :
	cd coverage && gcovr -r $(abs_top_srcdir) --filter '.*/src/' --print-summary \
		--html-details src.html --sort-uncovered .

# Every compiler, sanitizer and library that is promised: an hour.  MATRIX='clang mpich'
# chooses.
check-html: all
	$(SHELL) -c 'bash $(srcdir)/%D%/html/check.sh ./cscope-mpi$(EXEEXT) $(srcdir)/doc/results html-pictures'

check-matrix:
	$(abs_top_srcdir)/%D%/matrix $(MATRIX)
.PHONY: dev check-units check-clang coverage check-html check-matrix

# ---- several hosts and a real Slurm on this machine, as root: not in `make check` ----
check-cluster:
	$(MAKE) $(AM_MAKEFLAGS) check TESTS=%D%/cluster/cluster.t
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
