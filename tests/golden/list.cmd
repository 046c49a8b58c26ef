"$CSCOPE" --list
