/* um.c - managed memory: where each page is, and what it takes to move it.
 *
 * A range is one memfd that is mapped twice: for the fake, always and everywhere, and
 * at the address that the program has.  There a page is mapped while a copy of it is
 * at home, for reading alone while a GPU has one too, and else not at all: the kernel
 * itself then says that it is absent.  A CPU that touches such a page ends in
 * signal.c, which has it brought home.  The bytes never leave the memfd.  Memory of
 * malloc is the same from when a GPU first hears of it: the memfd takes its place.
 *
 *     touch ──▶ is it mapped for me? ──no──▶ its 64 KiB, and as much of its 2 MiB as
 *                                            density asks for, come ──▶ mapped again
 *
 * A prefetch takes 2.7 us + B / R for the pages that go from one place to another, twice as
 * long the first time, 5 us if nothing moves; a kernel or copy its time as if all were in
 * its GPU, 20 us per fault, and B / R for what the faults brought.  Pages that it uses
 * elsewhere cost at least 32 bytes a touch each time.  A CPU's touch takes real time; it
 * must not have SIGSEGV blocked, and a system call cannot write to an absent page (EFAULT). */
#include "fake.h"

#include <math.h>
#include <pthread.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "backend/cuda/cupti.h"

#define PAGE 4096u
#define BLOCK (2u << 20)	/* within which density counts */
#define HOME FAKE_UM_HOME
#define NOWHERE FAKE_UM_NOWHERE
#define BIT(place) (1u << (place))
#define DENSE 51		/* per cent; uvm_perf_prefetch_threshold */
#define SCATTERED 1.4		/* as long, for faults of threads that are not neighbours */
#define COUNTED 1.7		/* as long, while CUPTI counts */
#define SECTOR 32u		/* bytes that a GPU fetches at least */

/* What the program's address shows of a page. */
enum shown { SHOWN_NOT, SHOWN_READ, SHOWN_WRITE };

struct page {
	uint32_t copies; /* bit i: GPU i has one; HOME */
	uint32_t maps;	 /* of GPUs that use one of another */
	uint32_t accessed_by;
	int16_t numa;		      /* where it was sent, -1 nowhere */
	int8_t preferred, prefetched; /* places */
	int8_t from;		      /* where it came from last */
	uint8_t read_mostly, shown;
	uint8_t stays; /* GPUs use it where it is: ATS */
};

struct fake_um {
	uint64_t pages, blocks;
	uint64_t *arrived; /* of each block: when a page of it last came to a GPU */
	struct page page[];
};

/* What one touch or prefetch has done so far. */
struct work {
	struct fake_memory *memory;
	struct fake_um *um;
	int place;				  /* that pages come to */
	int numa;				  /* of the host, for the figure */
	uint64_t first, end;			  /* pages that it is about */
	uint64_t low, high;			  /* pages to be shown anew */
	uint64_t moved[FAKE_PLACES][FAKE_PLACES]; /* bytes, from place to place */
	uint64_t faults;
	uint32_t why; /* CUPTI's cause of a move */
	/* what CUPTI has not recorded yet: a run of pages that went one way, and
	 * faults, each within a block */
	struct {
		uint64_t first, n;
		int from, to;
	} run, group;
};

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static uint64_t used[FAKE_GPUS_MAX]; /* bytes */
static uint64_t arrivals;

__thread struct fake_um_meter fake_um_meter;

/* ---- what CUPTI records ---- */

static void record_run(struct work *w)
{
	if (w->run.n)
		fake_cupti_record(w->run.to == HOME   ? CS_CUPTI_TO_HOST :
				  w->run.from == HOME ? CS_CUPTI_TO_GPU :
							CS_CUPTI_PEER,
				  w->memory->at + w->run.first * PAGE,
				  w->run.n * PAGE, 0, w->why);
	w->run.n = 0;
}

static void record_group(struct work *w)
{
	if (w->group.n)
		fake_cupti_record(w->place == HOME ? CS_CUPTI_CPU_FAULT :
						     CS_CUPTI_GPU_FAULTS,
				  w->memory->at + w->group.first * PAGE, w->group.n,
				  (double)w->group.n * fake.fault_us * 1e3, 0);
	w->group.n = 0;
}

