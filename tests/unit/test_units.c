/* Sizes, durations, shares and whole numbers; and the error texts they set. */
#include "base/rng.h"
#include "base/units.h"
#include "tap.h"

static uint64_t size_of_text(const char *text)
{
	uint64_t bytes = 0;

	t_eq_int(cs_size_parse(text, &bytes, NULL), 0);
	return bytes;
}

HOLDS("K, M, G and T are powers of two") {
	t_eq_int(size_of_text("4096"), 4096);
	t_eq_int(size_of_text("0"), 0);
	t_eq_int(size_of_text("100B"), 100);
	t_eq_int(size_of_text("4K"), 4096);
	t_eq_int(size_of_text("4k"), 4096);
	t_eq_int(size_of_text("512M"), 512ll << 20);
	t_eq_int(size_of_text("512MB"), 512ll << 20);
	t_eq_int(size_of_text("512MiB"), 512ll << 20);
	t_eq_int(size_of_text("1.5G"), 1536ll << 20);
	t_eq_int(size_of_text("1.500G"), 1536ll << 20);
	t_eq_int(size_of_text("0.0009765625T"), 1ll << 30);
	t_eq_int(size_of_text("1T"), 1ll << 40);
}

HOLDS("the largest size of 64 bits fits") {
	t_ok(size_of_text("16777215T") == 16777215ull << 40);
	t_ok(size_of_text("18446744073709551615") == UINT64_MAX);
}

HOLDS("what is no size is refused and changes nothing") {
	static const char *const bad[] = {
		"",
		" ",
		"M",
		"-1",
		"+1",
		" 4K",
		"4K ",
		"4KK",
		"4Ki",
		"4P",
		"4KiBs",
		"1.M",
		".5M",
		"1,5G",
		"1e3",
		"0x10",
		"1.2.3M",
		"nan",
		"inf",
		"16777216T",
		"18446744073709551616",
		"99999999999999999999999999",
		"1.1",
		"1.1G",
		"0.0000000000000000001T",
	};

	for (size_t i = 0; i < sizeof(bad) / sizeof(bad[0]); i++) {
		struct cs_err err = { "" };
		uint64_t bytes = 77;

		t_eq_int(cs_size_parse(bad[i], &bytes, &err), -1);
		t_eq_int(bytes, 77);
		t_ok(strlen(err.text) > 0);
	}
}

HOLDS("size errors say what is allowed") {
	struct cs_err err;
	uint64_t bytes;

	cs_size_parse("12q", &bytes, &err);
	t_eq_str(err.text, "'12q' is not a size: write 4096, 4K, 512M, 1.5G or 1T");
	cs_size_parse("1.1K", &bytes, &err);
	t_eq_str(err.text, "size '1.1K' is not whole bytes");
	cs_size_parse("99999999T", &bytes, &err);
	t_eq_str(err.text, "size '99999999T' is too large: the most is 16777215T");
}

static void size_text_is(uint64_t bytes, const char *want)
{
	char text[16];

	cs_size_text(bytes, text, sizeof(text));
	t_eq_str(text, want);
}

HOLDS("sizes are written exactly, in the largest unit") {
	size_text_is(0, "0 B");
	size_text_is(100, "100 B");
	size_text_is(1023, "1023 B");
	size_text_is(4096, "4 KiB");
	size_text_is(1536, "1.5 KiB");
	size_text_is(1000000, "1000000 B");
	size_text_is(512ull << 20, "512 MiB");
	size_text_is(1536ull << 20, "1.5 GiB");
	size_text_is((1999999999ull << 10) / 2, "999999999.5 KiB");
	size_text_is((1ull << 32 | 1) << 10, "4398046512128 B");
	size_text_is(0 - 1024ull, "16777216.0 TiB"); /* too long in KiB */
	size_text_is((1ull << 30) + (256ull << 20), "1280 MiB");
	size_text_is(3ull << 40, "3 TiB");
	size_text_is(9999999999999ull, "9999999999999 B");
}

HOLDS("sizes of any magnitude fit 16 characters") {
	size_text_is(UINT64_MAX, "16777216.0 TiB");
	size_text_is(UINT64_MAX << 40, "16777215 TiB");
	size_text_is((UINT64_MAX << 39), "16777215.5 TiB");
	size_text_is(10000000000001ull, "9.1 TiB");
}

typedef int parser(const char *text, double *value, struct cs_err *err);

static double parsed(parser *parse, const char *text)
{
	double value = -1;

	t_eq_int(parse(text, &value, NULL), 0);
	return value;
}

/* Each of bad[], which NULL ends, with these words; the value stays. */
static void all_refused(parser *parse, const char *words, const char *const bad[])
{
	for (; *bad; bad++) {
		struct cs_err err;
		double value = 7;

		t_eq_int(parse(*bad, &value, &err), -1);
		t_near(value, 7, 0);
		t_has(err.text, words);
	}
}

