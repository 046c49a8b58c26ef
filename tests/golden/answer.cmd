# What a reader sees of 8 GPUs of the driver's double, on two widths.
for columns in 80 120; do
	for run in healthy slow-link slow-gpu lost throttled; do
		echo "=== $run, $columns columns"
		COLUMNS=$columns "$CSCOPE" show "$TESTDATA/fixtures/answer/$run.json" >page
		cat page
		awk -v most=$columns 'length > most { print "too long: " $0 }' page
	done
done
COLUMNS=80 "$CSCOPE" show "$TESTDATA/fixtures/answer/slow-link.json" --color always | grep -A3 'from\\to' | sed -n 2p | od -c | head -n 8