static void moved_page(struct work *w, uint64_t at, int from)
{
	w->moved[from][w->place] += PAGE;
	if (at != w->run.first + w->run.n || from != w->run.from ||
	    w->place != w->run.to || at * PAGE / BLOCK != w->run.first * PAGE / BLOCK)
		record_run(w);
	if (!w->run.n)
		w->run.first = at;
	w->run.from = from;
	w->run.to = w->place;
	w->run.n++;
}

static void faulted(struct work *w, uint64_t at)
{
	w->faults++;
	if (at * PAGE / BLOCK != w->group.first * PAGE / BLOCK)
		record_group(w);
	if (!w->group.n)
		w->group.first = at;
	w->group.n++;
}

/* ---- what the program's address shows ---- */

static enum shown shown_of(const struct page *page)
{
	if (!(page->copies & BIT(HOME)))
		return SHOWN_NOT;
	return page->copies == BIT(HOME) ? SHOWN_WRITE : SHOWN_READ;
}

/* By the system call itself: ThreadSanitizer takes mmap() for a store to all of it, which
 * races with those of other threads. */
static void show_run(const struct fake_memory *m, uint64_t from, uint64_t to,
		     enum shown shown)
{
	int prot = shown == SHOWN_NOT	? PROT_NONE :
		   shown == SHOWN_WRITE ? PROT_READ | PROT_WRITE :
					  PROT_READ;
	int flags = MAP_SHARED | MAP_FIXED | (shown == SHOWN_NOT ? 0 : MAP_POPULATE);

	if (syscall(SYS_mmap, m->at + from * PAGE, (to - from) * PAGE, prot, flags,
		    m->fd, from * PAGE) == -1)
		abort(); /* too many mappings: nothing else would be true */
}

/* Map what has changed, in runs, and tell CUPTI. */
static void show(struct work *w)
{
	struct page *page = w->um->page;
	uint64_t to;

	record_run(w);
	record_group(w);
	for (uint64_t from = w->low; from < w->high; from = to) {
		enum shown want = shown_of(&page[from]);
		int differs = page[from].shown != want;

		for (to = from; to < w->high && shown_of(&page[to]) == want &&
				(page[to].shown != want) == differs;
		     to++)
			page[to].shown = (uint8_t)want;
		if (differs)
			show_run(w->memory, from, to, want);
	}
	w->low = UINT64_MAX;
	w->high = 0;
}

/* ---- moving ---- */

static int place_of(const struct page *page)
{
	if (page->copies & BIT(HOME))
		return HOME;
	return page->copies ? __builtin_ctz(page->copies) : NOWHERE;
}

static void set_copies(struct work *w, uint64_t at, uint32_t copies)
{
	struct page *page = &w->um->page[at];
	uint32_t changed = page->copies ^ copies;

	for (int gpu = 0; gpu < FAKE_GPUS_MAX; gpu++)
		if (changed & BIT(gpu))
			used[gpu] += copies & BIT(gpu) ? PAGE : -(uint64_t)PAGE;
	page->copies = copies;
	w->low = at < w->low ? at : w->low;
	w->high = at >= w->high ? at + 1 : w->high;
}

/* A page comes to w->place; with `keep` its other copies stay. */
static void page_come(struct work *w, uint64_t at, int keep)
{
	struct page *page = &w->um->page[at];
	int from = place_of(page);

	if (!(page->copies & BIT(w->place))) {
		page->from = (int8_t)from;
		if (from != NOWHERE)
			moved_page(w, at, from);
		if (w->place != HOME)
			w->um->arrived[at * PAGE / BLOCK] = ++arrivals;
	}
	page->maps = 0;
	set_copies(w, at, (keep ? page->copies : 0) | BIT(w->place));
}

static void block_of(const struct fake_um *um, uint64_t at, uint64_t bytes,
		     uint64_t *from, uint64_t *to)
{
	uint64_t pages = bytes / PAGE;

	*from = at / pages * pages;
	*to = *from + pages < um->pages ? *from + pages : um->pages;
}

/* ---- room ---- */

static uint64_t room(int gpu)
{
	uint64_t limit = fake_memory_left(gpu);

	if (fake.um_limit && fake.um_limit < limit)
		limit = fake.um_limit;
	return limit > used[gpu] ? limit - used[gpu] : 0;
}

