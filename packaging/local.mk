# What other tools load of ours; beside the program's data.
nhcdir = $(pkgdatadir)/nhc
dist_nhc_DATA = %D%/nhc/README.md %D%/nhc/cscope-mpi.nhc
monitoringdir = $(pkgdatadir)/monitoring
dist_monitoring_DATA = \
	%D%/monitoring/README.md \
	%D%/monitoring/alerts.yml \
	%D%/monitoring/dashboard.json
npddir = $(pkgdatadir)/node-problem-detector
dist_npd_DATA = \
	%D%/node-problem-detector/README.md \
	%D%/node-problem-detector/cscope-mpi.json
dist_npd_SCRIPTS = %D%/node-problem-detector/cscope-npd
AM_INSTALLCHECK_STD_OPTIONS_EXEMPT += $(dist_npd_SCRIPTS)

# A module file says where the program is: that is known when it is installed.
cs_module = $(DESTDIR)$(pkgdatadir)/modules/cscope-mpi
install-data-local:
	$(MKDIR_P) $(cs_module)
	sed -e 's|[@]prefix@|$(prefix)|; s|[@]bindir@|$(bindir)|' \
		-e 's|[@]mandir@|$(mandir)|; s|[@]VERSION@|$(VERSION)|' \
		$(srcdir)/%D%/modules/cscope-mpi.in >$(cs_module)/$(VERSION)
	chmod 644 $(cs_module)/$(VERSION)
uninstall-local:
	rm -f $(cs_module)/$(VERSION)
	-rmdir $(cs_module) $(DESTDIR)$(pkgdatadir)/modules

# ---- completion, made from the table of options; a release carries it finished ----
EXTRA_PROGRAMS += %D%/completion/completion
%C%_completion_completion_SOURCES = %D%/completion/completion.c $(CS_OPTIONS)
%C%_completion_completion_LDADD = $(CS_LINK)
bashcompdir = $(datadir)/bash-completion/completions
dist_bashcomp_DATA = %D%/completion/cscope-mpi
zshcompdir = $(datadir)/zsh/site-functions
dist_zshcomp_DATA = %D%/completion/_cscope-mpi
fishcompdir = $(datadir)/fish/vendor_completions.d
dist_fishcomp_DATA = %D%/completion/cscope-mpi.fish
MAINTAINERCLEANFILES += $(dist_bashcomp_DATA) $(dist_zshcomp_DATA) $(dist_fishcomp_DATA)

cs_completion = $(AM_V_GEN)$(MKDIR_P) %D%/completion && \
	%D%/completion/completion$(EXEEXT) $$shell >$@.tmp && mv -f $@.tmp $@
cs_completes = src/options/table.c src/options/values.c %D%/completion/completion.c | \
	%D%/completion/completion$(EXEEXT)
%D%/completion/cscope-mpi: $(cs_completes)
	@shell=bash; $(cs_completion)
%D%/completion/_cscope-mpi: $(cs_completes)
	@shell=zsh; $(cs_completion)
%D%/completion/cscope-mpi.fish: $(cs_completes)
	@shell=fish; $(cs_completion)

# ---- each kind tried by what it is for: not in `make check` ----
# A folder's check.t speaks TAP, sources tests/packages/lib.sh, and skips where its tools
# are missing.  `make check-packages PACKAGES=release` runs one.
PACKAGES = \
	release
PACKAGE_CHECKS = $(PACKAGES:%=%D%/%/check.t)
EXTRA_DIST += \
	%D%/README.md \
	%D%/dependencies \
	%D%/release/README.md \
	%D%/release/check.t \
	%D%/release/sbom

# What plugs into other tools.
PACKAGES += \
	completion \
	modules \
	monitoring \
	nhc \
	node-problem-detector
EXTRA_DIST += \
	%D%/completion/README.md \
	%D%/completion/check.t \
	%D%/completion/tab.py \
	%D%/modules/README.md \
	%D%/modules/check.t \
	%D%/modules/cscope-mpi.in \
	%D%/monitoring/alerts-test.yml \
	%D%/monitoring/check.t \
	%D%/nhc/check.t \
	%D%/node-problem-detector/check.t

check-packages: all
	$(MAKE) $(AM_MAKEFLAGS) check TESTS='$(PACKAGE_CHECKS)'
.PHONY: check-packages

# ---- releases: the same sources make the same bytes ----
# The time is that of the last commit, or the one that a release was unpacked with.
# gzip and xz put nothing of their own into what they read from a pipe.
cs_epoch = $${SOURCE_DATE_EPOCH:-`if test -e $(srcdir)/.git; then \
	git -C $(srcdir) log -1 --format=%ct; else stat -c %Y $(srcdir)/configure.ac; fi`}
am__tar = $${TAR-tar} --format=ustar --sort=name --owner=0 --group=0 --numeric-owner \
	--hard-dereference --mode=a=rX,u+w --mtime=@$(cs_epoch) -chf - "$$tardir"

release: dist
	sha256sum $(DIST_ARCHIVES) >$(distdir).sha256
	$(srcdir)/%D%/release/sbom $(distdir).tar.gz $(cs_epoch) >$(distdir).spdx.json
.PHONY: release
