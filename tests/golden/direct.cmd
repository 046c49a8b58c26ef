# needs cuda
export CS_LIBCUDA=$FAKE/libcuda.so.1 CS_LIBNVML=$FAKE/libnvidia-ml.so.1
FAKE_GPUS=8 FAKE_MEMORY=34000000 "$CSCOPE" -m peer -s 64K --seed 1 --cell-limit 60s
