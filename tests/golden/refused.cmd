# needs cuda
# needs mpirun
export CS_LIBCUDA=$FAKE/libcuda.so.1 CS_LIBNVML=$FAKE/libnvidia-ml.so.1
FAKE_GPUS=3 FAKE_IPC_REFUSE=1 FAKE_NO_VMM=1 "$MPIRUN" 2 "$CSCOPE" -m peer -s 1M --seed 1 --cell-limit 1m
