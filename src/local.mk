# The program, and one library per layer: only the layer that hides a library
# sees its headers.  Order of linking: a layer uses only what stands below it.
bin_PROGRAMS += cscope-mpi

CS_LIBS = \
	%D%/libcs_report.a \
	%D%/libcs_file.a \
	%D%/libcs_job.a \
	%D%/libcs_check.a \
	%D%/libcs_node.a \
	%D%/libcs_result.a \
	%D%/libcs_plan.a \
	%D%/libcs_catalogue.a \
	%D%/libcs_system.a \
	%D%/libcs_backend.a \
	%D%/libcs_base.a
noinst_LIBRARIES += $(CS_LIBS)

# What to link with all of them.
CS_LINK = $(CS_LIBS) $(MPI_LIBS) $(HWLOC_LIBS) $(NUMA_LIBS) $(JANSSON_LIBS)

%C%_libcs_base_a_SOURCES = \
	%D%/base/access.h \
	%D%/base/arena.c \
	%D%/base/arena.h \
	%D%/base/call.c \
	%D%/base/call.h \
	%D%/base/calls.def \
	%D%/base/chain.c \
	%D%/base/chain.h \
	%D%/base/check_words.c \
	%D%/base/cpus.c \
	%D%/base/cpus.h \
	%D%/base/err.c \
	%D%/base/err.h \
	%D%/base/facts.c \
	%D%/base/facts.h \
	%D%/base/fieldset.c \
	%D%/base/fieldset.h \
	%D%/base/fill.c \
	%D%/base/fill.h \
	%D%/base/fma.c \
	%D%/base/fma.h \
	%D%/base/fma_host.c \
	%D%/base/fused.h \
	%D%/base/gpulist.c \
	%D%/base/gpulist.h \
	%D%/base/hints.c \
	%D%/base/hints.def \
	%D%/base/hints.h \
	%D%/base/hostlist.c \
	%D%/base/hostlist.h \
	%D%/base/matmul.c \
	%D%/base/matmul.h \
	%D%/base/print.c \
	%D%/base/print.h \
	%D%/base/rng.c \
	%D%/base/rng.h \
	%D%/base/shape.c \
	%D%/base/shape.h \
	%D%/base/statistics.c \
	%D%/base/statistics.h \
	%D%/base/table.c \
	%D%/base/table.h \
	%D%/base/trend.c \
	%D%/base/trend.h \
	%D%/base/triad.h \
	%D%/base/triad_host.c \
	%D%/base/units.c \
	%D%/base/units.h \
	%D%/base/kept.c \
	%D%/base/kept.h \
	%D%/base/vec.c \
	%D%/base/vec.h \
	%D%/base/words.c \
	%D%/base/words.h \
	%D%/base/xids.def

%C%_libcs_catalogue_a_SOURCES = \
	%D%/catalogue/alias.c \
	%D%/catalogue/alias.def \
	%D%/catalogue/alias.h \
	%D%/catalogue/catalogue.c \
	%D%/catalogue/catalogue.h \
	%D%/catalogue/choice.c \
	%D%/catalogue/choice.h \
	%D%/catalogue/explain.c \
	%D%/catalogue/explain.def \
	%D%/catalogue/suites.def \
	%D%/catalogue/tests.def \
	%D%/catalogue/variant.c \
	%D%/catalogue/variant.h

%C%_libcs_plan_a_SOURCES = \
	%D%/plan/assemble.c \
	%D%/plan/blob.c \
	%D%/plan/build.c \
	%D%/plan/choose.c \
	%D%/plan/choose.h \
	%D%/plan/file.c \
	%D%/plan/file.h \
	%D%/plan/file_line.c \
	%D%/plan/file_line.h \
	%D%/plan/file_step.c \
	%D%/plan/file_write.c \
	%D%/plan/filter.c \
	%D%/plan/instance.c \
	%D%/plan/instance.h \
	%D%/plan/patterns.c \
	%D%/plan/plan.c \
	%D%/plan/plan.h \
	%D%/plan/plan_builder.c \
	%D%/plan/plan_builder.h \
	%D%/plan/priority_order.c \
	%D%/plan/rounds.c \
	%D%/plan/rounds.h \
	%D%/plan/settings.c \
	%D%/plan/settings.h \
	%D%/plan/turns.c \
	%D%/plan/turns.h \
	%D%/plan/validate.c

