#!/bin/bash
# Names of Comm|Scope, its command line, and its output as Google Benchmark has it.
# shellcheck source=/dev/null disable=SC2016,SC2034,SC2154 # ok() evaluates conditions
. "$(dirname "$0")/lib.sh"
needs_fake
fake 4

ln -s "$CS_PROGRAM" comm_scope
scope() { # OPTION...: as their program is called
	"$TESTDATA/patience" "${CS_TIMEOUT:-60}" ./comm_scope "$@" >out 2>err
	status=$?
}
# FILE of names: one family each
families() {
	sed 's,/.*,,' "$1" | awk '!seen[$0]++' | paste -sd' '
}

# ---- names and filters ----

one=Comm_cudaMemcpyAsync_PinnedToGPU
run 0 --no-mpi --seed 1 -t "${one}_flush/0/1/18" -o a.json -o a.jsonl
ok "an exact instance is one cell: its test, cold, its size, its ends" eval \
	'status_is 0 && prints "cold caches, .*GB.s .h2d.ce.registered.pair"'
ok_json "... in documents too" a.json \
	'[(r["test"], r["src"], r["dst"], r["copy_bytes"], r["cache"]) for r in d["results"]] == [("h2d.ce.registered.pair", "numa0", "gpu1", 262144, "cold")] and d["run"]["choices"][0]["dst"] == 1'
run 0 --no-mpi --resume a.jsonl -t "${one}_flush/0/1/18"
ok "... and a journal of it is complete" eval 'status_is 0 && grep -q "is complete" err'
run 0 show a.json
ok "... shown again as it was" eval 'prints "cold caches, .*GB.s .h2d.ce.registered.pair" && prints "1 of 1 cells"'

run 0 -n --gpus 4 --seed 1 -m peer --filter '/gpu0/gpu[12]/'
ok "--filter takes cells by our names" eval 'prints "write.pair .* 2 steps" && prints "write.bidi .* 2 steps"'
run 0 -n --gpus 4 --seed 1 -m peer --filter '-gpu0'
ok "... those that it does not fit behind a -" eval 'prints "write.pair .* 6 steps"'
run 0 -n --gpus 4 --seed 1 --suite commscope --filter 'GPUToGPUPeer/0/(1|3)/'
ok "... and by theirs" eval 'prints "^test  *peer.ce.read.pair .* 2 steps" && [ "$(grep -c ^test out)" = 1 ]'
run 0 -n --gpus 1,3 --seed 1 --suite commscope --filter 'GPUToGPUPeer/3/1/'
ok "GPUs go by the numbers that they have" prints "^test  *peer.ce.read.pair .* 1 step$"
run 0 -n --gpus 4 -m peer --filter nothing
ok "a filter that takes nothing: said" eval 'status_is 64 && grep -q "takes no cell of peer.ce.write.pair" err'
run 0 -n --gpus 4 -m peer --filter '('
ok "a filter that is no expression: refused" eval 'status_is 64 && grep -q "not an extended regular expression" err'
run 0 -n --gpus 4 -m peer --filter "$(printf '%0300d' 0)"
ok "... or too long" eval 'status_is 64'
run 0 --no-mpi --seed 1 -s 64K -m peer --pattern pair --filter /gpu0/ -o f.jsonl
run 0 --no-mpi --resume f.jsonl -s 64K -m peer --pattern pair --filter /gpu1/
ok "a journal knows its filter" grep -q "filter is '/gpu1/', in the journal '/gpu0/'" err

run 0 -n --gpus 2 --seed 1 --suite commscope
ok "--suite commscope is its tests, each once warm and cold" eval \
	'[ "$(unfolded | grep -c "^test .*cold")" -ge 3 ] && prints "^test  *h2d.ce.registered.bidi "'
run 0 -t UM_Demand_GPUToHost -n --gpus 1
ok "managed memory is measured by its names" eval 'status_is 0 && prints "^test  *d2h.demand.managed.pair "'

CS_TIMEOUT=200 run 0 --no-mpi --seed 1 --gpus 0,1 -s 64K --spread 64K --cell-limit 20ms --via direct --suite commscope
ok "what it leaves out is said, with the first reason" eval \
	'status_is 0 && prints "1 of the 34 benchmarks of Comm.Scope are left out:" && prints "Comm_[A-Za-z_]*. is (not measured|measured with)"'

