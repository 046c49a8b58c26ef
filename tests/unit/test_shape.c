/* Shapes of copies: their text, and where their bytes are. */
#include "base/fill.h"
#include "base/shape.h"
#include "tap.h"

HOLDS("a grid without a face is its three faces, in words and back") {
	static const char *const is[] = { "512x512x512:2:x", "512x512x512:2:y",
					  "512x512x512:2:z" };
	uint64_t shape[CS_SHAPE_FACES], one[CS_SHAPE_FACES];
	char text[CS_SHAPE_TEXT];

	t_eq_int(cs_shape_parse("512x512x512:2", shape, NULL), 3);
	for (int i = 0; i < 3; i++) {
		cs_shape_text(shape[i], text, sizeof(text));
		t_eq_str(text, is[i]);
		t_eq_int(cs_shape_parse(is[i], one, NULL), 1);
		t_ok(one[0] == shape[i] && cs_shape_is_sound(one[0]));
	}
	/* two deep unless somebody says so, and by the sign of multiplication */
	t_eq_int(cs_shape_parse("512\xc3\x97"
				"512\xc3\x97"
				"512",
				one, NULL),
		 3);
	t_ok(!memcmp(one, shape, sizeof(one)));
}

HOLDS("pieces have sizes as options have them") {
	uint64_t shape[CS_SHAPE_FACES];
	char text[CS_SHAPE_TEXT];

	t_eq_int(cs_shape_parse("1K/4K", shape, NULL), 1);
	cs_shape_text(shape[0], text, sizeof(text));
	t_eq_str(text, "1024/4096");
}

HOLDS("what is no shape is refused") {
	static const char *const bad[] = {
		"",	      "x",
		"8x8",	      "8x8x8:",
		"8x8x8:0",    "8x8x8:5",
		"8x8x8:2:w",  "8x8x8:2:xy",
		"8x8x8:2:x:", "6x8x8:1",
		"8x6x8:1",    "8x8x-8:1",
		"8x8x8:999",  "2048x2048x2048",
		"8x8x8.5",    "131072x8x8",
		"8x8x8:2:",   "4/4",
		"8/4",	      "2/8",
		"4/6",	      "0/8",
		"4/",	      "/8",
		"4/8/16",     "4/99999999G",
		"1G/2G",      "8 x8x8",
		"8x8x8:2:x ", "4/8 ",
	};
	uint64_t shape[CS_SHAPE_FACES];
	struct cs_err err = { "" };

	for (size_t i = 0; i < sizeof(bad) / sizeof(bad[0]); i++)
		t_ok(cs_shape_parse(bad[i], shape, &err) < 0 && err.text[0]);
	t_ok(!cs_shape_is_sound(UINT64_MAX) && !cs_shape_is_sound(1));
}

/* Every byte of a face, by its rows and by those of its planes, and by coordinates. */
static void check_face(const uint32_t side[3], uint32_t halo, int face,
		       unsigned element)
{
	static unsigned char rows[1 << 16], planes[1 << 16];
	const uint64_t shape = cs_shape_face(side[0], side[1], side[2], halo, face);
	const struct cs_extent b = cs_shape_box(shape, element, 0);
	uint64_t n = 0, at = 0;

	memset(rows, 0, sizeof(rows));
	memset(planes, 0, sizeof(planes));
	for (uint64_t r = 0; r < b.rows; r++)
		memset(rows + b.dst_at + r * b.pitch, 1, b.width);
	for (uint64_t z = 0; z < b.grid.planes; z++)
		for (uint64_t y = 0; y < b.grid.height; y++)
			memset(planes + b.dst_at + (z * b.grid.tall + y) * b.grid.pitch,
			       1, b.grid.bytes);
	for (uint32_t z = 0; z < side[2]; z++)
		for (uint32_t y = 0; y < side[1]; y++)
			for (uint64_t x = 0; x < (uint64_t)side[0] * element;
			     x++, at++) {
				const uint64_t of[] = { x / element, y, z };
				int in = of[face - 1] >= side[face - 1] - halo;

				n += (uint64_t)in;
				t_ok(rows[at] == in && planes[at] == in);
			}
	t_ok(b.span == at && cs_shape_bytes(shape, element, 0) == n && n % 16 == 0);
	t_ok(b.src_at == 0);
}

