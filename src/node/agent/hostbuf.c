/* hostbuf.c - see hostbuf.h.
 *
 * One lock, never held for long, guards the list of entries, their holders and users.
 * An entry's memory is allocated, shared and freed under the entry's own lock, so that
 * agents allocate different buffers at the same time.  A thread that waits for that lock
 * holds the entry.  While an entry has a user, its memory does not change. */
#include "node/agent/hostbuf.h"

#include <inttypes.h>
#include <pthread.h>
#include <stdlib.h>
#include <string.h>

#include "node/agent/host_fill_check.h"
#include "system/system.h"
#include "plan/plan.h"

struct user {
	struct user *next;
	const struct cs_dev *dev;
	uint64_t address;
};

struct entry {
	struct entry *next;
	struct cs_hostbuf_key key;
	unsigned int holders; /* users, and threads that wait to become one */
	struct user *users;

	pthread_mutex_t lock; /* of all below */
	unsigned int shares;  /* 0: the memory is not made */
	struct cs_hostmem mem;
	int allocated; /* by the backend */
	int huge_percent;
	char why[160];
};

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static struct entry *all;

/* ---- entries ---- */

int cs_hostbuf_same(const struct cs_hostbuf_key *a, const struct cs_hostbuf_key *b)
{
	return a->memory == b->memory && a->numa == b->numa && a->slot == b->slot &&
	       a->use == b->use;
}

/* All of these under the lock. */
static struct entry *entry_find(const struct cs_hostbuf_key *key)
{
	struct entry *e = all;

	while (e && !cs_hostbuf_same(&e->key, key))
		e = e->next;
	return e;
}

static struct entry *entry_new(const struct cs_hostbuf_key *key, struct cs_err *err)
{
	struct entry *e = calloc(1, sizeof(*e));

	if (!e) {
		cs_err_set(err, "no memory");
		return NULL;
	}
	e->key = *key;
	pthread_mutex_init(&e->lock, NULL);
	e->next = all;
	return all = e;
}

static void entry_drop(struct entry *e)
{
	struct entry **at = &all;

	if (--e->holders)
		return;
	while (*at != e)
		at = &(*at)->next;
	*at = e->next;
	pthread_mutex_destroy(&e->lock);
	free(e);
}

static struct user **user_find(struct entry *e, const struct cs_dev *dev)
{
	struct user **at = &e->users;

	while (*at && (*at)->dev != dev)
		at = &(*at)->next;
	return at;
}

/* ---- making ---- */

/* Allocate by the driver; this thread's memory policy decides the NUMA node. */
static int make_allocated(const struct cs_backend *backend, struct cs_dev *dev,
			  struct entry *e, uint64_t bytes, uint64_t *address,
			  struct cs_err *err)
{
	struct cs_policy before = { 0 };
	const int numa = e->key.numa;
	int bound, rc;

	if (cs_hostmem_claim(bytes, numa, err))
		return -1;
	bound = numa >= 0 && !cs_policy_bind(numa, &before, e->why);
	rc = backend->host_alloc(dev, bytes, e->key.memory == CS_MEM_WC, &e->mem.at,
				 address, err);
	cs_policy_restore(&before);
	cs_hostmem_settle(bytes);
	if (rc)
		return -1;
	e->allocated = 1;
	e->mem.bytes = e->mem.mapped = bytes;
	e->mem.numa = -1;
	e->mem.proof[0] = '\0';
	cs_hostmem_prove_driver(&e->mem, numa, bound, e->why);
	return 0;
}

static int make_mapped(const struct cs_backend *backend, struct cs_dev *dev,
		       struct entry *e, uint64_t bytes, uint64_t *address,
		       struct cs_err *err)
{
	const int is_chain = e->key.use == CS_HOSTBUF_CHAIN &&
			     e->key.memory != CS_MEM_PINNED;
	const enum cs_pages pages = e->key.memory == CS_MEM_HUGE ? CS_PAGES_HUGE :
				    is_chain			 ? CS_PAGES_WISHED :
								   CS_PAGES_USUAL;

	if (cs_hostmem_map(bytes, e->key.numa, pages, &e->mem, e->why, err))
		return -1;
	*address = (uintptr_t)e->mem.at;
	if (e->key.memory == CS_MEM_ARENA)
		e->huge_percent = cs_hostmem_huge_percent(e->mem.at);
	if (e->key.memory == CS_MEM_ARENA ||
	    !backend->host_register(dev, e->mem.at, e->mem.mapped, address, err))
		return 0;
	cs_hostmem_close(&e->mem);
	return -1;
}

/* The driver zeroes pages that it allocates by one thread.  Pages that several threads
 * touch, and that it locks then, are there five times sooner.  If it does not lock them,
 * it allocates them all the same. */
static int make_pinned(const struct cs_backend *backend, struct cs_dev *dev,
		       struct entry *e, uint64_t bytes, uint64_t *address,
		       struct cs_err *err)
{
	if (!e->key.by_driver && !make_mapped(backend, dev, e, bytes, address, err))
		return 0;
	e->why[0] = '\0';
	return make_allocated(backend, dev, e, bytes, address, err);
}

static int make(const struct cs_backend *backend, struct cs_dev *dev, struct entry *e,
		uint64_t bytes, uint64_t fill_key, uint64_t *address,
		struct cs_err *err)
{
	int rc;

