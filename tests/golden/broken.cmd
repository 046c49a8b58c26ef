# needs cuda
export CS_LIBCUDA=$FAKE/libcuda.so.1 CS_LIBNVML=$FAKE/libnvidia-ml.so.1
# the copy that breaks its context is one GPU's only
FAKE_GPUS=2 FAKE_FAULT=cuMemcpyAsync:40=700 "$CSCOPE" -s 1M --seed 1 |
	sed 's/process [0-9]*/process N/'
