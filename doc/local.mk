dist_pkgdata_DATA += \
	%D%/cscope-mpi-1.schema.json \
	%D%/cscope-mpi-baseline-1.schema.json
# Figures that are usual of GPUs: cscope-mpi learn.
knowndir = $(pkgdatadir)/known
dist_known_DATA = %D%/known/nvidia-h100.json %D%/known/nvidia-h200.json
# Real reports to look at: cscope-mpi show.
resultsdir = $(docdir)/results/h200x4
results_DATA = \
	%D%/results/h200x4/np4.json \
	%D%/results/h200x4/quick.json
EXTRA_DIST += \
	%D%/ARCHITECTURE.md \
	%D%/COST.md \
	%D%/FLEET.md \
	%D%/INTEGRATIONS.md \
	%D%/METHOD.md \
	%D%/COMMSCOPE.md \
	%D%/NVBANDWIDTH.md \
	%D%/PLACEMENT.md \
	%D%/PLANS.md \
	%D%/READING.md \
	%D%/THRESHOLDS.md \
	%D%/TUTORIAL.md \
	%D%/UNIFIED.md \
	%D%/comm_scope.1.in \
	%D%/nvbandwidth.1.in \
	%D%/cscope-mpi.1.in \
	%D%/cscope-mpi-formats.5.in \
	%D%/keys.awk \
	%D%/alerts.png \
	%D%/page.png \
	%D%/plans \
	%D%/results \
	%D%/thresholds

# ---- manual pages: a release carries them finished ----
dist_man_MANS = \
	%D%/comm_scope.1 \
	%D%/nvbandwidth.1 \
	%D%/cscope-mpi.1 \
	%D%/cscope-mpi-formats.5
MAINTAINERCLEANFILES = $(dist_man_MANS)

# The options come from the table that parses them.
EXTRA_PROGRAMS = %D%/options-roff
CLEANFILES += $(EXTRA_PROGRAMS)
%C%_options_roff_SOURCES = %D%/options-roff.c $(CS_OPTIONS)
%C%_options_roff_LDADD = $(CS_LINK)

# Behind the bar: it must be there, but its age is that of each new build.  [@]: so
# that configure leaves the pattern as it is.
%D%/cscope-mpi.1: %D%/cscope-mpi.1.in src/options/table.c src/options/options.def src/report/formats.def \
		configure.ac | %D%/options-roff$(EXEEXT)
	$(AM_V_GEN)$(MKDIR_P) %D% && \
	sed 's/[@]VERSION@/$(VERSION)/' $(srcdir)/%D%/cscope-mpi.1.in | \
		%D%/options-roff$(EXEEXT) >$@.tmp && mv -f $@.tmp $@

cs_page = $(AM_V_GEN)$(MKDIR_P) %D% && \
	sed 's/[@]VERSION@/$(VERSION)/' $(srcdir)/$@.in >$@.tmp && mv -f $@.tmp $@
%D%/comm_scope.1: %D%/comm_scope.1.in configure.ac
	$(cs_page)
%D%/nvbandwidth.1: %D%/nvbandwidth.1.in configure.ac
	$(cs_page)

# Keys that the page does not name come from the schema.
%D%/cscope-mpi-formats.5: %D%/cscope-mpi-formats.5.in %D%/keys.awk \
		%D%/cscope-mpi-1.schema.json configure.ac
	$(AM_V_GEN)$(MKDIR_P) %D% && \
	$(AWK) -f $(srcdir)/%D%/keys.awk $(srcdir)/%D%/cscope-mpi-1.schema.json \
		$(srcdir)/%D%/cscope-mpi-formats.5.in | \
		sed 's/[@]VERSION@/$(VERSION)/' >$@.tmp && mv -f $@.tmp $@