%C%_libcs_result_a_SOURCES = \
	%D%/result/cells.c \
	%D%/result/cells.h \
	%D%/result/cut.c \
	%D%/result/cut.h \
	%D%/result/finding.c \
	%D%/result/finding.h \
	%D%/result/findings.def \
	%D%/result/grid.c \
	%D%/result/grid.h \
	%D%/result/add_finding.c \
	%D%/result/add_finding.h \
	%D%/result/history.c \
	%D%/result/history.h \
	%D%/result/matrices.c \
	%D%/result/merge.c \
	%D%/result/merge.h \
	%D%/result/passes.c \
	%D%/result/passes.h \
	%D%/result/pool.c \
	%D%/result/pool.h \
	%D%/result/redact.c \
	%D%/result/redact.h \
	%D%/result/row.c \
	%D%/result/row.h \
	%D%/result/run.c \
	%D%/result/run.h \
	%D%/result/stats.c \
	%D%/result/stats.h

%C%_libcs_system_a_CPPFLAGS = $(AM_CPPFLAGS) $(HWLOC_CFLAGS) $(NUMA_CFLAGS)
%C%_libcs_system_a_SOURCES = \
	%D%/system/flush.c \
	%D%/system/flush.h \
	%D%/system/hostmem.c \
	%D%/system/internal.h \
	%D%/system/kernel.c \
	%D%/system/limits.c \
	%D%/system/memory_available.c \
	%D%/system/nic.c \
	%D%/system/nvml.c \
	%D%/system/nvml.h \
	%D%/system/nvmllib.c \
	%D%/system/nvmllink.c \
	%D%/system/carried.c \
	%D%/system/ethtool.c \
	%D%/system/hostparts.c \
	%D%/system/kmsg.c \
	%D%/system/pci.c \
	%D%/system/prove.c \
	%D%/system/resident.c \
	%D%/system/survey.c \
	%D%/system/system.h \
	%D%/system/topo.c

%C%_libcs_backend_a_SOURCES = \
	%D%/backend/backend.h \
	%D%/backend/cpu.c \
	%D%/backend/cpucopy.c \
	%D%/backend/cpucopy.h \
	%D%/backend/memfd.c \
	%D%/backend/memfd.h
if HAVE_CUDA
%C%_libcs_backend_a_SOURCES += \
	%D%/backend/cuda/abi.h \
	%D%/backend/cuda/device_memory.c \
	%D%/backend/cuda/box.c \
	%D%/backend/cuda/calls.c \
	%D%/backend/cuda/consume.c \
	%D%/backend/cuda/copy.c \
	%D%/backend/cuda/cost.c \
	%D%/backend/cuda/cuda.c \
	%D%/backend/cuda/cupti.c \
	%D%/backend/cuda/cupti.h \
	%D%/backend/cuda/dev.c \
	%D%/backend/cuda/dev.h \
	%D%/backend/cuda/driver.c \
	%D%/backend/cuda/driver.h \
	%D%/backend/cuda/hand.c \
	%D%/backend/cuda/kernels.h \
	%D%/backend/cuda/matmul.c \
	%D%/backend/cuda/open.c \
	%D%/backend/cuda/pages.c \
	%D%/backend/cuda/pass.c \
	%D%/backend/cuda/peer.c \
	%D%/backend/cuda/probe.c \
	%D%/backend/cuda/sm.c \
	%D%/backend/cuda/um.c \
	%D%/backend/cuda/vmm.c
nodist_%C%_libcs_backend_a_SOURCES = \
	kernels/kernels.c
else
%C%_libcs_backend_a_SOURCES += \
	%D%/backend/none.c
endif