HOLDS("durations are in ms, s or m, and in seconds without") {
	t_near(parsed(cs_duration_parse, "500ms"), 0.5, 0);
	t_near(parsed(cs_duration_parse, "2s"), 2, 0);
	t_near(parsed(cs_duration_parse, "2"), 2, 0);
	t_near(parsed(cs_duration_parse, "0.25"), 0.25, 0);
	t_near(parsed(cs_duration_parse, "1.5m"), 90, 0);
	t_near(parsed(cs_duration_parse, "1ms"), 0.001, 0);
}

HOLDS("what is no duration is refused and changes nothing") {
	all_refused(cs_duration_parse, "write 500ms, 2s or 1.5m",
		    (const char *const[]){ "", "s", "-1s", "0", "0.0s", "0ms", "2 s",
					   "2d", "2ss", "2s ", "1e3", "nan", "inf",
					   "0x2", "99999999999999999999s", NULL });
}

HOLDS("a share is in per cent with and without the sign") {
	t_near(parsed(cs_share_parse, "0.5%"), 0.005, 0);
	t_near(parsed(cs_share_parse, "0.5"), 0.005, 0);
	t_near(parsed(cs_share_parse, "100%"), 1, 0);
}

HOLDS("what is no share is refused and changes nothing") {
	all_refused(cs_share_parse, "above 0 and at most 100",
		    (const char *const[]){ "", "%", "0", "0%", "-1%", "100.1", "101%",
					   "1%%", "1 %", "1%x", "nan", "1e1",
					   "99999999999999999999", NULL });
}

HOLDS("numbers of things have an exponent, or K to P as powers of 1000") {
	t_near(parsed(cs_count_parse, "8192"), 8192, 0);
	t_near(parsed(cs_count_parse, "1.5K"), 1500, 0);
	t_near(parsed(cs_count_parse, "3G"), 3e9, 0);
	t_near(parsed(cs_count_parse, "2p"), 2e15, 0);
	t_near(parsed(cs_count_parse, "2e12"), 2e12, 0);
	t_near(parsed(cs_count_parse, "0.5E3"), 500, 0);
}

HOLDS("what is no number of things is refused and changes nothing") {
	all_refused(cs_count_parse, "write 8192, 1.5G or 2e12",
		    (const char *const[]){ "", "0", "-1", "1X", "1KB", "1Ki", "e3",
					   "1e", "1e-3", "1e+3", "1e100", "0x10",
					   "1e3K", " 1", "nan", NULL });
}

HOLDS("whole numbers are decimal or hexadecimal, never octal") {
	uint64_t value = 0;

	t_eq_int(cs_uint_parse("20261120", 0, UINT64_MAX, &value, NULL), 0);
	t_eq_int(value, 20261120);
	t_eq_int(cs_uint_parse("0xFf", 0, 255, &value, NULL), 0);
	t_eq_int(value, 255);
	t_eq_int(cs_uint_parse("010", 0, 255, &value, NULL), 0);
	t_eq_int(value, 10);
	t_eq_int(cs_uint_parse("18446744073709551615", 0, UINT64_MAX, &value, NULL),
		 0);
	t_ok(value == UINT64_MAX);
	t_eq_int(cs_uint_parse("0xffffffffffffffff", 0, UINT64_MAX, &value, NULL), 0);
	t_ok(value == UINT64_MAX);
}

HOLDS("whole numbers keep to their bounds") {
	struct cs_err err;
	uint64_t value = 7;

	t_eq_int(cs_uint_parse("1", 2, 64, &value, &err), -1);
	t_eq_int(cs_uint_parse("65", 2, 64, &value, &err), -1);
	t_eq_str(err.text, "'65' is not a whole number from 2 to 64");
	t_eq_int(value, 7);
	t_eq_int(cs_uint_parse("2", 2, 64, &value, &err), 0);
	t_eq_int(cs_uint_parse("64", 2, 64, &value, &err), 0);
}

HOLDS("what is no whole number is refused and changes nothing") {
	static const char *const bad[] = {
		"",
		"-1",
		"+1",
		" 1",
		"1 ",
		"1.0",
		"1e3",
		"0x",
		"x1",
		"1f",
		"0xg",
		"18446744073709551616",
		"0x10000000000000000",
		"0-3",
	};

	for (size_t i = 0; i < sizeof(bad) / sizeof(bad[0]); i++) {
		struct cs_err err;
		uint64_t value = 7;

		t_eq_int(cs_uint_parse(bad[i], 0, UINT64_MAX, &value, &err), -1);
		t_eq_int(value, 7);
	}
}

HOLDS("a list of numbers is bits, and what is none changes nothing") {
	static const char *const bad[] = {
		"",   "x",    "-1",  "0-", "3-1",  "0,",
		",0", "1,,2", "0 1", "64", "0-64", "99999999999999999999",
	};
	uint64_t bits = 0;

	t_eq_int(cs_bits_parse("0,2-3", 64, &bits), 0);
	t_ok(bits == 13);
	t_eq_int(cs_bits_parse("0-63", 64, &bits), 0);
	t_ok(bits == UINT64_MAX);
	t_eq_int(cs_bits_parse("8", 8, &bits), -1);
	for (size_t i = 0; i < sizeof(bad) / sizeof(*bad); i++)
		t_eq_int(cs_bits_parse(bad[i], 64, &bits), -1);
	t_ok(bits == UINT64_MAX);
}

