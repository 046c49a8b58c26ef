"$CSCOPE" --explain cuda-802
"$CSCOPE" --explain device_to_device_memcpy_write_ce
"$CSCOPE" --explain h2d.ce.registered.pair