%C%_libcs_node_a_SOURCES = \
	%D%/node/agent/agent.c \
	%D%/node/agent/agent.h \
	%D%/node/agent/agent_arena.c \
	%D%/node/agent/agent_parts.h \
	%D%/node/agent/agent_cell.c \
	%D%/node/agent/agent_reading.c \
	%D%/node/agent/net.c \
	%D%/node/agent/batch.c \
	%D%/node/agent/copy.c \
	%D%/node/agent/copy.h \
	%D%/node/agent/copy_offsets.c \
	%D%/node/agent/cost.c \
	%D%/node/agent/cost.h \
	%D%/node/agent/cpu_transfer.c \
	%D%/node/agent/cpu_transfer.h \
	%D%/node/agent/endpoints.c \
	%D%/node/agent/endpoints.h \
	%D%/node/agent/host_fill_check.c \
	%D%/node/agent/host_fill_check.h \
	%D%/node/agent/hostbuf.c \
	%D%/node/agent/hostbuf.h \
	%D%/node/agent/lane.c \
	%D%/node/agent/lane.h \
	%D%/node/agent/link_counters.c \
	%D%/node/agent/memory.c \
	%D%/node/agent/memory.h \
	%D%/node/agent/memory_device.c \
	%D%/node/agent/memory_host.c \
	%D%/node/agent/memory_managed.c \
	%D%/node/agent/memory_system.c \
	%D%/node/agent/overlap.c \
	%D%/node/agent/page_counts.c \
	%D%/node/agent/pages.c \
	%D%/node/agent/pages.h \
	%D%/node/agent/reset_buffers.c \
	%D%/node/agent/share.c \
	%D%/node/agent/starter.c \
	%D%/node/agent/starter.h \
	%D%/node/agent/tiles.c \
	%D%/node/agent/tiles.h \
	%D%/node/agent/usage.c \
	%D%/node/agent/usage.h \
	%D%/node/agent/workers.c \
	%D%/node/agent/workers.h \
	%D%/node/board/board.c \
	%D%/node/board/board.h \
	%D%/node/board/budget.c \
	%D%/node/board/budget.h \
	%D%/node/board/probe_values.h \
	%D%/node/board/process.c \
	%D%/node/board/process.h \
	%D%/node/board/stage.c \
	%D%/node/board/stage.h \
	%D%/node/coordinator/agents.c \
	%D%/node/coordinator/agents.h \
	%D%/node/coordinator/cell.c \
	%D%/node/coordinator/cell.h \
	%D%/node/coordinator/concurrency.c \
	%D%/node/coordinator/concurrency_check.c \
	%D%/node/coordinator/coordinator.c \
	%D%/node/coordinator/coordinator.h \
	%D%/node/coordinator/coordinator_state.h \
	%D%/node/coordinator/dates.c \
	%D%/node/coordinator/lost_agents.c \
	%D%/node/coordinator/geometry.c \
	%D%/node/coordinator/net.c \
	%D%/node/coordinator/net.h \
	%D%/node/coordinator/probe.c \
	%D%/node/coordinator/rows.c \
	%D%/node/coordinator/sampler.c \
	%D%/node/coordinator/sampler.h \
	%D%/node/coordinator/step.c

%C%_libcs_job_a_CPPFLAGS = $(AM_CPPFLAGS) $(MPI_CFLAGS)
%C%_libcs_job_a_SOURCES = \
	%D%/job/args.c \
	%D%/job/args.h \
	%D%/job/assign.c \
	%D%/job/assign.h \
	%D%/job/between.c \
	%D%/job/between.h \
	%D%/job/between_clock.c \
	%D%/job/between_looks.c \
	%D%/job/between_memory.c \
	%D%/job/between_rows.c \
	%D%/job/between_schedule.c \
	%D%/job/between_slot.c \
	%D%/job/between_state.h \
	%D%/job/ends.h \
	%D%/job/ends_device.c \
	%D%/job/ends_host.c \
	%D%/job/ends_staged.c \
	%D%/job/collect.c \
	%D%/job/collect.h \
	%D%/job/discovery.c \
	%D%/job/discovery.h \
	%D%/job/gpu_trial.c \
	%D%/job/gpu_trial.h \
	%D%/job/host.c \
	%D%/job/host.h \
	%D%/job/inventory.c \
	%D%/job/job.c \
	%D%/job/job.h \
	%D%/job/launcher.c \
	%D%/job/launcher.h \
	%D%/job/mpi_comm.c \
	%D%/job/mpi_comm.h \
	%D%/job/division.c \
	%D%/job/division.h \
	%D%/job/mover.h \
	%D%/job/mover_mpi.c \
	%D%/job/nics.c \
	%D%/job/nics.h \
	%D%/job/pair.c \
	%D%/job/pair.h \
	%D%/job/placements.c \
	%D%/job/placements.h \
	%D%/job/remeasure.c \
	%D%/job/resumed.c \
	%D%/job/run_plan.c \
	%D%/job/signals.c \
	%D%/job/signals.h \
	%D%/job/state.h \
	%D%/job/supervisor.c \
	%D%/job/supervisor.h \
	%D%/job/watch.c

