# Unit tests: a line in the list and one for its sources.
if HAVE_CUNIT
UNIT_TESTS = \
	%D%/action.t \
	%D%/alias.t \
	%D%/arena.t \
	%D%/assign.t \
	%D%/between.t \
	%D%/budget.t \
	%D%/cpu_transfer.t \
	%D%/catalogue.t \
	%D%/chain.t \
	%D%/cells.t \
	%D%/check.t \
	%D%/collect.t \
	%D%/commands.t \
	%D%/compare.t \
	%D%/cpu.t \
	%D%/ethtool.t \
	%D%/explain.t \
	%D%/fields.t \
	%D%/fill.t \
	%D%/finding.t \
	%D%/fingerprint.t \
	%D%/fit.t \
	%D%/knee.t \
	%D%/fleet.t \
	%D%/flush.t \
	%D%/fma.t \
	%D%/shape.t \
	%D%/gpulist.t \
	%D%/growth.t \
	%D%/hints.t \
	%D%/instance.t \
	%D%/hostlist.t \
	%D%/hostmem.t \
	%D%/host_fill_check.t \
	%D%/judge.t \
	%D%/known.t \
	%D%/launcher.t \
	%D%/loaded.t \
	%D%/matmul.t \
	%D%/merge.t \
	%D%/node.t \
	%D%/nvml.t \
	%D%/options.t \
	%D%/output.t \
	%D%/pci.t \
	%D%/copy_offsets.t \
	%D%/plan.t \
	%D%/planfile.t \
	%D%/pair.t \
	%D%/passes.t \
	%D%/pool.t \
	%D%/print.t \
	%D%/progress.t \
	%D%/quant.t \
	%D%/report.t \
	%D%/rng.t \
	%D%/rounds.t \
	%D%/row.t \
	%D%/sampler.t \
	%D%/inventory.t \
	%D%/scale.t \
	%D%/stats.t \
	%D%/student.t \
	%D%/topo.t \
	%D%/trends.t \
	%D%/turns.t \
	%D%/units.t \
	%D%/vec.t \
	%D%/versus.t \
	%D%/vote.t \
	%D%/workers.t
if HAVE_CUDA
UNIT_CUDA_TESTS = \
	%D%/cuda.t \
	%D%/fake.t \
	%D%/um.t \
	%D%/umlies.t
endif
check_PROGRAMS += $(UNIT_TESTS) $(UNIT_CUDA_TESTS)
TESTS += $(UNIT_TESTS) $(UNIT_CUDA_TESTS)

check_LIBRARIES += %D%/libtap.a
%C%_libtap_a_CPPFLAGS = $(AM_CPPFLAGS) $(CUNIT_CFLAGS)
%C%_libtap_a_SOURCES = \
	%D%/tap.c \
	%D%/tap.h

TAP = %D%/libtap.a

%C%_action_t_SOURCES = %D%/test_action.c %D%/canned.h
%C%_arena_t_SOURCES = %D%/test_arena.c
%C%_alias_t_SOURCES = %D%/test_alias.c
%C%_assign_t_SOURCES = %D%/test_assign.c
%C%_budget_t_SOURCES = %D%/test_budget.c %D%/planned.h %D%/canned.h
%C%_cpu_transfer_t_SOURCES = %D%/test_cpu_transfer.c %D%/node.h
%C%_catalogue_t_SOURCES = %D%/test_catalogue.c
%C%_chain_t_SOURCES = %D%/test_chain.c
%C%_cells_t_SOURCES = %D%/test_cells.c %D%/canned.h
%C%_check_t_SOURCES = %D%/test_check.c %D%/canned.h
%C%_collect_t_SOURCES = %D%/test_collect.c
%C%_commands_t_SOURCES = %D%/test_commands.c %D%/canned.h $(CS_COMMANDS)
%C%_compare_t_SOURCES = %D%/test_compare.c
%C%_cpu_t_SOURCES = %D%/test_cpu.c
%C%_cuda_t_SOURCES = %D%/test_cuda.c
%C%_explain_t_SOURCES = %D%/test_explain.c
%C%_fake_t_SOURCES = %D%/test_fake.c %D%/story.h
%C%_fill_t_SOURCES = %D%/test_fill.c
%C%_finding_t_SOURCES = %D%/test_finding.c
%C%_fingerprint_t_SOURCES = %D%/test_fingerprint.c %D%/canned.h
%C%_between_t_SOURCES = %D%/test_between.c $(NETSIM)
%C%_fit_t_SOURCES = %D%/test_fit.c
%C%_knee_t_SOURCES = %D%/test_knee.c
%C%_fleet_t_SOURCES = %D%/test_fleet.c $(FLEET)
%C%_flush_t_SOURCES = %D%/test_flush.c
%C%_fma_t_SOURCES = %D%/test_fma.c
%C%_shape_t_SOURCES = %D%/test_shape.c
%C%_gpulist_t_SOURCES = %D%/test_gpulist.c
%C%_growth_t_LDFLAGS = $(AM_LDFLAGS) -Wl,--wrap=cs_rows_get,--wrap=cs_rows_end \
	-Wl,--wrap=malloc,--wrap=calloc,--wrap=realloc,--wrap=free
