/* units.h - sizes, durations, shares, whole numbers and lists of them as users write
 * them.
 *
 * Every parser reads the whole string or fails: empty text, trailing text, negative
 * numbers and overflow are errors that name the allowed values, and the output is left
 * alone.  No locale: the decimal point is '.'. */
#pragma once

#include <stddef.h>
#include <stdint.h>
#include <time.h>

#include "base/err.h"

/* "4096", "4K", "512M", "1.5G", "1T", also "512MiB" and "512MB" with the same
 * meaning: K, M, G and T are powers of two.  The result is whole bytes. */
int cs_size_parse(const char *text, uint64_t *bytes, struct cs_err *err);

/* "512 MiB", "4 KiB", "1.5 GiB", "100 B": at most 16 characters with the 0. */
void cs_size_text(uint64_t bytes, char *to, size_t size);

/* "500ms", "2s", "1.5m"; a bare number is seconds.  Greater than 0. */
int cs_duration_parse(const char *text, double *seconds, struct cs_err *err);

/* "0.5%" and "0.5" are both half a per cent: *fraction = 0.005.
 * 0 < value <= 100. */
int cs_share_parse(const char *text, double *fraction, struct cs_err *err);

/* A number of things above 0: "8192", "1.5G", "2e12"; K, M, G, T and P are powers of
 * 1000, unlike those of bytes. */
int cs_count_parse(const char *text, double *count, struct cs_err *err);

/* A whole number in least..most, decimal or 0x hexadecimal. */
int cs_uint_parse(const char *text, uint64_t least, uint64_t most, uint64_t *value,
		  struct cs_err *err);

/* "0,2-3" as bits; each number is below `below`, 64 at most.  -1: it is no such list. */
int cs_bits_parse(const char *text, unsigned int below, uint64_t *bits);
/* The same the other way; "none" of 0. */
void cs_bits_text(uint64_t bits, char *to, size_t size);
/* Each bit that is set, as a number. */
#define CS_EACH_BIT(i, bits)                                                        \
	for (uint64_t i##_left = (bits), i = cs_lowest_bit(i##_left); i##_left;     \
	     i##_left &= i##_left - 1, i = cs_lowest_bit(i##_left))
static inline uint64_t cs_lowest_bit(uint64_t bits)
{
	return bits ? (uint64_t)__builtin_ctzll(bits) : 0;
}

/* Files hold numbers with ten significant digits, more than any clock here gives: the
 * nearest such number, NAN unless it is finite. */
#define CS_DIGITS 10
double cs_ten_digits(double x);

/* In percent, to be printed with a sign and so many digits after the point: 0 instead of
 * "-0.0". */
double cs_percent(double share, int digits);

/* RFC 3339, UTC, whole seconds; "" when not set. */
void cs_time_text(const struct timespec *t, char *to, size_t size);
