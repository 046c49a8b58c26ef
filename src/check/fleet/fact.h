/* fact.h - a field of the fingerprint and the value that it should have. */
#pragma once

#include "result/run.h"

struct cs_site_fact {
	uint32_t class;	     /* of a baseline; 0 of --expect */
	uint32_t nodes;	     /* it was learnt from so many; 0: it is of --expect */
	char field[40];	     /* "gpus"; "vbios": of every GPU; "gpu3.numa" */
	char value[CS_NAME]; /* "" any: the field is not judged */
};

/* The expectation of --expect for that field, of whatever part; NULL: none. */
const struct cs_site_fact *cs_site_fact_asked(const struct cs_run *run,
					      const char *base);
/* May the field have any value? */
int cs_is_waived(const struct cs_run *run, const char *base);
