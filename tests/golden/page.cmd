# 8 GPUs with a slow link, as a page.
"$CSCOPE" show "$TESTDATA/fixtures/answer/slow-link.json" -f html
