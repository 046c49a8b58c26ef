#include "base/shape.h"

#include <inttypes.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/units.h"

/* From the lowest bit: the face, and how deep it is, then z, y, x; of pieces no face, then
 * their bytes, then how many bytes from one to the next. */
#define FACE_BITS 2
#define HALO_BITS 8
#define SIDE_BITS 17
#define PIECE_BITS 28
#define EACH_BITS 31

#define GRAIN 4u	       /* bytes: of the smallest element; rows of pieces */
#define SIDE_GRAIN 4u	       /* elements, so that rows and faces are of 16 bytes */
#define GRID_MOST (1ull << 29) /* elements: 8 GiB of 16 bytes each */

struct grid {
	uint32_t side[3]; /* x, y, z */
	uint32_t halo;
	int face; /* 0: pieces */
};

static uint32_t bits(uint64_t *from, unsigned n)
{
	const uint64_t value = *from & ((1ull << n) - 1);

	*from >>= n;
	return (uint32_t)value;
}

static struct grid grid_of(uint64_t shape)
{
	struct grid g = { .face = (int)bits(&shape, FACE_BITS) };

	g.halo = bits(&shape, HALO_BITS);
	for (int i = 3; i--;)
		g.side[i] = bits(&shape, SIDE_BITS);
	return g;
}

static void pieces_of(uint64_t shape, uint64_t *piece, uint64_t *each)
{
	bits(&shape, FACE_BITS);
	*piece = bits(&shape, PIECE_BITS);
	*each = shape;
}

uint64_t cs_shape_face(uint32_t x, uint32_t y, uint32_t z, uint32_t halo, int face)
{
	uint64_t shape = ((uint64_t)x << SIDE_BITS | y) << SIDE_BITS | z;

	return (shape << HALO_BITS | halo) << FACE_BITS | (uint64_t)face;
}

uint64_t cs_shape_pieces(uint32_t piece, uint32_t each)
{
	return ((uint64_t)each << PIECE_BITS | piece) << FACE_BITS;
}

int cs_shape_is_face(uint64_t shape)
{
	return (shape & ((1u << FACE_BITS) - 1)) != 0;
}

static int grid_is_sound(const struct grid *g)
{
	uint64_t all = 1;

	for (int i = 0; i < 3; i++) {
		all *= g->side[i];
		if (g->side[i] < 2 * g->halo)
			return 0;
	}
	return g->halo && all <= GRID_MOST && g->side[0] % SIDE_GRAIN == 0 &&
	       g->side[1] % SIDE_GRAIN == 0;
}

int cs_shape_is_sound(uint64_t shape)
{
	const struct grid g = grid_of(shape);
	uint64_t piece, each;

	if (shape >> 63)
		return 0;
	if (g.face)
		return grid_is_sound(&g);
	pieces_of(shape, &piece, &each);
	return piece && piece < each && piece % GRAIN == 0 && each % GRAIN == 0;
}

void cs_shape_text(uint64_t shape, char *to, size_t size)
{
	const struct grid g = grid_of(shape);
	uint64_t piece, each;

	to[0] = '\0';
	if (g.face) {
		cs_text(to, size, "%ux%ux%u:%u:%c", g.side[0], g.side[1], g.side[2],
			g.halo, "?xyz"[g.face]);
	} else if (shape) {
		pieces_of(shape, &piece, &each);
		cs_text(to, size, "%" PRIu64 "/%" PRIu64, piece, each);
	}
}

/* ---- to be read ---- */

static int refuse(const char *text, struct cs_err *err)
{
	return cs_err_set(
		err,
		"'%s' is no shape: 512x512x512:2 is the three faces of a grid, two "
		"elements deep (x and y multiples of 4, at most 2^29 elements, twice "
		"the depth no more than a side), 512x512x512:2:x one of them; 4/64 "
		"is 4 bytes of each 64 (multiples of 4)",
		text);
}

/* Read a number of at most n bits; returns the text after it, NULL: there is none. */
static const char *take_number(const char *at, unsigned n, uint32_t *value)
{
	char *end;
	unsigned long long all;

	if (*at < '0' || *at > '9')
		return NULL;
	all = strtoull(at, &end, 10);
	*value = (uint32_t)all;
	return all >> n ? NULL : end;
}

/* Skip "x" or the multiplication sign; NULL: there is none. */
static const char *take_times(const char *at)
{
	static const char times[] = "\xc3\x97";

	if (*at == 'x' || *at == 'X')
		return at + 1;
	return strncmp(at, times, 2) ? NULL : at + 2;
}