%C%_libcs_check_a_SOURCES = \
	%D%/check/between/between.h \
	%D%/check/between/far.c \
	%D%/check/between/gather.c \
	%D%/check/between/gather.h \
	%D%/check/between/judge.c \
	%D%/check/between/looks.c \
	%D%/check/between/looks.h \
	%D%/check/between/polish.c \
	%D%/check/between/polish.h \
	%D%/check/between/suspect.c \
	%D%/check/between/suspect.h \
	%D%/check/bounds/baseline.c \
	%D%/check/bounds/baseline.h \
	%D%/check/bounds/breach.c \
	%D%/check/bounds/breach.h \
	%D%/check/bounds/criteria.c \
	%D%/check/bounds/criteria.h \
	%D%/check/bounds/judge.c \
	%D%/check/bounds/judge.h \
	%D%/check/bounds/judge_baseline.c \
	%D%/check/bounds/known.c \
	%D%/check/bounds/known.h \
	%D%/check/bounds/judge_threshold.c \
	%D%/check/bounds/learn.c \
	%D%/check/bounds/line.c \
	%D%/check/bounds/site.c \
	%D%/check/bounds/spread.c \
	%D%/check/bounds/threshold.c \
	%D%/check/bounds/threshold.h \
	%D%/check/cells/anomaly.c \
	%D%/check/cells/anomaly.h \
	%D%/check/cells/below.c \
	%D%/check/cells/causes.c \
	%D%/check/cells/cells.c \
	%D%/check/cells/cells.h \
	%D%/check/cells/describe.c \
	%D%/check/cells/fault.c \
	%D%/check/cells/internal.h \
	%D%/check/cells/judged.c \
	%D%/check/cells/like.c \
	%D%/check/cells/like.h \
	%D%/check/cells/live_links.c \
	%D%/check/cells/locate.c \
	%D%/check/cells/medians.c \
	%D%/check/cells/node_group.c \
	%D%/check/cells/outlier.c \
	%D%/check/cells/parties.c \
	%D%/check/cells/parts.c \
	%D%/check/cells/remeasure_steps.c \
	%D%/check/cells/remeasured.c \
	%D%/check/cells/sentence.c \
	%D%/check/cells/signatures.c \
	%D%/check/cells/usual.c \
	%D%/check/cells/whole.c \
	%D%/check/compare/answer.c \
	%D%/check/compare/compare.c \
	%D%/check/compare/compare.h \
	%D%/check/compare/conditions.c \
	%D%/check/compare/found.h \
	%D%/check/compare/models.c \
	%D%/check/compare/pairing.c \
	%D%/check/compare/pairing.h \
	%D%/check/compare/versus.c \
	%D%/check/compare/versus.h \
	%D%/check/fleet/class.c \
	%D%/check/fleet/class.h \
	%D%/check/fleet/differs.c \
	%D%/check/fleet/differs.h \
	%D%/check/fleet/expected.c \
	%D%/check/fleet/expected.h \
	%D%/check/fleet/fact.c \
	%D%/check/fleet/fact.h \
	%D%/check/fleet/fingerprint.c \
	%D%/check/fleet/fingerprint.h \
	%D%/check/fleet/in_common.c \
	%D%/check/fleet/remedies.def \
	%D%/check/fleet/leaves.c \
	%D%/check/fleet/leaves.h \
	%D%/check/fleet/vote.c \
	%D%/check/fleet/vote.h \
	%D%/check/fleet/within.c \
	%D%/check/link/expect.c \
	%D%/check/link/expect.h \
	%D%/check/link/kind.c \
	%D%/check/link/kind.h \
	%D%/check/link/port.c \
	%D%/check/model/fit.c \
	%D%/check/model/fit.h \
	%D%/check/model/gamma.c \
	%D%/check/model/knee.c \
	%D%/check/model/levels.c \
	%D%/check/model/product.c \
	%D%/check/model/model.c \
	%D%/check/model/model.h \
	%D%/check/model/rates.c \
	%D%/check/model/rates.h \
	%D%/check/model/workload.c \
	%D%/check/verdict/action.c \
	%D%/check/verdict/action.h \
	%D%/check/verdict/cards.c \
	%D%/check/verdict/check.c \
	%D%/check/verdict/check.h \
	%D%/check/verdict/depend.c \
	%D%/check/verdict/dips.c \
	%D%/check/verdict/disturbed.c \
	%D%/check/verdict/health.c \
	%D%/check/verdict/internal.h \
	%D%/check/verdict/kinds.c \
	%D%/check/verdict/launch.c \
	%D%/check/verdict/named_cells.c \
	%D%/check/verdict/passes.c \
	%D%/check/verdict/row_status.c \
	%D%/check/verdict/trends.c \
	%D%/check/verdict/verdict.c

