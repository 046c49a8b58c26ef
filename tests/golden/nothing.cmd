# needs cuda
export CS_LIBCUDA=$FAKE/libcuda.so.1 CS_LIBNVML=$FAKE/libnvidia-ml.so.1
FAKE_GPUS=2 FAKE_NO_PEER=0-1,1-0 "$CSCOPE" -m peer -s 1M --seed 1 --cell-limit 1m