/* Pages of a block that are on that GPU go home.  How many bytes went. */
static uint64_t block_evict(struct fake_memory *m, uint64_t block, int gpu)
{
	struct work w = { .memory = m,
			  .um = m->um,
			  .place = HOME,
			  .low = UINT64_MAX,
			  .why = CS_CUPTI_EVICTION };
	uint64_t from, to;

	block_of(m->um, block * (BLOCK / PAGE), BLOCK, &from, &to);
	for (uint64_t at = from; at < to; at++) {
		uint32_t others = m->um->page[at].copies & ~BIT(gpu);

		if (others == m->um->page[at].copies)
			continue;
		if (others)
			set_copies(&w, at, others);
		else
			page_come(&w, at, 0);
	}
	show(&w);
	return w.moved[gpu][HOME];
}

static int block_is_on(const struct fake_um *um, uint64_t block, int gpu)
{
	uint64_t from, to;

	block_of(um, block * (BLOCK / PAGE), BLOCK, &from, &to);
	while (from < to && !(um->page[from].copies & BIT(gpu)))
		from++;
	return from < to;
}

/* The block there to which pages came longest ago, but not this one. */
struct block {
	struct fake_memory *memory;
	uint64_t at;
};

static struct block oldest_block(int gpu, struct block but)
{
	struct block oldest = { NULL, 0 };

	for (struct fake_memory *m = fake_memory_next(NULL); m;
	     m = fake_memory_next(m))
		for (uint64_t b = 0; m->um && b < m->um->blocks; b++)
			if (!(m == but.memory && b == but.at) &&
			    block_is_on(m->um, b, gpu) &&
			    (!oldest.memory ||
			     m->um->arrived[b] < oldest.memory->um->arrived[oldest.at]))
				oldest = (struct block){ m, b };
	return oldest;
}

/* For pages of a block: others leave, the oldest first. */
static int make_room(struct work *w, uint64_t at, uint64_t pages)
{
	struct block but = { w->memory, at * PAGE / BLOCK }, oldest;

	while (w->place != HOME && room(w->place) < pages * PAGE) {
		oldest = oldest_block(w->place, but);
		if (!oldest.memory)
			return 0;
		w->moved[w->place][HOME] += block_evict(oldest.memory, oldest.at,
							w->place);
	}
	return 1;
}

void fake_um_yield(int gpu)
{
	struct block oldest, none = { NULL, 0 };

	pthread_mutex_lock(&lock);
	while (used[gpu] > fake_memory_left(gpu)) {
		oldest = oldest_block(gpu, none);
		block_evict(oldest.memory, oldest.at, gpu);
	}
	pthread_mutex_unlock(&lock);
}

/* ---- touching ---- */

static int can_map(int gpu, int place)
{
	return place == HOME || (gpu != HOME && fake_are_peers(gpu, place));
}

/* FAKE_UM_REMOTE.  A CPU can map nothing of a GPU. */
static int is_stay(int from, int to)
{
	return from != NOWHERE && to != HOME && !isnan(fake.um_remote[from][to]);
}

/* May whoever is at `place` use the page as it is? */
static int is_mapped(const struct page *page, int place, int writes)
{
	if (page->copies & BIT(place))
		return !writes || page->copies == BIT(place);
	return page->copies && place != HOME && can_map(place, place_of(page)) &&
	       (page->stays || (page->maps | page->accessed_by) & BIT(place));
}

/* Where a page goes that is touched from `place`. */
static int goal_of(const struct page *page, int place, int writes)
{
	int at = place_of(page);

	if (page->copies & BIT(place) || (page->read_mostly && !writes))
		return place;
	if (is_stay(at, place))
		return at;
	if (page->preferred != NOWHERE && page->preferred != place && place != HOME &&
	    can_map(place, page->preferred))
		return page->preferred;
	return place;
}

static uint64_t count_there(const struct work *w, uint64_t from, uint64_t to)
{
	uint64_t n = 0;

	for (; from < to; from++)
		n += w->um->page[from].copies >> w->place & 1;
	return n;
}

/* All pages of [from, to) that would go there if they were touched. */
static void span_come(struct work *w, uint64_t from, uint64_t to, int writes)
{
	for (uint64_t at = from; at < to; at++) {
		struct page *page = &w->um->page[at];

		if (!is_mapped(page, w->place, writes) &&
		    goal_of(page, w->place, writes) == w->place)
			page_come(w, at, page->read_mostly && !writes);
	}
}

/* A page comes with its granule, then with the largest piece around it of which more
 * than DENSE per cent are there.  It does not come if it is there and others go. */
