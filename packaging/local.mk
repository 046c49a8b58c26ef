# What other tools load of ours; beside the program's data.
nhcdir = $(pkgdatadir)/nhc
dist_nhc_DATA = %D%/nhc/README.md %D%/nhc/cscope-mpi.nhc
