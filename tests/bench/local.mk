# ---- benchmarks: built with the tests, run by hand ----
check_PROGRAMS += \
	%D%/bench_collect \
	%D%/bench_coordinator \
	%D%/bench_fleet \
	%D%/bench_start
%C%_bench_collect_SOURCES = %D%/bench_collect.c
%C%_bench_coordinator_SOURCES = %D%/bench_coordinator.c
check_PROGRAMS += %D%/bench_pass
%C%_bench_pass_SOURCES = %D%/bench_pass.c
check_PROGRAMS += %D%/bench_sm
%C%_bench_sm_LDADD = src/libcs_backend.a src/libcs_base.a
%C%_bench_sm_SOURCES = %D%/bench_sm.c
%C%_bench_fleet_SOURCES = %D%/bench_fleet.c
%C%_bench_start_CPPFLAGS = $(AM_CPPFLAGS) $(MPI_CFLAGS)
%C%_bench_start_LDADD = $(MPI_LIBS)
%C%_bench_start_SOURCES = %D%/bench_start.c

# ---- simulations with known truth: a table each, by hand ----
TRUTH_FILES = %D%/truth_files.c %D%/truth_files.h $(NOISE)
TRUTHS = \
	%D%/truth_baseline \
	%D%/truth_between \
	%D%/truth_compare \
	%D%/truth_fit \
	%D%/truth_fleet \
	%D%/truth_floor \
	%D%/truth_line \
	%D%/truth_sampler
check_PROGRAMS += $(TRUTHS)
%C%_truth_baseline_SOURCES = %D%/truth_baseline.c $(TRUTH_FILES)
%C%_truth_between_SOURCES = %D%/truth_between.c $(NETSIM)
%C%_truth_compare_SOURCES = %D%/truth_compare.c $(NOISE)
%C%_truth_fit_SOURCES = %D%/truth_fit.c $(NOISE)
%C%_truth_fleet_SOURCES = %D%/truth_fleet.c $(FLEET)
%C%_truth_floor_SOURCES = %D%/truth_floor.c $(FLEET)
%C%_truth_line_SOURCES = %D%/truth_line.c $(TRUTH_FILES)
%C%_truth_sampler_SOURCES = %D%/truth_sampler.c $(NOISE)

bench-truth: $(TRUTHS)
	@broken=0; for truth in $(TRUTHS); do \
		./$$truth || broken=1; \
	done; exit $$broken
.PHONY: bench-truth

if HAVE_CUDA
check_PROGRAMS += %D%/libkill.so
%C%_libkill_so_CFLAGS = $(fake_cflags)
%C%_libkill_so_LDFLAGS = $(fake_ldflags)
%C%_libkill_so_LDADD =
%C%_libkill_so_SOURCES = %D%/libkill.c
endif
