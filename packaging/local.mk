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
	%D%/release/README.md \
	%D%/release/check.t

check-packages: all
	$(MAKE) $(AM_MAKEFLAGS) check TESTS='$(PACKAGE_CHECKS)'
.PHONY: check-packages
