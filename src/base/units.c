#include "base/units.h"

#include <inttypes.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>

/* digits / 10^scale: exact, so that "1.1G" is refused as it is and not for a
 * rounding. */
struct decimal {
	uint64_t digits;
	unsigned int scale;
};

#define SCALE_MAX 18 /* 10^18 fits 64 bits */

static int is_digit(char c)
{
	return c >= '0' && c <= '9';
}

static int push_digit(uint64_t *value, unsigned int base, unsigned int digit)
{
	uint64_t next;

	if (__builtin_mul_overflow(*value, base, &next) ||
	    __builtin_add_overflow(next, digit, &next))
		return -1;
	*value = next;
	return 0;
}

/* Reads "12" or "12.5" from *text and moves *text past it.  No sign, no
 * exponent, no digits missing before or after the point. */
static int decimal_parse(const char **text, struct decimal *out)
{
	const char *at = *text, *end;

	*out = (struct decimal){ 0, 0 };
	if (!is_digit(*at))
		return -1;
	for (; is_digit(*at); at++)
		if (push_digit(&out->digits, 10, (unsigned int)(*at - '0')))
			return -1;
	*text = at;
	if (*at != '.')
		return 0;

	for (end = ++at; is_digit(*end); end++)
		;
	if (end == at)
		return -1;
	*text = end;
	while (end > at && end[-1] == '0') /* "1.50" is "1.5" */
		end--;
	for (; at < end; at++)
		if (++out->scale > SCALE_MAX ||
		    push_digit(&out->digits, 10, (unsigned int)(*at - '0')))
			return -1;
	return 0;
}

static uint64_t power_of_ten(unsigned int n)
{
	uint64_t power = 1;

	while (n--)
		power *= 10;
	return power;
}

static double decimal_value(const struct decimal *d)
{
	return (double)d->digits / (double)power_of_ten(d->scale);
}

/* Shift of "", "B", "K", "KB", "KiB" …; -1 for anything else. */
static int size_shift(const char *unit)
{
	static const char letters[] = "KMGT";
	const char *letter;

	if (!*unit || !strcasecmp(unit, "B"))
		return 0;
	letter = strchr(letters, *unit & ~0x20);
	if (!letter || !*letter)
		return -1;
	unit++;
	if (*unit && strcasecmp(unit, "B") && strcasecmp(unit, "iB"))
		return -1;
	return 10 * (int)(letter - letters + 1);
}

int cs_size_parse(const char *text, uint64_t *bytes, struct cs_err *err)
{
	const char *at = text;
	struct decimal number;
	unsigned __int128 whole;
	uint64_t divisor;
	int shift;

	if (decimal_parse(&at, &number) || (shift = size_shift(at)) < 0)
		return cs_err_set(err,
				  "'%.40s' is not a size: write 4096, 4K, 512M, 1.5G or 1T",
				  text);
	divisor = power_of_ten(number.scale);
	whole = (unsigned __int128)number.digits << shift;
	if (whole % divisor)
		return cs_err_set(err, "size '%.40s' is not whole bytes", text);
	whole /= divisor;
	if (whole > UINT64_MAX)
		return cs_err_set(err,
				  "size '%.40s' is too large: the most is 16777215T",
				  text);
	*bytes = (uint64_t)whole;
	return 0;
}

#define WHOLE_MAX 999999999 /* of a unit, so that 16 characters are enough */

void cs_size_text(uint64_t bytes, char *to, size_t size)
{
	static const char *const name[] = { "KiB", "MiB", "GiB", "TiB" };

	for (int i = 3; i >= 0; i--) {
		uint64_t unit = 1ull << (10 * (i + 1));

		/* Halves are the only tenths that are whole bytes. */
		if (bytes < unit || bytes % (unit / 2))
			continue;
		if (bytes / unit > WHOLE_MAX)
			break;
		cs_text(to, size, "%" PRIu64 "%s %s", bytes / unit,
			bytes % unit ? ".5" : "", name[i]);
		return;
	}
	/* 16 characters hold 13 digits of exact bytes. */
	if (bytes < 10000000000000ull)
		cs_text(to, size, "%" PRIu64 " B", bytes);
	else
		cs_text(to, size, "%.1f TiB", (double)bytes / (1ull << 40));
}

int cs_duration_parse(const char *text, double *seconds, struct cs_err *err)
{
	static const struct {
		const char *name;
		double times, over;
	} unit[] = { { "", 1, 1 },
		     { "s", 1, 1 },
		     { "ms", 1, 1000 },
		     { "m", 60, 1 },
		     { "h", 3600, 1 } };
	const char *at = text;
	struct decimal number;
	size_t i;

	if (decimal_parse(&at, &number))
		goto bad;
	for (i = 0; i < sizeof(unit) / sizeof(unit[0]); i++)
		if (!strcmp(at, unit[i].name))
			break;
	if (i == sizeof(unit) / sizeof(unit[0]) || !number.digits)
		goto bad;
	*seconds = decimal_value(&number) * unit[i].times / unit[i].over;
	return 0;
bad:
	return cs_err_set(err,
			  "'%.40s' is not a duration above 0: write 500ms, 2s or 1.5m",
			  text);
}

