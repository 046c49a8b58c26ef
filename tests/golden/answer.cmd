# What a reader sees of 8 GPUs of the driver's double; on a wide page, of a healthy run
# and of one with findings: the others differ in the same way from the narrow one.
shown() { # COLUMNS RUN...
	local columns=$1 run
	shift
	for run; do
		echo "=== $run, $columns columns"
		COLUMNS=$columns "$CSCOPE" show "$TESTDATA/fixtures/answer/$run.json" >page
		cat page
		awk -v most="$columns" 'length > most { print "too long: " $0 }' page
	done
}
shown 80 healthy slow-link slow-gpu lost throttled
shown 120 healthy throttled
COLUMNS=80 "$CSCOPE" show "$TESTDATA/fixtures/answer/slow-link.json" --color always | grep -A3 'from\\to' | sed -n 2p | od -c | head -n 8