run 0 --no-mpi --seed 1 --gpus 0,1 -s 64K --spread 64K --cell-limit 1s -t 'Comm_chunk_pull/0/1/32/16,Comm_stride_push/1/0/16,Comm_cudart_kernel/0/1/256,Comm_libc_malloc/0/16' -f commscope-csv
ok "shapes and calls by their names, in its files too" eval \
	'status_is 0 && [ "$(sed -n "s/^\"\(Comm_[^\"]*\)\".*/\1/p" out | sort | paste -sd" ")" = "Comm_chunk_pull/0/1/32/16/manual_time Comm_cudart_kernel/0/1/256/real_time/threads:1 Comm_libc_malloc/0/log2(N):16 Comm_libc_malloc/0/log2(N):16 Comm_stride_push/1/0/16/manual_time" ]'

# ---- their command line ----

scope --benchmark_list_tests --cuda 0 --cuda 1
ok "its names are listed: families, arguments, sizes as there" eval \
	'status_is 0 && grep -qxF "$one/0/1/log2(N):28/manual_time" out && grep -qxF "${one}_flush/0/0/log2(N):8/manual_time" out &&
	 [ "$(grep -c "^$one/0/0/" out)" = 25 ] && grep -qxF "Comm_cudaMemcpyAsync_Duplex_GPUGPUPeer/0/1/log2(N):30/manual_time" out'
scope --benchmark_list_tests=true --benchmark_filter='PinnedToGPU/0/(0|3)/' --cuda 0 --cuda 3
ok "... those that a filter takes" eval \
	'status_is 0 && [ "$(families out)" = "$one Comm_3d_cudaMemcpy2DAsync_PinnedToGPU Comm_3d_cudaMemcpy3DAsync_PinnedToGPU Comm_3d_kernel3D_PinnedToGPU Comm_cudart_cudaMemcpyAsync_PinnedToGPU" ] &&
	 [ "$(cut -d/ -f3 out | sort -u | paste -sd,)" = 0,3 ]'

filter="cudaMemcpyAsync_(PinnedToGPU|GPUToGPUPeer).*/0/(1|3)/log2\(N\):(16|18)/"
scope --benchmark_out_format=csv --benchmark_out=x.csv --benchmark_filter="$filter" \
	--numa 0 --cuda 0 --cuda 1 --cuda=3
ok "a line of its scripts is carried out" eval 'status_is 0 && [ "$(grep -c "^Comm_" out)" = 12 ] && [ "$(wc -l <x.csv)" = 13 ]'
ok "the console is Google Benchmark's" eval \
	'sed -n 2p out | grep -qE "^Benchmark +Time +CPU +Iterations UserCounters\.\.\.$" && head -n 1 out | grep -qE "^-+$" &&
	 grep -qE "^$one/0/1/log2\(N\):16/manual_time +[0-9]+ ns +0\.000 ns +[0-9]+ bytes=65\.536k bytes_per_second=[0-9.]+G/s cuda_id=1 numa_id=0$" out'
ok "CSV has all columns for all families" eval \
	'[ "$(awk -F\", "NR > 1 { print gsub(/,/, \",\") }" x.csv | sort -u | wc -l)" = 1 ] && grep -q "\"cuda_id\"" x.csv && grep -q "\"dst_gpu\"" x.csv'

scope --benchmark_filter="$one/0/1/log2\(N\):18" --benchmark_out=r.json --benchmark_repetitions=5
ok_json "with repetitions a row a sample, and mean, median, stddev, cv" r.json \
	'[b.get("aggregate_name") for b in d["benchmarks"]] == [None] * 5 + ["mean", "median", "stddev", "cv"]'
ok_json "... whose figures agree" r.json \
	'(lambda b: b[5]["real_time"] == b[6]["real_time"] == b[0]["real_time"] and b[8]["aggregate_unit"] == "percentage" and abs(b[0]["bytes"] * 1e9 / b[0]["real_time"] / b[0]["bytes_per_second"] - 1) < 1e-6)(d["benchmarks"])'
