# 8 GPUs with a slow link, as a page and as a picture.
"$CSCOPE" show "$TESTDATA/fixtures/answer/slow-link.json" -f html
"$CSCOPE" show "$TESTDATA/fixtures/answer/slow-link.json" -f picture