static int granule_come(struct work *w, uint64_t at, int writes)
{
	int comes = fake.um_density && !(w->um->page[at].copies & BIT(w->place));
	uint64_t from, to, n;

	block_of(w->um, at, fake.um_granule, &from, &to);
	if (!make_room(w, at, to - from - count_there(w, from, to)))
		return -1;
	span_come(w, from, to, writes);
	for (uint64_t bytes = BLOCK; comes && bytes > fake.um_granule; bytes /= 2) {
		block_of(w->um, at, bytes, &from, &to);
		n = count_there(w, from, to);
		if (n * 100 <= (to - from) * DENSE)
			continue;
		if (make_room(w, at, to - from - n))
			span_come(w, from, to, writes);
		break;
	}
	return 0;
}

/* It stays at its goal, or goes there, and is mapped from afar. */
static void page_map(struct work *w, uint64_t at, int goal)
{
	struct page *page = &w->um->page[at];
	int afar = w->place;

	w->place = goal;
	if (!(page->copies & BIT(goal)))
		page_come(w, at, 0);
	w->place = afar;
	page->maps |= BIT(afar);
}

/* So do all of its granule that have the same goal. */
static void granule_map(struct work *w, uint64_t at, int goal, int writes)
{
	uint64_t from, to;

	block_of(w->um, at, fake.um_granule, &from, &to);
	for (; from < to; from++) {
		const struct page *page = &w->um->page[from];

		if (!is_mapped(page, w->place, writes) &&
		    goal_of(page, w->place, writes) == goal)
			page_map(w, from, goal);
	}
}

/* Under the lock: somebody at w->place touches a page. */
static void touch(struct work *w, uint64_t at, int writes)
{
	struct page *page = &w->um->page[at];
	int goal;

	if (is_mapped(page, w->place, writes))
		return;
	faulted(w, at);
	goal = goal_of(page, w->place, writes);
	if (goal != w->place)
		granule_map(w, at, goal, writes);
	else if (granule_come(w, at, writes)) /* no room: it is used where it is */
		page_map(w, at, page->copies ? place_of(page) : HOME);
}

/* ---- time ---- */

static struct fake_flow flow_between(int from, int to, enum fake_engine engine)
{
	return (struct fake_flow){ .gate = fake_um_meter.gate,
				   .src = from == HOME ? FAKE_HOST : from,
				   .dst = to == HOME ? FAKE_HOST : to,
				   .issuer = from == HOME ? to : from,
				   .engine = engine };
}

static double ns_of(const struct work *w, int from, int to, enum fake_engine engine,
		    uint64_t bytes)
{
	struct fake_flow flow = flow_between(from, to, engine);

	if (!bytes)
		return 0;
	flow.numa = w->numa;
	fake_flow_count(&flow, bytes);
	return (double)bytes / fake_flow_rate(&flow) * fake_disturbance(&flow);
}

/* Faults, and what they moved. */
static double ns_of_faults(const struct work *w, int scattered)
{
	struct fake_flow flow = flow_between(HOME, w->place, FAKE_FAULTS);
	double ns = (double)w->faults * fake.fault_us * 1e3 *
		    (scattered ? SCATTERED : 1) * (fake_cupti_is_on() ? COUNTED : 1) *
		    fake_disturbance(&flow);

	for (int from = 0; from < FAKE_PLACES; from++)
		for (int to = 0; to < FAKE_PLACES; to++)
			ns += ns_of(w, from, to, FAKE_FAULTS, w->moved[from][to]);
	return ns;
}

/* ---- what others ask for ---- */

static int numa_of(const struct page *page)
{
	return page->numa < 0 ? 0 : page->numa;
}

static struct work work_on(struct fake_memory *m, uint64_t at, uint64_t bytes,
			   int place)
{
	uint64_t end = at - m->at + bytes;

	return (struct work){ .memory = m,
			      .um = m->um,
			      .place = place,
			      .numa = numa_of(&m->um->page[(at - m->at) / PAGE]),
			      .first = (at - m->at) / PAGE,
			      .end = (end + PAGE - 1) / PAGE,
			      .low = UINT64_MAX };
}

/* Bytes of a page that a touch at that offset of the range uses. */
static uint64_t bytes_used(const struct fake_touch *touched, uint64_t off,
			   uint64_t end)
{
	uint64_t bytes = PAGE - off % PAGE;

	if (bytes > end - off)
		bytes = end - off;
	return touched->stride || bytes < SECTOR ? SECTOR : bytes;
}

