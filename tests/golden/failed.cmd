# needs cuda
export CS_LIBCUDA=$FAKE/libcuda.so.1 CS_LIBNVML=$FAKE/libnvidia-ml.so.1
# one way only: both ways, the 140th copy of the process would be either GPU's
FAKE_GPUS=3 FAKE_FAIL=cuMemcpyAsync:140=1 "$CSCOPE" -s 1M --seed 1 --cell-limit 1m --pattern pair
