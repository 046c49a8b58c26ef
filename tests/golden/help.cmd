"$CSCOPE" --help
"$CSCOPE" --help=all
