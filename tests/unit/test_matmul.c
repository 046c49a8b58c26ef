/* The product of matrices by one CPU, its words, and the sum that shows a wrong element. */
#include "base/matmul.h"
#include "tap.h"

enum { ROWS = 96 };

static void make(uint64_t key, uint64_t *ab, double *c, unsigned block)
{
	double fast[3 * ROWS * ROWS];

	for (uint64_t i = 0; i < 2 * ROWS * ROWS; i++)
		ab[i] = cs_fill_word(key, i);
	cs_matmul_host(c, ab, ROWS, block, fast);
}

HOLDS("a product is the same to the bit with blocks of any size and without") {
	static uint64_t ab[2 * ROWS * ROWS];
	static double plain[ROWS * ROWS], c[ROWS * ROWS];
	int differ = 0;

	make(7, ab, plain, 0);
	for (unsigned block = 8; block <= ROWS; block += block < 32 ? block : 16) {
		if (ROWS % block)
			continue;
		memset(c, 0xFF, sizeof(c));
		make(7, ab, c, block);
		for (unsigned i = 0; i < ROWS * ROWS; i++)
			differ += !(c[i] == plain[i]);
	}
	t_eq_int(differ, 0);
	t_near(plain[0] * 16, rint(plain[0] * 16), 0);
	t_eq_int(cs_matmul_sum(plain, ROWS), cs_matmul_expected(7, ROWS));
	t_ok(cs_matmul_sum(plain, ROWS) != cs_matmul_expected(8, ROWS));
}

HOLDS("one wrong element of a product shows, as do two that change places or are poison") {
	static uint64_t ab[2 * ROWS * ROWS];
	static double c[ROWS * ROWS];
	const uint64_t right = cs_matmul_expected(7, ROWS);
	const uint64_t poison = CS_POISON64;
	double kept;
	int missed = 0;

	make(7, ab, c, 8);
	for (unsigned i = 0; i < ROWS * ROWS; i += 89) {
		kept = c[i];
		c[i] += 0x1p-4;
		missed += cs_matmul_sum(c, ROWS) == right;
		memcpy(&c[i], &poison, sizeof(poison));
		missed += cs_matmul_sum(c, ROWS) == right;
		c[i] = kept;
	}
	for (unsigned i = 0; i + ROWS < ROWS * ROWS; i += ROWS) {
		kept = c[i];
		c[i] = c[i + ROWS];
		c[i + ROWS] = kept;
		missed += c[i] != kept && cs_matmul_sum(c, ROWS) == right;
		c[i + ROWS] = c[i];
		c[i] = kept;
	}
	t_eq_int(missed, 0);
	t_eq_int(cs_matmul_sum(c, ROWS), right);
}

HOLDS("words of a product: 2 n^3 / b and the result; without blocks a GPU's warp shares a row's element, a CPU keeps the row") {
	const double n = 2880, all = n * n * n;

	t_near(cs_matmul_words(2880, 32, 1), 2 * all / 32 + n * n, 1);
	t_near(cs_matmul_words(2880, 0, 1), all * 33 / 32 + n * n, 1);
	t_near(cs_matmul_words(2880, 0, 0), all + 2 * n * n, 1);
	t_near(cs_matmul_flops(2880), 2 * all, 1);
}

HOLDS("matrices are the largest of whole blocks of which two fit the bytes") {
	static const unsigned block[] = { 0, 8, 16, 32, 64, 96, 112, 192 };

	for (size_t i = 0; i < sizeof(block) / sizeof(*block); i++)
		for (uint64_t bytes = 16; bytes < 1u << 26; bytes = bytes * 3 + 16) {
			uint64_t each = block[i] ? block[i] : CS_MATMUL_WARP;
			uint64_t n = cs_matmul_rows(bytes, block[i]);

			t_ok(n % each == 0 && 16 * n * n <= bytes &&
			     16 * (n + each) * (n + each) > bytes);
		}
	t_eq_int(cs_matmul_rows(128u << 20, 96), 2880);
	t_eq_int(cs_matmul_rows(16 * 384 * 384, 192), 384);
}
