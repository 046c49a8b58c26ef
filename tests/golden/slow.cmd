# needs cuda
export CS_LIBCUDA=$FAKE/libcuda.so.1 CS_LIBNVML=$FAKE/libnvidia-ml.so.1
FAKE_GPUS=3 FAKE_SLOW=0-2:0.5 FAKE_PCIE=1:4x8 FAKE_NVLINKS_DOWN=2:3 FAKE_THROTTLE=1:0x40 \
	"$CSCOPE" -m peer -s 1M --seed 1 --cell-limit 1m
