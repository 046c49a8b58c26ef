/* document.h - a finished run as one JSON object, always complete. */
#pragma once

#include <stdio.h>

#include "result/run.h"

/* In an arena. */
void cs_json_write(FILE *to, const struct cs_run *run);
/* Reads all of one.  0: there are more objects, so it is a journal. */
struct cs_reader;
int cs_json_read(struct cs_reader *r);
/* The JSON library's release. */
const char *cs_json_library(void);
