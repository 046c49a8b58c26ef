"$CSCOPE" --help