void fake_um_access(struct fake_memory *m, int gpu, const struct fake_touch *touched)
{
	struct work w = work_on(m, touched->at, touched->bytes, gpu);
	uint64_t off = touched->at - m->at, end = off + touched->bytes;
	uint64_t far[FAKE_PLACES] = { 0 };
	int writes = touched->use == FAKE_STORES;

	pthread_mutex_lock(&lock);
	while (off < end) {
		const struct page *page = &m->um->page[off / PAGE];

		touch(&w, off / PAGE, writes);
		if (!(page->copies & BIT(gpu)) || fake.slow[gpu][gpu] < 1)
			far[place_of(page)] += bytes_used(touched, off, end);
		off = touched->stride ? off + touched->stride :
					(off / PAGE + 1) * PAGE;
	}
	show(&w);
	pthread_mutex_unlock(&lock);
	fake_um_meter.fault_ns += ns_of_faults(&w, touched->stride > 0);
	for (int place = 0; place < FAKE_PLACES; place++)
		fake_um_meter.far_ns +=
			writes ? ns_of(&w, gpu, place, FAKE_FAR, far[place]) :
				 ns_of(&w, place, gpu, FAKE_FAR, far[place]);
	if (touched->bytes > fake_um_meter.most)
		fake_um_meter.most = touched->bytes;
}

/* Of the pages that come from one place the first part alone comes: FAKE_UM_STUCK. */
static int is_stuck(const struct work *w, uint64_t at, int from)
{
	double moves = from == NOWHERE ? NAN : fake.um_stuck[from][w->place];

	return !isnan(moves) &&
	       (double)(at - w->first) >= moves * (double)(w->end - w->first);
}

/* FAKE_UM_LOST: of each so many pages that came by a touch, the first. */
static int is_lost(const struct page *page, uint64_t at, int place)
{
	double each = page->from == NOWHERE ? NAN : fake.um_lost[page->from][place];

	return !isnan(each) && at % (each < 1 ? 1 : (uint64_t)each) == 0;
}

static void prefetch(struct work *w, int numa)
{
	for (uint64_t at = w->first; at < w->end; at++) {
		struct page *page = &w->um->page[at];

		page->prefetched = (int8_t)w->place;
		if (is_stuck(w, at, place_of(page)))
			continue;
		if (w->place == HOME && numa >= 0)
			page->numa = (int16_t)numa;
		if ((page->copies & BIT(w->place) &&
		     (page->read_mostly || page->copies == BIT(w->place))) ||
		    !make_room(w, at, 1))
			continue;
		page_come(w, at, page->read_mostly);
		page->from = NOWHERE; /* by no touch */
	}
}

/* Where this machine has that NUMA node.  The program's mapping is the one that counts. */
static void settle(const struct work *w, int numa)
{
	enum { MOST = 512 };
	void *page[MOST];
	int to[MOST], status[MOST];
	unsigned long n = 0;

	for (uint64_t at = w->first; at < w->end; at++) {
		if (w->um->page[at].shown != SHOWN_NOT) {
			to[n] = numa;
			page[n++] = (void *)(uintptr_t)(w->memory->at + at * PAGE);
		}
		if (n == MOST || (n && at + 1 == w->end)) {
			syscall(SYS_move_pages, 0, n, page, to, status, 2);
			n = 0;
		}
	}
}

/* What goes from one place to another is one copy, one after the other. */
static uint64_t ps_of_copies(const struct work *w)
{
	uint64_t ps = 0;

	for (int i = 0; i < FAKE_PLACES * FAKE_PLACES; i++) {
		int from = i / FAKE_PLACES, to = i % FAKE_PLACES;
		struct fake_flow flow = flow_between(from, to, FAKE_PREFETCH);

		if (!w->moved[from][to])
			continue;
		flow.numa = w->numa;
		fake_flow_count(&flow, w->moved[from][to]);
		ps += fake_copy_ps(&flow, fake_flow_rate(&flow), w->moved[from][to]);
	}
	return ps;
}

/* FAKE_CORRUPT: of each way that pages went. */
static void corrupt(const struct work *w, uint64_t at, uint64_t bytes)
{
	char *moved = w->memory->map + (at - w->memory->at);

	for (int from = 0; from < FAKE_PLACES; from++) {
		double off = w->moved[from][w->place] ?
				     fake_memory_corrupt(from, w->place) :
				     NAN;

		if (off >= 0 && off < (double)bytes)
			moved[(uint64_t)off] ^= 1;
	}
}

