/* fused.h - product and sum of a vector of doubles as one instruction, rounded once:
 * a * b + c of 8, 4 or 2 of them. Compilers make it of `a * b + c` only with some
 * options. For functions that have the instruction as target. */
#pragma once

#if defined(__x86_64__)
#include <immintrin.h>
#define CS_FUSED_8(a, b, c) _mm512_fmadd_pd(a, b, c)
#define CS_FUSED_4(a, b, c) _mm256_fmadd_pd(a, b, c)
#elif defined(__aarch64__)
#include <arm_neon.h>
#define CS_FUSED_2(a, b, c) vfmaq_f64(c, a, b)
#endif
