dist_pkgdata_DATA += %D%/cscope-mpi-1.schema.json