/* The power of ten of "", "K", "M" … or "e12"; -1 for anything else. */
static int count_power(const char *unit)
{
	static const char letters[] = "KMGTP";
	const char *letter = *unit ? strchr(letters, *unit & ~0x20) : NULL;
	uint64_t power;

	if (!*unit)
		return 0;
	if ((*unit & ~0x20) == 'E')
		return is_digit(unit[1]) &&
				       !cs_uint_parse(unit + 1, 0, 99, &power, NULL) ?
			       (int)power :
			       -1;
	return letter && *letter && !unit[1] ? 3 * (int)(letter - letters + 1) : -1;
}

int cs_count_parse(const char *text, double *count, struct cs_err *err)
{
	const char *at = text;
	struct decimal number;
	int power;

	if (decimal_parse(&at, &number) || (power = count_power(at)) < 0 ||
	    !number.digits)
		return cs_err_set(err,
				  "'%.40s' is not a number above 0: write 8192, 1.5G or 2e12",
				  text);
	*count = decimal_value(&number) * pow(10, power);
	return 0;
}

int cs_share_parse(const char *text, double *fraction, struct cs_err *err)
{
	const char *at = text;
	struct decimal number;

	if (decimal_parse(&at, &number) || (strcmp(at, "") && strcmp(at, "%")) ||
	    !number.digits || decimal_value(&number) > 100)
		return cs_err_set(err,
				  "'%.40s' is not a share in per cent: write "
				  "0.5%% or 0.5, above 0 and at most 100",
				  text);
	*fraction = decimal_value(&number) / 100;
	return 0;
}

static int hex_digit(char c)
{
	if (is_digit(c))
		return c - '0';
	c |= 0x20;
	return c >= 'a' && c <= 'f' ? c - 'a' + 10 : -1;
}

static int uint_digits(const char *text, uint64_t *value)
{
	int hex = text[0] == '0' && (text[1] | 0x20) == 'x';
	unsigned int base = hex ? 16 : 10;
	const char *at = hex ? text + 2 : text;

	if (!*at)
		return -1;
	for (*value = 0; *at; at++) {
		int digit = hex_digit(*at);

		if (digit < 0 || (unsigned int)digit >= base ||
		    push_digit(value, base, (unsigned int)digit))
			return -1;
	}
	return 0;
}

int cs_uint_parse(const char *text, uint64_t least, uint64_t most, uint64_t *value,
		  struct cs_err *err)
{
	uint64_t number;

	if (uint_digits(text, &number) || number < least || number > most)
		return cs_err_set(err,
				  "'%.40s' is not a whole number from %" PRIu64
				  " to %" PRIu64,
				  text, least, most);
	*value = number;
	return 0;
}

void cs_bits_text(uint64_t bits, char *to, size_t size)
{
	to[0] = '\0';
	for (int i = 0; i < 64; i++) {
		int last = i;

		if (!(bits >> i & 1))
			continue;
		while (last < 63 && bits >> (last + 1) & 1)
			last++;
		cs_text_add(to, size, last > i ? "%s%d-%d" : "%s%d", to[0] ? "," : "",
			    i, last);
		i = last;
	}
	if (!to[0])
		cs_text(to, size, "none");
}

int cs_bits_parse(const char *text, unsigned int below, uint64_t *bits)
{
	uint64_t made = 0;
	char *end;

	for (const char *at = text;; at = end + 1) {
		unsigned long first, last;

		if (!is_digit(*at))
			return -1;
		first = last = strtoul(at, &end, 10); /* saturates */
		if (*end == '-' && is_digit(end[1]))
			last = strtoul(end + 1, &end, 10);
		if (first > last || last >= below || (*end && *end != ','))
			return -1;
		for (; first <= last; first++)
			made |= 1ull << first;
		if (!*end)
			break;
	}
	*bits = made;
	return 0;
}

/* Is it the double next to a decimal of ten digits?  Powers up to 1e22 are exact, and
 * so a quotient of whole numbers is that double. */
static int has_ten_digits(double x)
{
	static const double power[] = {
		1e0,  1e1,  1e2,  1e3,	1e4,  1e5,  1e6,  1e7,
		1e8,  1e9,  1e10, 1e11, 1e12, 1e13, 1e14, 1e15,
		1e16, 1e17, 1e18, 1e19, 1e20, 1e21, 1e22,
	};
	int k = sizeof(power) / sizeof(power[0]) - 1;
	double digits;

	while (k > 0 && fabs(x) * power[k] >= 1e10)
		k--;
	digits = round(x * power[k]);
	return fabs(digits) < 1e10 && digits / power[k] == x;
}

/* Most numbers of a file have them: printing and reading takes longer than all the
 * rest of a row. */
double cs_ten_digits(double x)
{
	char text[CS_DIGITS + 16];

	if (!isfinite(x))
		return NAN;
	if (has_ten_digits(x))
		return x;
	cs_text(text, sizeof(text), "%.*g", CS_DIGITS, x);
	x = strtod(text, NULL); /* the largest double is rounded up */
	return isfinite(x) ? x : NAN;
}

double cs_percent(double share, int digits)
{
	return fabs(100 * share) < 0.5 / pow(10, digits) ? 0 : 100 * share;
}

void cs_time_text(const struct timespec *t, char *to, size_t size)
{
	struct tm utc;

	to[0] = '\0';
	if (t->tv_sec > 0 && gmtime_r(&t->tv_sec, &utc))
		strftime(to, size, "%Y-%m-%dT%H:%M:%SZ", &utc);
}
