"$CSCOPE" --help
"$CSCOPE" --help=all
"$CSCOPE" --set list
