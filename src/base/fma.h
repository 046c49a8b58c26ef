/* fma.h - the result of a kernel of multiply-adds: the same bits on host and device.
 *
 * Each thread follows some sequences x = x * x + c, rounded once a step.  They are
 * chaotic: a step too few, too many or rounded otherwise ends elsewhere. */
#ifndef CS_BASE_FMA_H
#define CS_BASE_FMA_H

#include <stdint.h>

enum cs_fma { CS_FMA_64, CS_FMA_32, CS_FMA_16, CS_FMAS };

#define CS_FMA_CHAINS 8u   /* sequences of a thread, … */
#define CS_FMA_LANES 4u	   /* … which threads with the same number modulo this share */
#define CS_FMA_STEPS 1024u /* of a round */
#define CS_FMA_FLOPS 2u	   /* of a step: a product and a sum */
/* Of FP16 a register holds two sequences, which go on together. */
#define CS_FMA_WIDTH(fma) ((fma) == CS_FMA_16 ? 2u : 1u)

/* c = -(29 + k / 16) / 16 of the k-th of all sequences, and its first value; exact in
 * all three. */
#define CS_FMA_ADD(k) (-(29.0 + (k) / 16.0) / 16.0)
#define CS_FMA_BEGIN 0.5
#define CS_FMA_BEGIN_UPPER 0.25 /* in the upper half of a register */
/* The same as FP16. */
#define CS_FMA_ADD_16(k) (0xbc00u + 832u + 4u * (k))
#define CS_FMA_BEGIN_16 0x3800u
#define CS_FMA_BEGIN_UPPER_16 0x3400u

/* The sum over CS_FMA_LANES threads of the last values of their sequences after that
 * many rounds, as bits: of FP16 those of a register. */
uint64_t cs_fma_sum(enum cs_fma type, uint32_t rounds);
/* Floating-point operations of a thread in a round. */
double cs_fma_flops(enum cs_fma type);

/* The same in FP64 by one CPU (fma_host.c): the sum of the last values of the sequences
 * of all rounds, each round from the begin; the result of a plain loop; operations of a
 * round. */
uint64_t cs_fma_host(uint32_t rounds);
uint64_t cs_fma_host_expected(uint32_t rounds);
double cs_fma_host_flops(void);

#endif
