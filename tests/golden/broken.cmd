# needs cuda
export CS_LIBCUDA=$FAKE/libcuda.so.1 CS_LIBNVML=$FAKE/libnvidia-ml.so.1
set -o pipefail
FAKE_GPUS=3 FAKE_FAULT=cuMemcpyAsync:140=700 "$CSCOPE" -s 1M --seed 1 --cell-limit 1m --pattern pair 2>&1 |
	sed 's/process [0-9][0-9]*/process N/'