	e->why[0] = '\0';
	e->allocated = 0;
	e->huge_percent = -1;
	if (cs_hostmem_numa(e->key.numa, err))
		return -1;
	rc = e->key.memory == CS_MEM_PINNED ?
		     make_pinned(backend, dev, e, bytes, address, err) :
	     e->key.memory == CS_MEM_WC ?
		     make_allocated(backend, dev, e, bytes, address, err) :
		     make_mapped(backend, dev, e, bytes, address, err);
	if (!rc && e->key.use == CS_HOSTBUF_SOURCE)
		cs_fill_host_parallel(e->mem.at, bytes, fill_key);
	return rc;
}

static int share(const struct cs_backend *backend, struct cs_dev *dev,
		 const struct entry *e, uint64_t *address, struct cs_err *err)
{
	*address = (uintptr_t)e->mem.at;
	if (e->key.memory == CS_MEM_ARENA)
		return 0;
	return backend->host_register(dev, e->mem.at, e->mem.mapped, address, err);
}

static void leave(const struct cs_backend *backend, struct cs_dev *dev,
		  struct entry *e)
{
	pthread_mutex_lock(&e->lock);
	if (e->key.memory != CS_MEM_ARENA)
		backend->host_release(dev, e->mem.at);
	if (--e->shares == 0 && !e->allocated)
		cs_hostmem_close(&e->mem);
	pthread_mutex_unlock(&e->lock);
}

/* ---- public ---- */

static int enough(const struct entry *e, uint64_t bytes, struct cs_err *err)
{
	return bytes <= e->mem.bytes ?
		       0 :
		       cs_err_set(err,
				  "%" PRIu64 " bytes of a host buffer wanted, it was "
				  "made with %" PRIu64,
				  bytes, e->mem.bytes);
}

/* Make it, or share it if it is made. */
static int join(const struct cs_backend *backend, struct cs_dev *dev, struct entry *e,
		uint64_t bytes, uint64_t fill_key, uint64_t *address,
		struct cs_err *err)
{
	int rc;

	pthread_mutex_lock(&e->lock);
	if (e->shares)
		rc = cs_rc(enough(e, bytes, err) ||
			   share(backend, dev, e, address, err));
	else
		rc = make(backend, dev, e, bytes, fill_key, address, err);
	if (!rc)
		e->shares++;
	pthread_mutex_unlock(&e->lock);
	return rc;
}

static void describe(const struct entry *e, const struct user *u,
		     struct cs_hostbuf *out)
{
	*out = (struct cs_hostbuf){ .at = e->mem.at,
				    .address = u->address,
				    .bytes = e->mem.bytes,
				    .numa = e->mem.numa,
				    .huge_percent = e->huge_percent };
	memcpy(out->proof, e->mem.proof, sizeof(out->proof));
	memcpy(out->why, e->why, sizeof(out->why));
}

/* Add a user, and describe its buffer.  The entry is held. */
static int get_new(const struct cs_backend *backend, struct cs_dev *dev,
		   struct entry *e, uint64_t bytes, uint64_t fill_key,
		   struct cs_hostbuf *out, struct cs_err *err)
{
	struct user *u = malloc(sizeof(*u));

	if (!u)
		return cs_err_set(err, "no memory");
	*u = (struct user){ .dev = dev };
	if (join(backend, dev, e, bytes, fill_key, &u->address, err)) {
		free(u);
		return -1;
	}
	pthread_mutex_lock(&lock);
	u->next = e->users;
	e->users = u;
	describe(e, u, out);
	pthread_mutex_unlock(&lock);
	return 0;
}

int cs_hostbuf_get(const struct cs_backend *backend, struct cs_dev *dev,
		   const struct cs_hostbuf_key *key, uint64_t bytes,
		   uint64_t fill_key, struct cs_hostbuf *out, struct cs_err *err)
{
	const struct user *known = NULL;
	struct entry *e;
	int rc = -1;

	if (key->memory != CS_MEM_ARENA && !backend->host_alloc)
		return cs_err_set(
			err,
			"page-locked host memory is for GPUs: the backend '%s' has none",
			backend->name);
	pthread_mutex_lock(&lock);
	e = entry_find(key);
	if (e)
		known = *user_find(e, dev);
	else
		e = entry_new(key, err);
	if (known) {
		rc = enough(e, bytes, err);
		if (!rc)
			describe(e, known, out);
	} else if (e) {
		e->holders++;
	}
	pthread_mutex_unlock(&lock);
	if (known || !e)
		return rc;
	rc = get_new(backend, dev, e, bytes, fill_key, out, err);
	if (rc) {
		pthread_mutex_lock(&lock);
		entry_drop(e);
		pthread_mutex_unlock(&lock);
	}
	return rc;
}

/* Take the device off the users of some entry, which stays held. */
static struct entry *take_off(const struct cs_dev *dev)
{
	struct user **at = NULL, *u;
	struct entry *e;

	pthread_mutex_lock(&lock);
	for (e = all; e; e = e->next) {
		at = user_find(e, dev);
		if (*at)
			break;
	}
	if (e) {
		u = *at;
		*at = u->next;
		free(u);
	}
	pthread_mutex_unlock(&lock);
	return e;
}

void cs_hostbuf_put(const struct cs_backend *backend, struct cs_dev *dev)
{
	struct entry *e;

	while ((e = take_off(dev))) {
		leave(backend, dev, e);
		pthread_mutex_lock(&lock);
		entry_drop(e);
		pthread_mutex_unlock(&lock);
	}
}
