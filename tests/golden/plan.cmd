"$CSCOPE" --dry-run -m peer --gpus 8 --seed 1
"$CSCOPE" --dry-run --gpus 4 --seed 1 -v --pattern bidi
