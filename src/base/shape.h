/* shape.h - the bytes of a copy that is not one block: a face of a grid, or pieces at a
 * distance.
 *
 * A shape is a number, so that it can be compared and kept; as text it is "512x512x512:2:x"
 * (elements of a grid, how many of them a face is deep, which face) or "4/64" (that many
 * bytes of each so many).  0 is none. */
#pragma once

#include <stddef.h>
#include <stdint.h>

#include "base/err.h"

enum { CS_FACE_X = 1, CS_FACE_Y, CS_FACE_Z };

#define CS_SHAPE_TEXT 32 /* bytes of its text */
#define CS_SHAPE_SPAN (8ull << 30) /* bytes that one goes through, at most */
#define CS_SHAPE_HALO 2u	   /* of a face, by default */

/* A face of a grid of x * y * z elements; pieces of some bytes. */
uint64_t cs_shape_face(uint32_t x, uint32_t y, uint32_t z, uint32_t halo, int face);
uint64_t cs_shape_pieces(uint32_t piece, uint32_t each);
int cs_shape_is_face(uint64_t shape);
int cs_shape_is_sound(uint64_t shape);
void cs_shape_text(uint64_t shape, char *to, size_t size);

/* A shape, or of a grid without a face all three: how many; -1. */
#define CS_SHAPE_FACES 3
int cs_shape_parse(const char *text, uint64_t shape[CS_SHAPE_FACES],
		   struct cs_err *err);

/* The largest cube whose elements have that many bytes, 4 elements wide at least. */
uint32_t cs_shape_cube(uint64_t bytes, unsigned element);

/* The parts of a copy that its sender packs and its receiver unpacks. */
enum cs_stage { CS_STAGE_PACK, CS_STAGE_TRANSFER, CS_STAGE_UNPACK, CS_STAGES };

/* The places of the bytes of a shape: `rows` pieces of `width`, `pitch` from one to
 * the next, as few rows as possible; and the same as a part of a grid. */
struct cs_extent {
	uint64_t src_at,
		dst_at; /* its first byte in the buffer that is copied from, to */
	uint64_t span;	/* bytes of such a buffer */
	uint64_t width, pitch, rows;
	struct {
		uint64_t bytes, pitch;	 /* of a row of the grid */
		uint64_t height, planes; /* rows of a plane, planes */
		uint64_t tall;		 /* rows from one plane to the next */
	} grid;
};
/* For a copy of so many bytes. */
struct cs_extent cs_shape_box(uint64_t shape, unsigned element, uint64_t bytes);
/* How many bytes are copied; of pieces in a buffer of `span` bytes. */
uint64_t cs_shape_bytes(uint64_t shape, unsigned element, uint64_t span);