uint64_t fake_um_prefetch(uint64_t at, uint64_t bytes, const struct fake_flow *flow)
{
	CUresult code;
	struct fake_memory *m = fake_memory_find(at, bytes, &code);
	struct work w;

	if (!m || !m->um)
		return 0;
	w = work_on(m, at, bytes, flow->dst == FAKE_HOST ? HOME : flow->dst);
	pthread_mutex_lock(&lock);
	prefetch(&w, flow->numa);
	show(&w);
	corrupt(&w, at, bytes);
	if (w.place == HOME && flow->numa >= 0)
		settle(&w, flow->numa);
	pthread_mutex_unlock(&lock);
	if (flow->numa >= 0)
		w.numa = flow->numa;
	return ps_of_copies(&w);
}

struct fake_flow fake_um_flow(struct fake_memory *m, uint64_t at, int place)
{
	const struct page *page = &m->um->page[(at - m->at) / PAGE];
	struct fake_flow flow;
	int from;

	pthread_mutex_lock(&lock);
	from = place_of(page);
	flow = flow_between(from == NOWHERE ? HOME : from, place, FAKE_FAULTS);
	flow.numa = numa_of(page);
	pthread_mutex_unlock(&lock);
	return flow;
}

int fake_um_loses(uint64_t at, int gpu)
{
	CUresult code;
	struct fake_memory *m = fake_memory_find(at, 1, &code);

	return m && m->um &&
	       is_lost(&m->um->page[(at - m->at) / PAGE], (at - m->at) / PAGE, gpu);
}

void fake_um_begin(const struct fake_gate *gate)
{
	fake_um_meter = (struct fake_um_meter){ .gate = *gate };
}

double fake_um_ns(uint64_t bytes)
{
	const struct fake_um_meter *met = &fake_um_meter;
	double times = met->most && bytes > met->most ?
			       (double)bytes / (double)met->most :
			       1;

	return met->fault_ns + times * met->far_ns;
}

uint64_t fake_um_used(int gpu)
{
	uint64_t bytes;

	pthread_mutex_lock(&lock);
	bytes = used[gpu];
	pthread_mutex_unlock(&lock);
	return bytes;
}

/* ---- advice ---- */

static void page_advise(struct work *w, uint64_t at, CUmem_advise advice)
{
	struct page *page = &w->um->page[at];

	switch (advice) {
	case CU_MEM_ADVISE_SET_READ_MOSTLY:
		page->read_mostly = 1;
		break;
	case CU_MEM_ADVISE_UNSET_READ_MOSTLY:
		page->read_mostly = 0;
		if (page->copies)
			set_copies(w, at, BIT(place_of(page)));
		break;
	case CU_MEM_ADVISE_SET_PREFERRED_LOCATION:
		page->preferred = (int8_t)w->place;
		break;
	case CU_MEM_ADVISE_UNSET_PREFERRED_LOCATION:
		page->preferred = NOWHERE;
		break;
	case CU_MEM_ADVISE_SET_ACCESSED_BY:
		page->accessed_by |= BIT(w->place);
		break;
	default:
		page->accessed_by &= ~BIT(w->place);
	}
}

void fake_um_advise(uint64_t at, uint64_t bytes, CUmem_advise advice, int place)
{
	CUresult code;
	struct fake_memory *m = fake_memory_find(at, bytes, &code);
	struct work w = work_on(m, at, bytes, place == FAKE_HOST ? HOME : place);

	pthread_mutex_lock(&lock);
	for (at = w.first; at < w.end; at++)
		page_advise(&w, at, advice);
	show(&w);
	pthread_mutex_unlock(&lock);
}

struct fake_um_advised fake_um_advised(uint64_t at, uint64_t bytes)
{
	CUresult code;
	struct fake_memory *m = fake_memory_find(at, bytes, &code);
	struct work w = work_on(m, at, bytes, HOME);
	const struct page *first = &w.um->page[w.first];
	struct fake_um_advised all = { first->read_mostly, first->preferred,
				       first->prefetched, first->accessed_by };

	pthread_mutex_lock(&lock);
	for (at = w.first; at < w.end; at++) {
		const struct page *page = &w.um->page[at];

		all.read_mostly &= page->read_mostly;
		all.accessed_by &= page->accessed_by;
		if (page->preferred != all.preferred)
			all.preferred = NOWHERE;
		if (page->prefetched != all.prefetched)
			all.prefetched = NOWHERE;
	}
	pthread_mutex_unlock(&lock);
	return all;
}

