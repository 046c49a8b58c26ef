#ifndef CS_BASE_CHAIN_H
#define CS_BASE_CHAIN_H
#include <stdint.h>
void cs_chain_host(void *p, uint64_t bytes, uint64_t base, int random, uint64_t seed);
#endif
