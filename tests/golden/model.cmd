results=$TESTDATA/../doc/results/h200x2
"$CSCOPE" show "$results/model.json" --model 2e12,3G -f model | sed -n '/words of 8 bytes/,/^$/p'
"$CSCOPE" show "$results/model.json" --model 2e12
"$CSCOPE" show "$results/model.json" --model 0,2
