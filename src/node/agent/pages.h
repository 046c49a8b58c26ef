/* pages.h - where the pages of a range of managed memory are, and the proof of it; for
 * memory_managed.c. */
#pragma once

#include "node/agent/memory.h"

/* The place of pages that are at that end. */
struct cs_um_place cs_page_place(const struct cs_endpoints *e,
				 const struct cs_endpoint *end);
/* Do its pages move because they are touched? */
int cs_pages_are_touched(const struct cs_transfer *t);
/* May its pages stay in place, because they are copied or used remotely? */
int cs_pages_may_stay(const struct cs_transfer *t);
/* Have all pages stayed?  Only the kernel's answer about host memory can prove it. */
int cs_pages_have_stayed(const struct cs_endpoints *e, const struct cs_range *range);
/* Is all of it in host memory, or, if it should be on a GPU, none?  *known: the kernel
 * answered. */
int cs_pages_prove_host(struct cs_endpoints *e, const struct cs_range *range,
			int is_dst, int *known);
/* page_counts.c: count what is done to the ranges from now on (`on`), or end that. */
void cs_pages_count(struct cs_endpoints *e, int on);
/* Did the agent's own GPU read it as it reads its own memory (near)? */
int cs_pages_prove_near(struct cs_endpoints *e, const struct cs_transfer *t,
			int is_dst, int near, int known);
