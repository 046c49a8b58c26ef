# Fuzz targets: their seeds with `make check`, libFuzzer with `make fuzz`.
FUZZ_TESTS = \
	%D%/argv.t \
	%D%/baseline.t \
	%D%/check.t \
	%D%/drain.t \
	%D%/gpulist.t \
	%D%/json.t \
	%D%/jsonl.t \
	%D%/launcher.t \
	%D%/output.t \
	%D%/plan.t \
	%D%/planfile.t \
	%D%/sampler.t \
	%D%/show.t \
	%D%/stats.t \
	%D%/tests.t \
	%D%/threshold.t \
	%D%/units.t
check_PROGRAMS += $(FUZZ_TESTS)
TESTS += $(FUZZ_TESTS)
FUZZ_REPLAY = %D%/replay.c %D%/fuzz.h
FUZZ_WHOLE = %D%/whole.h %D%/page.h %D%/values.h $(FUZZ_REPLAY) $(CS_COMMANDS)

%C%_argv_t_SOURCES = %D%/fuzz_argv.c $(FUZZ_REPLAY) $(CS_OPTIONS)
%C%_baseline_t_SOURCES = %D%/fuzz_baseline.c $(FUZZ_REPLAY)
%C%_check_t_CPPFLAGS = $(AM_CPPFLAGS) $(JANSSON_CFLAGS)
%C%_check_t_SOURCES = %D%/fuzz_check.c $(FUZZ_WHOLE)
%C%_drain_t_SOURCES = %D%/fuzz_drain.c $(FUZZ_REPLAY)
%C%_gpulist_t_SOURCES = %D%/fuzz_gpulist.c $(FUZZ_REPLAY)
%C%_json_t_CPPFLAGS = $(AM_CPPFLAGS) $(JANSSON_CFLAGS)
%C%_json_t_SOURCES = %D%/fuzz_json.c %D%/loaded.h %D%/values.h $(FUZZ_REPLAY)
%C%_jsonl_t_CPPFLAGS = $(AM_CPPFLAGS) $(JANSSON_CFLAGS)
%C%_jsonl_t_SOURCES = %D%/fuzz_jsonl.c %D%/loaded.h %D%/values.h $(FUZZ_REPLAY)
%C%_launcher_t_SOURCES = %D%/fuzz_launcher.c $(FUZZ_REPLAY)
%C%_output_t_SOURCES = %D%/fuzz_output.c $(FUZZ_REPLAY)
%C%_plan_t_SOURCES = %D%/fuzz_plan.c $(FUZZ_REPLAY)
%C%_planfile_t_SOURCES = %D%/fuzz_planfile.c $(FUZZ_REPLAY)
%C%_sampler_t_SOURCES = %D%/fuzz_sampler.c $(FUZZ_REPLAY)
%C%_show_t_CPPFLAGS = $(AM_CPPFLAGS) $(JANSSON_CFLAGS)
%C%_show_t_SOURCES = %D%/fuzz_show.c $(FUZZ_WHOLE)
%C%_stats_t_SOURCES = %D%/fuzz_stats.c $(FUZZ_REPLAY)
%C%_tests_t_SOURCES = %D%/fuzz_tests.c $(FUZZ_REPLAY)
%C%_threshold_t_SOURCES = %D%/fuzz_threshold.c $(FUZZ_REPLAY)
%C%_units_t_SOURCES = %D%/fuzz_units.c $(FUZZ_REPLAY)

# Straight from the sources, all of them instrumented; what libFuzzer keeps lies
# in the build tree and is taken up again by the next run.  Files of runs are long, and
# real ones are seeds too.
CLANG = clang
FUZZ_RUNS = 1000000
FUZZ_SECONDS = 600
FUZZ_NAMES = argv baseline check drain gpulist json jsonl launcher output plan planfile \
	sampler show stats tests threshold units
FUZZ_FLAGS = -std=gnu11 -g -O1 -fno-sanitize-recover=all -DCS_WINDOW=64 -I. -I$(top_srcdir)/src \
	$(JANSSON_CFLAGS) -fsanitize=address,undefined
FUZZ_OF = base/* catalogue/* plan/* result/* check/*/* file/* report/* report/*/* options/* \
	node/coordinator/sampler node/board/stage job/launcher job/placement \
	command/baseline command/check command/compare command/criteria command/readers \
	command/shared command/show
fuzz:
	@dir='%D%/libfuzzer'; $(MKDIR_P) $$dir/objects || exit 1; \
	for of in $(FUZZ_OF); do for file in $(top_srcdir)/src/$$of.c; do \
		object=$$dir/objects/`echo "$$file" | sed 's|.*/src/||; s|/|-|g'`.o; \
		$(CLANG) $(FUZZ_FLAGS) -fsanitize=fuzzer-no-link -c -o $$object $$file || \
			exit 1; \
	done; done; \
	rm -f $$dir/objects.a && $(AR) cr $$dir/objects.a $$dir/objects/*.o || exit 1; \
	for name in $(FUZZ_NAMES); do \
		seeds='$(srcdir)/%D%/corpus/'$$name; most=300; \
		case $$name in \
		check | json* | show) seeds="$$seeds $(top_srcdir)/doc/results"; most=65536 ;; \
		esac; \
		echo "fuzz $$name: $(FUZZ_RUNS) runs or $(FUZZ_SECONDS) s"; \
		$(MKDIR_P) $$dir/$$name && \
		$(CLANG) $(FUZZ_FLAGS) -fsanitize=fuzzer -o $$dir/fuzz_$$name \
			$(srcdir)/%D%/fuzz_$$name.c $$dir/objects.a \
			$(JANSSON_LIBS) -lm && \
		$$dir/fuzz_$$name -runs=$(FUZZ_RUNS) -max_total_time=$(FUZZ_SECONDS) \
			-max_len=$$most -verbosity=0 \
			-artifact_prefix=$$dir/$$name- $$dir/$$name $$seeds || exit 1; \
	done
.PHONY: fuzz