/* ---- a range from its making to its end ---- */

/* Addresses for a range of its own; 0: there are none. */
static uint64_t reserve(size_t bytes)
{
	char *reserved = mmap(NULL, bytes + BLOCK, PROT_NONE,
			      MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
	uint64_t at;

	if (reserved == MAP_FAILED)
		return 0;
	at = ((uintptr_t)reserved + BLOCK - 1) / BLOCK * BLOCK;
	if (at > (uintptr_t)reserved)
		munmap(reserved, at - (uintptr_t)reserved);
	munmap((void *)(at + bytes), (uintptr_t)reserved + BLOCK - at);
	return at;
}

static int pages_make(struct fake_memory *m)
{
	uint64_t pages = (m->bytes + PAGE - 1) / PAGE;
	uint64_t blocks = (m->bytes + BLOCK - 1) / BLOCK;

	m->um = calloc(1, sizeof(*m->um) + pages * sizeof(*m->um->page));
	if (!m->um)
		return -1;
	m->um->arrived = calloc(blocks, sizeof(*m->um->arrived));
	if (!m->um->arrived) {
		free(m->um);
		m->um = NULL;
		return -1;
	}
	m->um->pages = pages;
	m->um->blocks = blocks;
	for (uint64_t i = 0; i < pages; i++)
		m->um->page[i] = (struct page){ .preferred = NOWHERE,
						.prefetched = NOWHERE,
						.from = NOWHERE,
						.numa = -1 };
	return 0;
}

int fake_um_make(struct fake_memory *m)
{
	if (pages_make(m))
		return -1;
	m->at = reserve(m->um->pages * PAGE);
	if (m->at)
		return 0;
	free(m->um->arrived);
	free(m->um);
	m->um = NULL;
	return -1;
}

int fake_um_adopt(struct fake_memory *m)
{
	if (pages_make(m))
		return -1;
	memcpy(m->map, (void *)(uintptr_t)m->at, m->bytes);
	for (uint64_t i = 0; i < m->um->pages; i++) {
		m->um->page[i].copies = BIT(HOME);
		m->um->page[i].shown = SHOWN_WRITE;
		m->um->page[i].stays = fake.pageable_access > 1;
	}
	show_run(m, 0, m->um->pages, SHOWN_WRITE);
	return 0;
}

/* What the program has given back is no more ours to map. */
static void leave(struct fake_memory *m)
{
	struct work w = { .memory = m, .um = m->um, .low = UINT64_MAX };

	for (uint64_t at = 0; at < m->um->pages; at++)
		set_copies(&w, at, BIT(HOME));
	if (fake_memory_is_there(m))
		show(&w);
}

void fake_um_drop(struct fake_memory *m)
{
	struct work w = { .memory = m, .um = m->um };

	pthread_mutex_lock(&lock);
	if (m->kind == FAKE_SYSTEM)
		leave(m);
	for (uint64_t at = 0; at < m->um->pages; at++)
		set_copies(&w, at, 0);
	pthread_mutex_unlock(&lock);
	if (m->kind != FAKE_SYSTEM)
		munmap((void *)m->at, m->um->pages * PAGE);
	free(m->um->arrived);
	free(m->um);
}

/* ---- touches by a CPU ---- */

int fake_um_home(uint64_t address)
{
	CUresult code;
	struct fake_memory *m;
	int ours;

	fake_memory_lock();
	m = fake_memory_find(address, 1, &code);
	ours = m && m->um;
	if (ours) {
		struct work w = work_on(m, address, 1, HOME);

		pthread_mutex_lock(&lock);
		/* it is shown for reading: then it was a write */
		touch(&w, w.first, w.um->page[w.first].shown == SHOWN_READ);
		if (w.faults && is_lost(&w.um->page[w.first], w.first, HOME))
			m->map[w.first * PAGE + PAGE - 1] ^= 1;
		for (int from = 0; from < HOME; from++)
			if (w.moved[from][HOME]) {
				struct fake_flow flow = flow_between(from, HOME,
								     FAKE_FAULTS);

				fake_flow_count(&flow, w.moved[from][HOME]);
			}
		show(&w);
		pthread_mutex_unlock(&lock);
	}
	fake_memory_unlock();
	return ours ? 0 : -1;
}