HOLDS("a face is where its coordinates are, by rows and by planes") {
	static const uint32_t sides[][3] = { { 8, 12, 5 }, { 4, 4, 6 } };

	for (size_t i = 0; i < 2; i++)
		for (int face = CS_FACE_X; face <= CS_FACE_Z; face++)
			for (unsigned element = 4; element <= 16; element *= 2)
				check_face(sides[i], 2, face, element);
}

HOLDS("pieces go through as many bytes as there are") {
	const uint64_t shape = cs_shape_pieces(4, 64);
	const uint64_t bytes = cs_shape_bytes(shape, 4, 1 << 20);
	const struct cs_extent b = cs_shape_box(shape, 4, bytes);

	t_eq_int(bytes, (1 << 20) / 16);
	t_ok(b.span == 1 << 20 && b.width == 4 && b.pitch == 64 && b.rows == 1 << 14);
	/* of a buffer that is too small, four */
	t_eq_int(cs_shape_bytes(shape, 4, 16), 16);
}

HOLDS("a cube is the largest that fits") {
	t_eq_int(cs_shape_cube(512ull << 20, 4), 512);
	t_eq_int(cs_shape_cube(1 << 20, 4), 64);
	t_eq_int(cs_shape_cube((1 << 20) - 1, 4), 60);
	t_eq_int(cs_shape_cube(512ull << 20, 16), 320);
	t_eq_int(cs_shape_cube(16, 4), 4);
	t_eq_int(cs_shape_cube(1ull << 50, 4), 1288);
	t_ok(cs_shape_is_sound(cs_shape_face(1288, 1288, 1288, 2, CS_FACE_X)) == 0 ||
	     1288ull * 1288 * 1288 <= 1ull << 29);
}

/* ---- its inside in host memory ---- */

enum { WORDS = 4096 };

static struct cs_expected expected(uint64_t shape)
{
	const struct cs_extent b = cs_shape_box(shape, 4, 0);
	struct cs_expected e = CS_EXPECTED(cs_fill_key(1, 0), b.span);

	e.inside = (struct cs_inside){ b.dst_at, b.width, b.pitch, b.rows,
				       b.dst_at - b.src_at };
	return e;
}

/* As a sound copy leaves it. */
static void leave(uint64_t *to, const struct cs_expected *e, uint64_t shape)
{
	static uint64_t from[WORDS];
	const struct cs_extent b = cs_shape_box(shape, 4, 0);

	cs_fill_host(from, sizeof(from), e->key);
	cs_poison_host(to, WORDS * sizeof(*to));
	for (uint64_t r = 0; r < b.rows; r++)
		memcpy((char *)to + b.dst_at + r * b.pitch,
		       (char *)from + b.src_at + r * b.pitch, b.width);
}

HOLDS("in host memory every byte inside and outside is checked") {
	static _Alignas(16) uint64_t to[WORDS];
	struct cs_check found;

	for (int face = CS_FACE_X; face <= CS_FACE_Z; face++) {
		const uint64_t shape = cs_shape_face(20, 12, 10, 3, face);
		const struct cs_expected e = expected(shape);

		leave(to, &e, shape);
		cs_check_host_words(to, &e, 0, e.bytes / 8, 0, &found);
		t_eq_int(found.wrong_words, 0);
		for (uint64_t at = 0; at < e.bytes; at += 3) {
			((char *)to)[at] ^= 1;
			cs_check_host_words(to, &e, 0, e.bytes / 8, 0, &found);
			t_ok(found.wrong_words == 1 && found.wrong_bytes == 1 &&
			     found.first_word == at / 8);
			((char *)to)[at] ^= 1;
		}
	}
}

HOLDS("a part of host memory is checked and poisoned, each in its turn") {
	static _Alignas(16) uint64_t to[WORDS];
	const uint64_t shape = cs_shape_face(20, 12, 10, 3, CS_FACE_Y);
	const struct cs_expected e = expected(shape);
	struct cs_check found;

	leave(to, &e, shape);
	for (uint64_t seed = 0; seed < 100; seed++) {
		cs_check_host_part(to, &e, seed, 2400, &found);
		t_ok(found.wrong_words == found.poison_words);
	}
	for (uint64_t i = 0; i < e.bytes / 8; i++)
		t_ok(to[i] == CS_POISON64);
}