%C%_libcs_file_a_CPPFLAGS = $(AM_CPPFLAGS) $(JANSSON_CFLAGS)
%C%_libcs_file_a_SOURCES = \
	%D%/file/agent.c \
	%D%/file/baseline.c \
	%D%/file/baseline.h \
	%D%/file/code.c \
	%D%/file/derived.c \
	%D%/file/document.c \
	%D%/file/document.h \
	%D%/file/encode.c \
	%D%/file/encode.h \
	%D%/file/field.c \
	%D%/file/field.h \
	%D%/file/finding.c \
	%D%/file/gpu.c \
	%D%/file/input.c \
	%D%/file/input.h \
	%D%/file/journal.c \
	%D%/file/load.c \
	%D%/file/load.h \
	%D%/file/loaded.c \
	%D%/file/loaded.h \
	%D%/file/node.c \
	%D%/file/plain.c \
	%D%/file/plain.h \
	%D%/file/reader.c \
	%D%/file/reader.h \
	%D%/file/record.h \
	%D%/file/row.c \
	%D%/file/run.c \
	%D%/file/write.c

%C%_libcs_report_a_CPPFLAGS = $(AM_CPPFLAGS) $(JANSSON_CFLAGS)
%C%_libcs_report_a_SOURCES = \
	%D%/report/baseline.c \
	%D%/report/explain.c \
	%D%/report/export/csv.c \
	%D%/report/export/gbench.c \
	%D%/report/export/junit.c \
	%D%/report/export/nagios.c \
	%D%/report/export/nvbandwidth.c \
	%D%/report/export/parts.h \
	%D%/report/export/prom.c \
	%D%/report/export/result.c \
	%D%/report/export/tally.c \
	%D%/report/export/trace.c \
	%D%/report/format.c \
	%D%/report/formats.def \
	%D%/report/group.c \
	%D%/report/html/alike.c \
	%D%/report/html/fleet.c \
	%D%/report/html/forest.c \
	%D%/report/html/heat.c \
	%D%/report/html/markup.c \
	%D%/report/html/markup.h \
	%D%/report/html/page.c \
	%D%/report/html/parts.h \
	%D%/report/html/plot.c \
	%D%/report/html/style.c \
	%D%/report/html/summary.c \
	%D%/report/html/glossary.def \
	%D%/report/html/script.def \
	%D%/report/html/style.def \
	%D%/report/html/roofline.c \
	%D%/report/html/tables.c \
	%D%/report/html/timeline.c \
	%D%/report/html/trend.c \
	%D%/report/html/wiring.c \
	%D%/report/list.c \
	%D%/report/output.c \
	%D%/report/report.h \
	%D%/report/scale.c \
	%D%/report/scale.h \
	%D%/report/text/actions.c \
	%D%/report/text/advice.c \
	%D%/report/text/aggregate.c \
	%D%/report/text/answer.c \
	%D%/report/text/best.c \
	%D%/report/text/between.c \
	%D%/report/text/between_grid.c \
	%D%/report/text/calls.c \
	%D%/report/text/cell.c \
	%D%/report/text/classes.c \
	%D%/report/text/columns.c \
	%D%/report/text/costs.c \
	%D%/report/text/curve.c \
	%D%/report/text/digest.c \
	%D%/report/text/digest_groups.c \
	%D%/report/text/digest_table.c \
	%D%/report/text/drain.c \
	%D%/report/text/figures.c \
	%D%/report/text/fleet.c \
	%D%/report/text/launch.c \
	%D%/report/text/matrix.c \
	%D%/report/text/model.c \
	%D%/report/text/model_tables.c \
	%D%/report/text/nodes.c \
	%D%/report/text/overlap.c \
	%D%/report/text/zero_grid.c \
	%D%/report/text/parts.h \
	%D%/report/text/passes.c \
	%D%/report/text/slow_cells.c \
	%D%/report/text/steps.c \
	%D%/report/text/summary.c \
	%D%/report/text/text.c \
	%D%/report/text/topology.c \
	%D%/report/text/versus.c \
	%D%/report/text/ways.c \
	%D%/report/text/why.c \
	%D%/report/view.c \
	%D%/report/view.h

