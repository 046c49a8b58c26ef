"$CSCOPE" --list
"$CSCOPE" --list=all
