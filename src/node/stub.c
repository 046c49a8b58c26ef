#include "config.h"
#include <stdlib.h>
#include <string.h>
#include "node/hostbuf.h"
#include "base/fill.h"
#include "base/chain.h"
void cs_chain_host(void *p, uint64_t bytes, uint64_t base, int random, uint64_t seed) { (void)p;(void)bytes;(void)base;(void)random;(void)seed; }
int cs_hostbuf_get(const struct cs_backend *backend, struct cs_dev *dev, const struct cs_hostbuf_key *key, uint64_t bytes, uint64_t fill_key, struct cs_hostbuf *out, struct cs_err *err)
{ (void)backend;(void)dev;(void)err; memset(out,0,sizeof(*out)); out->at=aligned_alloc(4096,(bytes+4095)/4096*4096); out->address=(uintptr_t)out->at; out->bytes=bytes; out->numa=key->numa; if(!key->is_dst) cs_fill_host(out->at,bytes,fill_key); return 0; }
void cs_hostbuf_put(const struct cs_backend *backend, struct cs_dev *dev, const struct cs_hostbuf_key *key) {(void)backend;(void)dev;(void)key;}
void cs_check_host_some(void *p, uint64_t bytes, uint64_t key, uint64_t seed, struct cs_check *out) {(void)seed; cs_check_host(p,bytes,key,1,out);}