static const char *take_sides(const char *at, struct grid *g)
{
	for (int i = 0; i < 3 && at; i++) {
		if (i)
			at = take_times(at);
		if (at)
			at = take_number(at, SIDE_BITS, &g->side[i]);
	}
	return at;
}

static int parse_grid(const char *text, uint64_t shape[CS_SHAPE_FACES],
		      struct cs_err *err)
{
	struct grid g = { .halo = CS_SHAPE_HALO };
	const char *at = take_sides(text, &g);
	int n = 0;

	if (at && *at == ':')
		at = take_number(at + 1, HALO_BITS, &g.halo);
	if (at && *at == ':' && at[1] && strchr("xyz", at[1]) && !at[2]) {
		g.face = at[1] - 'x' + CS_FACE_X;
		at += 2;
	}
	if (!at || *at || !grid_is_sound(&g))
		return refuse(text, err);
	for (int face = CS_FACE_X; face <= CS_FACE_Z; face++)
		if (!g.face || g.face == face)
			shape[n++] = cs_shape_face(g.side[0], g.side[1], g.side[2],
						   g.halo, face);
	return n;
}

int cs_shape_parse(const char *text, uint64_t shape[CS_SHAPE_FACES],
		   struct cs_err *err)
{
	const char *slash = strchr(text, '/');
	char piece[CS_SHAPE_TEXT];
	uint64_t n[2];

	if (!slash)
		return parse_grid(text, shape, err);
	cs_text(piece, sizeof(piece), "%.*s", (int)(slash - text), text);
	if (cs_size_parse(piece, &n[0], err) || cs_size_parse(slash + 1, &n[1], err) ||
	    n[0] >> PIECE_BITS || n[1] >> EACH_BITS)
		return refuse(text, err);
	shape[0] = cs_shape_pieces((uint32_t)n[0], (uint32_t)n[1]);
	return cs_shape_is_sound(shape[0]) ? 1 : refuse(text, err);
}

uint32_t cs_shape_cube(uint64_t bytes, unsigned element)
{
	double most = cbrt((double)(bytes < CS_SHAPE_SPAN ? bytes : CS_SHAPE_SPAN) /
			   element);
	/* a cube has no root that is a little too small */
	uint32_t side = (uint32_t)(most + 1e-6) / SIDE_GRAIN * SIDE_GRAIN;

	return side < SIDE_GRAIN ? SIDE_GRAIN : side;
}

/* ---- places ---- */

static struct cs_extent box_of_face(const struct grid *g, unsigned element)
{
	const uint64_t row = (uint64_t)g->side[0] * element, plane = row * g->side[1];
	const uint64_t of[] = { element, row, plane }, from[] = { row, plane, 0 };
	const int i = g->face - CS_FACE_X;
	struct cs_extent box = {
		.dst_at = (g->side[i] - g->halo) * of[i],
		.span = plane * g->side[2],
		.width = g->halo * of[i],
		.pitch = from[i] ? from[i] : g->halo * of[i],
		.rows = i == 0 ? (uint64_t)g->side[1] * g->side[2] :
			i == 1 ? g->side[2] :
				 1,
		.grid = { .bytes = row,
			  .pitch = row,
			  .height = g->side[1],
			  .planes = g->side[2],
			  .tall = g->side[1] },
	};

	if (g->face == CS_FACE_X)
		box.grid.bytes = box.width;
	else if (g->face == CS_FACE_Y)
		box.grid.height = g->halo;
	else
		box.grid.planes = g->halo;
	return box;
}

struct cs_extent cs_shape_box(uint64_t shape, unsigned element, uint64_t bytes)
{
	const struct grid g = grid_of(shape);
	uint64_t piece, each, rows;

	if (g.face)
		return box_of_face(&g, element);
	pieces_of(shape, &piece, &each);
	rows = piece ? bytes / piece : 0;
	return (struct cs_extent){
		.span = rows * each,
		.width = piece,
		.pitch = each,
		.rows = rows,
		.grid = { piece, each, rows, 1, rows },
	};
}

uint64_t cs_shape_bytes(uint64_t shape, unsigned element, uint64_t span)
{
	const struct grid g = grid_of(shape);
	uint64_t piece, each, rows;

	if (g.face) {
		const struct cs_extent box = box_of_face(&g, element);

		return box.rows * box.width;
	}
	pieces_of(shape, &piece, &each);
	rows = (span < CS_SHAPE_SPAN ? span : CS_SHAPE_SPAN) / each / GRAIN * GRAIN;
	return (rows ? rows : GRAIN) * piece;
}
