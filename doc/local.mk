dist_pkgdata_DATA += %D%/cscope-mpi-1.schema.json
EXTRA_DIST += \
	%D%/ARCHITECTURE.md \
	%D%/METHOD.md \
	%D%/READING.md \
	%D%/results
