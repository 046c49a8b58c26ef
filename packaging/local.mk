# What other tools load of ours; beside the program's data.
nhcdir = $(pkgdatadir)/nhc
dist_nhc_DATA = %D%/nhc/README.md %D%/nhc/cscope-mpi.nhc

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
