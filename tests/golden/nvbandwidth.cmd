# needs cuda
export CS_LIBCUDA=$FAKE/libcuda.so.1 CS_LIBNVML=$FAKE/libnvidia-ml.so.1 FAKE_MEMORY=12000000
ln -s "$CS_PROGRAM" nvbandwidth
tests='0 device_to_host_bidirectional_memcpy_ce 5 6 13 32 no_such_test 33 99 multinode_bisect_write_ce 45'
for gpus in 4 1; do
	for json in '' -j; do
		echo "== $gpus GPUs $json"
		FAKE_GPUS=$gpus ./nvbandwidth -b 1 -i 3 $json -t $tests
		echo "status $?"
	done
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