# The commit is known when make runs: configure's would be of some day before.
CS_OPTIONS = \
	%D%/options/commscope.c \
	%D%/options/commscope.def \
	%D%/options/nvbandwidth.c \
	%D%/options/help.c \
	%D%/options/option_rules.c \
	%D%/options/options.def \
	%D%/options/options.h \
	%D%/options/parse.c \
	%D%/options/table.c \
	%D%/options/table.h \
	%D%/options/values.c
# What reads files and answers, without MPI.
CS_COMMANDS = \
	%D%/command/baseline.c \
	%D%/command/check.c \
	%D%/command/command.h \
	%D%/command/compare.c \
	%D%/command/read_criteria.c \
	%D%/command/readers.c \
	%D%/command/common.c \
	%D%/command/show.c \
	$(CS_OPTIONS)
cscope_mpi_CPPFLAGS = $(AM_CPPFLAGS) -include %D%/commit.h
cscope_mpi_SOURCES = \
	%D%/command/command.c \
	%D%/command/dryrun.c \
	%D%/command/leftout.c \
	%D%/command/measure.c \
	%D%/command/list_benchmarks.c \
	%D%/command/waive.c \
	%D%/command/progress.c \
	%D%/command/progress.h \
	%D%/command/resume.c \
	%D%/command/resume.h \
	%D%/command/writers.c \
	%D%/command/writers.h \
	%D%/main.c \
	$(CS_COMMANDS)
cscope_mpi_LDADD = $(CS_LINK)

# The names by which it takes other tools' command lines, unless those are there themselves.
cs_links = comm_scope nvbandwidth
cs_name = `echo cscope-mpi | sed '$(transform)'`
install-exec-hook:
	cd $(DESTDIR)$(bindir) && for link in $(cs_links); do \
		if test "`readlink $$link`" = "$(cs_name)" || \
				{ test ! -e $$link && test ! -L $$link; }; then \
			ln -sf "$(cs_name)" $$link || exit; \
		fi; \
	done
uninstall-hook:
	cd $(DESTDIR)$(bindir) && for link in $(cs_links); do \
		test "`readlink $$link`" != "$(cs_name)" || rm -f $$link; \
	done

$(cscope_mpi_OBJECTS): %D%/commit.h
%D%/commit.h: cs-always
	@$(MKDIR_P) %D%; \
	commit=`test -e $(top_srcdir)/.git && \
		git -C $(top_srcdir) describe --always --dirty=+ --match= 2>/dev/null`; \
	echo "#define CS_COMMIT \"$$commit\"" >$@.tmp; \
	if cmp -s $@.tmp $@; then rm -f $@.tmp; else mv -f $@.tmp $@; fi
.PHONY: cs-always
cs-always:

CLEANFILES += %D%/commit.h

EXTRA_DIST += \
	%D%/README.md \
	%D%/backend/README.md \
	%D%/backend/cuda/README.md \
	%D%/base/README.md \
	%D%/catalogue/README.md \
	%D%/check/README.md \
	%D%/check/between/README.md \
	%D%/check/bounds/README.md \
	%D%/check/cells/README.md \
	%D%/check/compare/README.md \
	%D%/check/fleet/README.md \
	%D%/check/link/README.md \
	%D%/check/model/README.md \
	%D%/check/verdict/README.md \
	%D%/command/README.md \
	%D%/file/README.md \
	%D%/job/README.md \
	%D%/node/README.md \
	%D%/node/agent/README.md \
	%D%/node/board/README.md \
	%D%/node/coordinator/README.md \
	%D%/options/README.md \
	%D%/plan/README.md \
	%D%/report/README.md \
	%D%/report/export/README.md \
	%D%/report/html/README.md \
	%D%/report/text/README.md \
	%D%/result/README.md \
	%D%/system/README.md