scope --benchmark_filter="$one/0/1/log2\(N\):18" --benchmark_format=json --benchmark_repetitions=5 \
	--benchmark_report_aggregates_only
cp out aggregates.json
ok_json "... the last four alone, if asked for" aggregates.json 'len(d["benchmarks"]) == 4'

scope --benchmark_filter="$one/0/1/log2\(N\):18" --benchmark_color=yes --benchmark_counters_tabular \
	--benchmark_min_warmup_time=1 --benchmark_time_unit=ms
ok "what means nothing here is said in one line" eval \
	'status_is 0 && [ "$(grep -c "no meaning here" err)" = 1 ] && grep -q "benchmark_color.*tabular\|tabular.*benchmark_color" err && grep -q time_unit err'
scope --benchmark_list_tests --benchmark_filter='-Flush|/[^0]/' -c 0 -c=3 -n 0
ok "-c and -n of older versions are --cuda and --numa" eval \
	'status_is 0 && [ -s out ] && [ "$(grep "^$one/" out | cut -d/ -f2,3 | sort -u | paste -sd" ")" = "0/0" ]'
scope --benchmark_nothing
ok "what is unknown is refused, as there" eval 'status_is 64 && grep -q "Error in command line: Unrecognized token: --benchmark_nothing" err'
scope --benchmark_filter=Comm_UM_Nothing
ok "... and a filter that fits nothing, as there" eval \
	'status_is 3 && grep -qF "Failed to match any benchmarks against regex: Comm_UM_Nothing (" err'
scope --cuda
ok "... and --cuda without a number" eval 'status_is 64 && grep -q "needs a value" err'
scope --benchmark_format=xml
ok "... and an unknown format" eval 'status_is 64 && grep -q "allowed are console, json, csv" err'
BENCHMARK_FILTER="GPUToGPUPeer/0/1/log2\(N\):16" scope --cuda 0 --cuda 1
ok "the environment speaks for the command line" eval 'status_is 0 && grep -q "^Comm_cudaMemcpyAsync_GPUToGPUPeer/0/1/" out'
scope --help
ok "--help lists its options" eval 'status_is 0 && grep -q -- --benchmark_filter out && grep -q "^Usage: comm_scope" out'

(unset FAKE_MEMORY && exec ./comm_scope --benchmark_filter='log2.N.:([89]|1[0-9]|2[01])/' >out 2>err) &
begun=$!
ok "what takes more than 10 s is announced, before it is measured" until_true 10 grep -qE \
	"^cscope-mpi: [0-9]{3,4} steps, about [0-9]{2,3} s: --benchmark_filter takes fewer$" err
kill "$begun" && wait "$begun"

# ---- formats of any run ----

run 0 --no-mpi --seed 1 --gpus 0,1 -s 64K -t "peer.ce.write.pair,cudaMemcpyAsync_Duplex_GPUGPUPeer" \
	-f commscope-json -o commscope-csv:y.txt -o c.json
cp out g.json
ok_json "a test without a name there has ours" g.json \
	'sorted(b["name"] for b in d["benchmarks"]) == ["Comm_cudaMemcpyAsync_Duplex_GPUGPUPeer/0/1/log2(N):16/manual_time", "peer.ce.write.pair/gpu0/gpu1/64K", "peer.ce.write.pair/gpu1/gpu0/64K"]'
ok_json "both ways are one benchmark with the bytes of both" g.json \
	'(lambda b: abs(b["bytes_per_second"] * b["real_time"] / 1e9 / b["bytes"] - 2) < 1e-6)(next(b for b in d["benchmarks"] if "Duplex" in b["name"]))'
ok "a format may stand before an output" eval 'head -n 1 y.txt | grep -q "^name,iterations,real_time,cpu_time,time_unit,"'
run 0 show c.json -f commscope-json
ok "show tells the same" cmp -s out g.json
FAKE_FAIL=cuMemcpyAsync:1=1 run 0 --no-mpi --seed 1 --gpus 0,1 -s 64K -t peer.ce.read.pair -f commscope
ok "a cell that failed says why" eval '[ "$status" = 2 ] && grep -q "ERROR OCCURRED: " out'
finish
