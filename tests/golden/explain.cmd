"$CSCOPE" --explain cuda-802
"$CSCOPE" --explain device_to_device_memcpy_write_ce
