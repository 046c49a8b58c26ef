/* decoder.h - texts of records become JSON, several at the same time: that is most of
 * what reading a file takes. */
#ifndef CS_FILE_DECODER_H
#define CS_FILE_DECODER_H

#include <jansson.h>
#include <stddef.h>

#include "base/err.h"

struct cs_loaded;

typedef int cs_take_fn(struct cs_loaded *to, json_t *record, struct cs_err *err);

/* A record of a file. */
struct cs_piece {
	size_t at, size;	/* bytes of the file */
	const char *text;	/* in memory, while it is decoded */
	cs_take_fn *take;	/* who wants it */
	json_t *value;		/* once it is decoded; NULL it is no JSON */
	int decoded;
};

/* As all records are decoded; NULL, with the error. */
json_t *cs_decode(const char *text, size_t size, json_error_t *error);

struct cs_decoder;

/* So many threads beside the caller's; NULL without one, and then the caller decodes. */
struct cs_decoder *cs_decoder_start(int threads);
void cs_decoder_stop(struct cs_decoder *d);

/* Their texts, not decoded yet, are from now on, and have to stay where they are until
 * the end. */
void cs_decoder_begin(struct cs_decoder *d, struct cs_piece *piece, size_t n);
/* That of one of them, once, the caller's from now on; NULL it is no JSON. */
json_t *cs_decoder_value(struct cs_decoder *d, struct cs_piece *piece);
/* Values that nobody asked for go. */
void cs_decoder_end(struct cs_decoder *d);

#endif
