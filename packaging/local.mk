# What other tools load of ours; beside the program's data.
nhcdir = $(pkgdatadir)/nhc
dist_nhc_DATA = %D%/nhc/README.md %D%/nhc/cscope-mpi.nhc
monitoringdir = $(pkgdatadir)/monitoring
dist_monitoring_DATA = \
	%D%/monitoring/README.md \
	%D%/monitoring/alerts.yml \
	%D%/monitoring/dashboard.json
reframedir = $(pkgdatadir)/reframe
dist_reframe_DATA = \
	%D%/reframe/README.md \
	%D%/reframe/cscope_mpi.py
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
	%D%/completion/completion$(EXEEXT) $(cs_shell) >$@.tmp && mv -f $@.tmp $@
cs_completes = src/options/table.c src/options/options.def src/options/values.c %D%/completion/completion.c | \
	%D%/completion/completion$(EXEEXT)
%D%/completion/cscope-mpi: cs_shell = bash
%D%/completion/cscope-mpi: $(cs_completes)
	$(cs_completion)
%D%/completion/_cscope-mpi: cs_shell = zsh
%D%/completion/_cscope-mpi: $(cs_completes)
	$(cs_completion)
%D%/completion/cscope-mpi.fish: cs_shell = fish
%D%/completion/cscope-mpi.fish: $(cs_completes)
	$(cs_completion)

# ---- each kind tried by what it is for: not in `make check` ----
# A folder's check.t speaks TAP, sources tests/packages/lib.sh, and skips where its tools
# are missing.  `make check-packages PACKAGES=release` runs one.
PACKAGES = \
	container \
	debian \
	release \
	rpm
PACKAGE_CHECKS = $(PACKAGES:%=%D%/%/check.t)
EXTRA_DIST += \
	%D%/README.md \
	%D%/container/Dockerfile \
	%D%/container/README.md \
	%D%/container/check.t \
	%D%/container/cscope-mpi.def \
	%D%/container/install \
	%D%/debian/README.md \
	%D%/debian/check.t \
	%D%/debian/control.in \
	%D%/debian/copyright \
	%D%/debian/docs \
	%D%/debian/prepare \
	%D%/debian/rules \
	%D%/debian/source/format \
	%D%/debian/tests/control \
	%D%/debian/tests/smoke \
	%D%/dependencies \
	%D%/release/README.md \
	%D%/release/check.t \
	%D%/release/sbom \
	%D%/rpm/README.md \
	%D%/rpm/check.t \
	%D%/rpm/cscope-mpi.spec.in \
	%D%/rpm/prepare

# What plugs into other tools.
PACKAGES += \
	completion \
	easybuild \
	modules \
	monitoring \
	nhc \
	node-problem-detector \
	reframe \
	spack
EXTRA_DIST += \
	%D%/completion/README.md \
	%D%/completion/check.t \
	%D%/completion/tab.py \
	%D%/easybuild/README.md \
	%D%/easybuild/check.t \
	%D%/easybuild/cscope-mpi.eb.in \
	%D%/modules/README.md \
	%D%/modules/check.t \
	%D%/modules/cscope-mpi.in \
	%D%/monitoring/alerts-test.yml \
	%D%/monitoring/check.t \
	%D%/nhc/check.t \
	%D%/node-problem-detector/check.t \
	%D%/reframe/check.t \
	%D%/spack/README.md \
	%D%/spack/check.t \
	%D%/spack/package.py

check-packages: all
	$(MAKE) $(AM_MAKEFLAGS) check-TESTS TESTS='$(PACKAGE_CHECKS)' \
		check_PROGRAMS='$(FAKE_DRIVERS) tests/program/cscope-mpi$(EXEEXT)'
.PHONY: check-packages

# ---- releases: the same sources make the same bytes ----
# The time is that of the last commit, or the one that a release was unpacked with.
# gzip and xz put nothing of their own into what they read from a pipe.
cs_epoch = $${SOURCE_DATE_EPOCH:-`if test -e $(abs_top_srcdir)/.git; then \
	git -C $(abs_top_srcdir) log -1 --format=%ct; else stat -c %Y $(abs_top_srcdir)/configure.ac; fi`}
am__tar = $${TAR-tar} --format=ustar --sort=name --owner=0 --group=0 --numeric-owner \
	--hard-dereference --mode=a=rX,u+w --mtime=@$(cs_epoch) -chf - "$$tardir"

release: dist
	sha256sum $(DIST_ARCHIVES) >$(distdir).sha256
	$(srcdir)/%D%/release/sbom $(distdir).tar.gz $(cs_epoch) >$(distdir).spdx.json
.PHONY: release

# ---- packages of this machine's kind, in folders deb and rpm ----
deb: dist
	rm -rf deb && $(MKDIR_P) deb
	cd deb && $(abs_top_srcdir)/%D%/debian/prepare ../$(distdir).tar.gz $(cs_epoch) && \
		cd $(distdir) && dpkg-buildpackage -us -uc

rpm: dist
	rm -rf rpm && $(MKDIR_P) rpm/SOURCES && cp $(distdir).tar.gz rpm/SOURCES
	$(srcdir)/%D%/rpm/prepare $(VERSION) >rpm/cscope-mpi.spec
	rpmbuild -ba $(RPMFLAGS) --define "_topdir $$PWD/rpm" rpm/cscope-mpi.spec
.PHONY: deb rpm
