# needs cuda
export CS_LIBCUDA=$FAKE/libcuda.so.1 CS_LIBNVML=$FAKE/libnvidia-ml.so.1 FAKE_MEMORY=12000000
ln -s "$CS_PROGRAM" nvbandwidth
tests='0 device_to_host_bidirectional_memcpy_ce 5 6 13 32 no_such_test 33 99 multinode_bisect_write_ce 45'
# JSON has a line for each figure: of two GPUs their matrices are shown as well as of four
for given in 4 '2 -j' 1 '1 -j'; do
	echo "== $given"
	FAKE_GPUS=${given% *} ./nvbandwidth -b 1 -i 3 ${given#[0-9]} -t $tests
	echo "status $?"
done
for given in '-t 5' '-t no_such_test' '-j -t 45'; do
	echo "== 1 GPU, $given"
	FAKE_GPUS=1 ./nvbandwidth -b 1 $given
	echo "status $?"
done
echo "== verbose"
FAKE_GPUS=1 FAKE_DRIFT=0.001 ./nvbandwidth -b 1 -i 3 -v -t host_to_device_memcpy_ce
echo "== list and help"
./nvbandwidth -l
./nvbandwidth -h
