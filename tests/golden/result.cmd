# needs cuda
export CS_LIBCUDA=$FAKE/libcuda.so.1 CS_LIBNVML=$FAKE/libnvidia-ml.so.1
FAKE_GPUS=4 "$CSCOPE" -s 1M --seed 1 --cell-limit 1m -f result --op both
