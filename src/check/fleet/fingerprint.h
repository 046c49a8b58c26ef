/* fingerprint.h - what nodes of one kind should have in common, as text that can be
 * compared.  Pure.
 *
 * A trait is one field of one layer and its value.  GPUs are told apart by their
 * position in the order of bus ids, so that a node with other bus numbers is still the
 * same.  Identity (UUIDs, bus numbers, hosts) is never part of a value.  Unknown fields
 * are left out, because they are no difference. */
#pragma once

#include "base/fieldset.h"
#include "base/vec.h"
#include "result/run.h"

struct cs_trait {
	uint32_t layer;	       /* enum cs_layer */
	char field[40];	       /* "kernel", "gpu3.nvlinks", "rank0.cpus" */
	char bus_id[CS_BUSID]; /* of the GPU on this node; "" none; not compared */
	char value[CS_NAME];
};

/* Appends those of one node, sorted by layer, then field.  -1: no memory. */
int cs_fingerprint(const struct cs_run *run, int node, struct cs_vec *traits,
		   struct cs_err *err);
/* By layer, then field. */
int cs_trait_compare(const void *a, const void *b);
/* Hash of the fields and values of one layer: equal for nodes with equal traits. */
uint64_t cs_fingerprint_hash(const struct cs_vec *traits, int layer);
/* Hash of one text: a field, a value. */
uint64_t cs_text_hash(const char *text);
/* "wiring", "firmware", "software", "settings", "launch" */
const char *cs_layer_text(int layer);