HOLDS("an error text takes a context in front") {
	struct cs_err err;

	t_eq_int(cs_err_set(&err, "no GPU %d", 9), -1);
	t_eq_int(cs_err_prefix(&err, "--gpus '%s'", "9"), -1);
	t_eq_str(err.text, "--gpus '9': no GPU 9");
	cs_err_set(&err, "again: %s", err.text);
	t_eq_str(err.text, "again: --gpus '9': no GPU 9");
}

HOLDS("an error text that is too long is cut") {
	struct cs_err err;
	char longer[2 * CS_ERR_TEXT];

	memset(longer, 'x', sizeof(longer) - 1);
	longer[sizeof(longer) - 1] = '\0';
	cs_err_set(&err, "%s", longer);
	t_eq_int(strlen(err.text), CS_ERR_TEXT - 1);
	cs_err_prefix(&err, "subject");
	t_eq_int(strlen(err.text), CS_ERR_TEXT - 1);
	t_eq_int(strncmp(err.text, "subject: xxx", 12), 0);
}

HOLDS("of a context that is too long the end is cut, not the cause") {
	struct cs_err err;
	char longer[2 * CS_ERR_TEXT];

	memset(longer, 'x', sizeof(longer) - 1);
	longer[sizeof(longer) - 1] = '\0';
	cs_err_set(&err, "no GPU 9");
	cs_err_prefix(&err, "--gpus '%s'", longer);
	t_eq_int(strlen(err.text), CS_ERR_TEXT - 1);
	t_ok(strstr(err.text, "xxx...: no GPU 9") != NULL);
}

HOLDS("a text is added behind what is there, and cut where its room ends") {
	char text[] = "\0.......|";
	unsigned long size = sizeof(text) - 2; /* '|' is another's */

	cs_text_add(text, size, "%s%d", "GPU ", 3);
	t_eq_str(text, "GPU 3");
	cs_text_add(text, size, "%s", "");
	t_eq_str(text, "GPU 3");
	cs_text_add(text, size, "%s", ", 4");
	t_eq_str(text, "GPU 3, ");
	t_ok(text[size] == '|');
	cs_text_add(text, size, "%s", ", 5");
	t_eq_str(text, "GPU 3, ");
	t_ok(text[size] == '|');
	text[5] = '\0';
	cs_text_add(text, size, "%s", "/1");
	t_eq_str(text, "GPU 3/1");
}

HOLDS("an error text that nobody wants is not written") {
	uint64_t bytes;

	t_eq_int(cs_err_set(NULL, "nobody reads this"), -1);
	t_eq_int(cs_err_prefix(NULL, "nor this"), -1);
	t_eq_int(cs_size_parse("no", &bytes, NULL), -1);
}

static double printed_and_read(double x)
{
	char text[40];

	cs_text(text, sizeof(text), "%.10g", x);
	return strtod(text, NULL);
}

/* Of every magnitude, with few digits and with all. */
HOLDS("a difference that is printed as nothing has no sign") {
	static const double nothing[] = { 0, -0.0, -4e-7, -0.00049999 };
	char text[32];

	for (size_t i = 0; i < sizeof(nothing) / sizeof(nothing[0]); i++) {
		cs_text(text, sizeof(text), "%+.1f", cs_percent(nothing[i], 1));
		t_eq_str(text, "+0.0");
		cs_text(text, sizeof(text), "%+.2f", cs_percent(nothing[i] / 10, 2));
		t_eq_str(text, "+0.00");
	}
	cs_text(text, sizeof(text), "%+.2f", cs_percent(-0.000051, 2));
	t_eq_str(text, "-0.01");
	t_ok(isnan(cs_percent(NAN, 1)));
}

HOLDS("ten digits are those that are printed and read") {
	static const double odd[] = { 0,
				      -0.0,
				      1,
				      9999999999.0,
				      10000000001.0,
				      12345678901.0,
				      0.1,
				      1e22,
				      1e23,
				      5e-324,
				      1e300,
				      396.29,
				      -396.29,
				      1234567890.5,
				      0.00012345678905 };
	struct cs_rng rng = { 7 };
	int wrong = 0;

	for (size_t i = 0; i < sizeof(odd) / sizeof(odd[0]); i++)
		wrong += cs_ten_digits(odd[i]) != printed_and_read(odd[i]);
	for (int i = 0; i < 200000; i++) {
		double x = (double)(int64_t)cs_rng_next(&rng) *
			   pow(10, (double)cs_rng_below(&rng, 60) - 40);
		double few = printed_and_read(x);

		wrong += cs_ten_digits(x) != few || cs_ten_digits(few) != few;
	}
	t_eq_int(wrong, 0);
	t_ok(isnan(cs_ten_digits(INFINITY)) && isnan(cs_ten_digits(NAN)));
	t_ok(isnan(cs_ten_digits(1.7976931348623157e308)));
}