%C%_growth_t_SOURCES = %D%/test_growth.c %D%/canned.h
%C%_hints_t_SOURCES = %D%/test_hints.c
%C%_instance_t_SOURCES = %D%/test_instance.c
%C%_hostlist_t_SOURCES = %D%/test_hostlist.c
%C%_hostmem_t_SOURCES = %D%/test_hostmem.c %D%/root.h %D%/topology.h
%C%_host_fill_check_t_SOURCES = %D%/test_host_fill_check.c
%C%_judge_t_SOURCES = %D%/test_judge.c %D%/canned.h $(NOISE)
%C%_known_t_SOURCES = %D%/test_known.c %D%/canned.h
%C%_launcher_t_SOURCES = %D%/test_launcher.c
%C%_fields_t_CPPFLAGS = $(AM_CPPFLAGS) $(JANSSON_CFLAGS)
%C%_fields_t_SOURCES = %D%/test_fields.c %D%/canned.h
%C%_loaded_t_CPPFLAGS = $(AM_CPPFLAGS) $(JANSSON_CFLAGS)
%C%_loaded_t_SOURCES = %D%/test_loaded.c %D%/canned.h %D%/written.h
%C%_matmul_t_SOURCES = %D%/test_matmul.c
%C%_merge_t_SOURCES = %D%/test_merge.c %D%/canned.h %D%/written.h
%C%_node_t_SOURCES = %D%/test_node.c %D%/node.h
%C%_nvml_t_SOURCES = %D%/test_nvml.c
%C%_options_t_SOURCES = %D%/test_options.c $(CS_OPTIONS)
%C%_output_t_SOURCES = %D%/test_output.c %D%/canned.h
%C%_ethtool_t_SOURCES = %D%/test_ethtool.c
%C%_pci_t_SOURCES = %D%/test_pci.c %D%/root.h %D%/topology.h
%C%_copy_offsets_t_SOURCES = %D%/test_copy_offsets.c %D%/planned.h
%C%_plan_t_SOURCES = %D%/test_plan.c
%C%_planfile_t_SOURCES = %D%/test_planfile.c %D%/planned.h
%C%_pair_t_SOURCES = %D%/test_pair.c
%C%_passes_t_SOURCES = %D%/test_passes.c %D%/canned.h $(NOISE)
%C%_pool_t_SOURCES = %D%/test_pool.c %D%/canned.h
%C%_progress_t_SOURCES = \
	%D%/test_progress.c \
	%D%/planned.h \
	src/command/progress.c \
	src/command/progress.h
%C%_print_t_CPPFLAGS = $(AM_CPPFLAGS) $(JANSSON_CFLAGS)
%C%_print_t_SOURCES = %D%/test_print.c
%C%_quant_t_SOURCES = %D%/test_quant.c
%C%_report_t_CPPFLAGS = $(AM_CPPFLAGS) $(JANSSON_CFLAGS)
%C%_report_t_SOURCES = %D%/test_report.c %D%/canned.h %D%/written.h
%C%_rng_t_SOURCES = %D%/test_rng.c
%C%_rounds_t_SOURCES = %D%/test_rounds.c
%C%_row_t_SOURCES = %D%/test_row.c
%C%_sampler_t_SOURCES = %D%/test_sampler.c %D%/planned.h $(NOISE)
%C%_inventory_t_SOURCES = %D%/test_inventory.c
%C%_scale_t_SOURCES = %D%/test_scale.c
%C%_stats_t_SOURCES = %D%/test_stats.c
%C%_student_t_SOURCES = %D%/test_student.c
%C%_topo_t_SOURCES = %D%/test_topo.c %D%/topology.h
%C%_trends_t_SOURCES = %D%/test_trends.c %D%/canned.h $(NOISE)
%C%_turns_t_SOURCES = %D%/test_turns.c
%C%_um_t_SOURCES = %D%/test_um.c %D%/managed.h %D%/story.h
%C%_umlies_t_SOURCES = %D%/test_umlies.c %D%/managed.h %D%/story.h
%C%_units_t_SOURCES = %D%/test_units.c
%C%_vec_t_SOURCES = %D%/test_vec.c
%C%_versus_t_SOURCES = %D%/test_versus.c %D%/canned.h
%C%_vote_t_SOURCES = %D%/test_vote.c %D%/canned.h
%C%_workers_t_SOURCES = %D%/test_workers.c
endif
