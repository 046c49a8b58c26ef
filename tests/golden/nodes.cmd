# needs cuda
# needs mpirun
export CS_LIBCUDA=$FAKE/libcuda.so.1 CS_LIBNVML=$FAKE/libnvidia-ml.so.1
cat >node <<'END'
#!/bin/sh
rank=${OMPI_COMM_WORLD_RANK:-${PMIX_RANK:-${PMI_RANK:-0}}}
CS_TEST_SCOPE=node$((rank / 2)) exec "$@"
END
chmod +x node
FAKE_GPUS=2 "$MPIRUN" 4 ./node "$CSCOPE" -s 1M --seed 1
