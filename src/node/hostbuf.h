#ifndef CS_NODE_HOSTBUF_H
#define CS_NODE_HOSTBUF_H
#include "backend/backend.h"
struct cs_hostbuf_key { int memory; int numa; int slot; int is_dst; };
struct cs_hostbuf { void *at; uint64_t address, bytes; int numa; char proof[16]; char why[160]; };
int cs_hostbuf_get(const struct cs_backend *backend, struct cs_dev *dev, const struct cs_hostbuf_key *key, uint64_t bytes, uint64_t fill_key, struct cs_hostbuf *out, struct cs_err *err);
void cs_hostbuf_put(const struct cs_backend *backend, struct cs_dev *dev, const struct cs_hostbuf_key *key);
#endif
