#include "node/agent/tiles.h"

#include <math.h>
#include <time.h>

#include "node/agent/host_fill_check.h"
#include "node/agent/lane.h"

/* Streams are the lanes of the agent; one schedule uses all of them. */
#define STREAMS 3u

/* First the CS_TILE_WORKS, which take time. */
enum op_kind { MOVE_IN, KERNELS, MOVE_OUT, RECORD, AWAIT, IDLE };

struct op {
	uint8_t kind, tile;
	uint8_t stream, event;
};

/* At most ten operations for a tile. */
struct schedule {
	struct op op[CS_TILES_MOST * 10];
	uint32_t n, tiles, streams;
	int moves, kernels; /* does it? */
};

/* ---- the lists ---- */

static void add(struct schedule *s, enum op_kind kind, uint32_t tile, uint32_t stream)
{
	if ((kind == KERNELS && !s->kernels) ||
	    ((kind == MOVE_IN || kind == MOVE_OUT) && !s->moves))
		return;
	s->op[s->n++] = (struct op){ .kind = (uint8_t)kind,
				     .tile = (uint8_t)tile,
				     .stream = (uint8_t)stream };
}

static void record(struct schedule *s, uint32_t event, uint32_t stream)
{
	s->op[s->n++] = (struct op){ .kind = RECORD,
				     .stream = (uint8_t)stream,
				     .event = (uint8_t)event };
}

static void await(struct schedule *s, uint32_t event)
{
	s->op[s->n++] = (struct op){ .kind = AWAIT, .event = (uint8_t)event };
}

static void list_serial(struct schedule *s)
{
	for (uint32_t i = 0; i < s->tiles; i++) {
		add(s, MOVE_IN, i, 0);
		add(s, KERNELS, i, 0);
		add(s, MOVE_OUT, i, 0);
	}
}

/* A stream for each kind of work; the CPU joins all three after each tile. */
static void list_streams(struct schedule *s)
{
	enum { WORK, IN, OUT };

	add(s, MOVE_IN, 0, IN);
	add(s, IDLE, 0, IN);
	for (uint32_t i = 0; i < s->tiles; i++) {
		if (i)
			add(s, MOVE_OUT, i - 1, OUT);
		add(s, KERNELS, i, WORK);
		if (i + 1 < s->tiles)
			add(s, MOVE_IN, i + 1, IN);
		for (uint32_t stream = 0; stream < STREAMS; stream++)
			add(s, IDLE, 0, stream);
	}
	add(s, MOVE_OUT, s->tiles - 1, OUT);
}

/* Request tile i + 1 in an idle stream, so that nothing delays it; tile i goes back in the
 * stream of its kernels, after them.  Then the streams change places, and the way back is
 * awaited only when its stream is used again. */
static void list_rotated(struct schedule *s)
{
	uint32_t work = 0, in = 1, spare = 2, worked = 0, moved = 1, other;

	add(s, MOVE_IN, 0, in);
	record(s, moved, in);
	for (uint32_t i = 0; i < s->tiles; i++) {
		await(s, moved);
		if (i)
			await(s, worked);
		add(s, KERNELS, i, work);
		record(s, worked, work);
		if (i + 1 < s->tiles) {
			add(s, IDLE, 0, in);
			add(s, MOVE_IN, i + 1, in);
			record(s, moved, in);
		}
		add(s, MOVE_OUT, i, work);
		other = work;
		work = in;
		in = spare;
		spare = other;
	}
}

/* Nothing waits for another tile, but the last tiles share streams with the first. */
static void list_tiles(struct schedule *s)
{
	s->streams = CS_LANES;
	for (uint32_t i = 0; i < s->tiles; i++) {
		add(s, MOVE_IN, i, i % s->streams);
		add(s, KERNELS, i, i % s->streams);
		add(s, MOVE_OUT, i, i % s->streams);
	}
}

/* ---- carried out ---- */

struct job {
	const struct cs_cost *cost; /* desc: all tiles, in the GPU */
	const struct cs_tiles *tiles;
	int checks, whole;
	struct cs_check *wrong;
	uint32_t done;		     /* kernels on what lies in managed tiles */
	struct cs_tile_times *times; /* to be taken; NULL: of this part they are not */
};

static const struct cs_backend_costs *costs(const struct job *j)
{
	return j->cost->backend->costs;
}

/* Whole pages; the last tile has what is left. */
static uint64_t tile_at(const struct job *j, uint32_t tile)
{
	const uint64_t page = 4096,
		       part = j->cost->desc.bytes / CS_TILES / page * page;

	return tile * (j->tiles->bytes ?: part ?: page);
}

static uint32_t tiles_of(const struct job *j)
{
	uint32_t n = 1;

	while (n < (j->tiles->bytes ? CS_TILES_MOST + 1 : CS_TILES) &&
	       tile_at(j, n) < j->cost->desc.bytes)
		n++;
	return n;
}

static uint64_t tile_bytes(const struct job *j, uint32_t tile)
{
	return (tile + 1 < tiles_of(j) ? tile_at(j, tile + 1) : j->cost->desc.bytes) -
	       tile_at(j, tile);
}

/* The key of the pattern after so many kernels. */
static uint64_t key_of(const struct job *j, uint32_t kernels)
{
	return kernels ? cs_fill_key(j->tiles->key, kernels) : j->tiles->key;
}

/* The address of the tiles for kernels. */
static uint64_t base(const struct job *j)
{
	return j->tiles->managed ? j->tiles->dst : j->cost->desc.dst;
}

static int move(const struct job *j, const struct op *op)
{
	uint64_t at = tile_at(j, op->tile), gpu = base(j) + at;
	struct cs_copy one = { .copies = 1, .bytes = tile_bytes(j, op->tile) };

	if (j->tiles->managed) {
		one.kind = CS_COPY_PREFETCH;
		one.dst = gpu;
		one.to = op->kind == MOVE_IN ? j->tiles->gpu : j->tiles->home;
		return costs(j)->copy(j->cost->dev, op->stream, &one,
				      &j->cost->slot->err);
	}
	one.src = op->kind == MOVE_IN ? j->tiles->src + at : gpu;
	one.dst = op->kind == MOVE_IN ? gpu : j->tiles->dst + at;
	return costs(j)->copy(j->cost->dev, op->stream, &one, &j->cost->slot->err);
}

static int work(const struct job *j, const struct op *op)
{
	struct cs_rekey one = {
		.address = base(j) + tile_at(j, op->tile),
		.bytes = tile_bytes(j, op->tile),
		.word = tile_at(j, op->tile) / 8,
	};

	for (uint32_t k = 0; k < j->tiles->kernels; k++) {
		one.from = key_of(j, j->done + k);
		one.to = key_of(j, j->done + k + 1);
		if (costs(j)->rekey(j->cost->dev, op->stream, &one,
				    &j->cost->slot->err))
			return -1;
	}
	return 0;
}

static int await_event(const struct job *j, int event)
{
	struct timespec nap = { 0, 20000 };
	int rc;

	while (!(rc = costs(j)->reached(j->cost->dev, event, &j->cost->slot->err)))
		if (!j->cost->board->spin_ns)
			nanosleep(&nap, NULL);
	return rc < 0 ? -1 : 0;
}

static int await_lane(const struct job *j, int lane)
{
	double ns;

	return cs_rc(costs(j)->mark(j->cost->dev, lane, &j->cost->slot->err) ||
		     cs_lane_wait(j->cost->backend, j->cost->dev, j->cost->board,
				  j->cost->slot, lane, &ns));
}

static int carry_out(const struct job *j, const struct op *op)
{
	switch (op->kind) {
	case KERNELS:
		return work(j, op);
	case RECORD:
		return costs(j)->record(j->cost->dev, op->stream, op->event,
					&j->cost->slot->err);
	case AWAIT:
		return await_event(j, op->event);
	case IDLE:
		return await_lane(j, op->stream);
	default:
		return move(j, op);
	}
}

/* The end of all streams, also after an error, which stays. */
static int drain(const struct job *j, uint32_t streams, int rc)
{
	struct cs_err first = j->cost->slot->err;

	for (int lane = 0; lane < (int)streams; lane++)
		if (await_lane(j, lane) && !rc) {
			first = j->cost->slot->err;
			rc = -1;
		}
	if (rc)
		j->cost->slot->err = first;
	return rc;
}

/* ---- times of single tiles ---- */

_Static_assert(CS_EVENTS_TIMED > CS_TILE_TIMES * CS_TILES_MOST, "and the beginning");

static int stamp(const struct job *j, uint32_t stream, uint32_t event)
{
	return costs(j)->record(j->cost->dev, (int)stream, (int)(CS_EVENTS + event),
				&j->cost->slot->err);
}

/* Around an operation that takes time. */
static int carry_out_stamped(const struct job *j, const struct op *op)
{
	const uint32_t event = 1 + 2 * (CS_TILE_WORKS * op->tile + op->kind);

	if (!j->times || op->kind >= CS_TILE_WORKS)
		return carry_out(j, op);
	return cs_rc(stamp(j, op->stream, event) || carry_out(j, op) ||
		     stamp(j, op->stream, event + 1));
}

/* A stream comes to an operation before the operation can begin: those of one kind do their
 * work one after the other, in whatever streams. */
static int take_times(const struct job *j, uint32_t tiles)
{
	double last[CS_TILE_WORKS] = { 0 };
	float ms;

	for (uint32_t i = 0; i < CS_TILE_TIMES * tiles; i++) {
		const uint32_t kind = i / 2 % CS_TILE_WORKS;
		double *at = &j->times->ms[i / CS_TILE_TIMES][i % CS_TILE_TIMES];

		if (costs(j)->elapsed(j->cost->dev, CS_EVENTS, (int)(CS_EVENTS + 1 + i),
				      &ms, &j->cost->slot->err))
			return -1;
		*at = fmax(ms, last[kind]);
		if (i % 2) {
			at[-1] = fmin(at[-1], *at);
			last[kind] = *at;
		}
	}
	j->times->tiles = tiles;
	return 0;
}

/* *ms from its first call to its last end. */
static int run(const struct job *j, const struct schedule *s, double *ms)
{
	uint64_t from = cs_clock_ns();
	int rc = j->times ? stamp(j, 0, 0) : 0;

	for (uint32_t i = 0; i < s->n && !rc; i++)
		rc = carry_out_stamped(j, &s->op[i]);
	rc = drain(j, s->streams, rc);
	*ms = 1e-6 * (double)(cs_clock_ns() - from);
	if (!j->times || rc)
		return rc;
	j->times->began_s = 1e-9 * (double)from;
	return take_times(j, s->tiles);
}

/* ---- checked ---- */

static int check_gpu(const struct job *j, uint64_t key)
{
	struct cs_check found;

	if (j->cost->backend->check(j->cost->dev, base(j),
				    &CS_EXPECTED(key, j->cost->desc.bytes), 0, &found,
				    &j->cost->slot->err))
		return -1;
	cs_tiles_add_check(j->wrong, &found);
	return 0;
}

/* Neither in the GPU nor on the host lies what is to come there. */
static int poison(const struct job *j)
{
	if (j->whole)
		cs_poison_host_parallel(j->tiles->dst_at, j->cost->desc.bytes);
	return j->cost->backend->poison(j->cost->dev, j->cost->desc.dst,
					j->cost->desc.bytes, &j->cost->slot->err);
}

/* A check of samples leaves poison in these places, and all checks of a round use the
 * same places, the first one (after moves alone) with another key than before.  Each
 * part on managed tiles finds the result of the one before and changes it. */
static void check_host(const struct job *j, uint64_t key)
{
	const struct cs_some some = { j->cost->slot->seq, !j->tiles->managed };
	struct cs_check found;

	if (j->whole)
		cs_check_host_parallel(j->tiles->dst_at, j->cost->desc.bytes, key,
				       &found);
	else
		cs_check_host_some(j->tiles->dst_at, j->cost->desc.bytes, key, &some,
				   &found);
	cs_tiles_add_check(j->wrong, &found);
}

/* ---- managed tiles: the same pages there and back ---- */

static int bring(const struct job *j, const struct cs_um_place *to)
{
	return cs_tiles_bring(j->cost, j->tiles, to);
}

static int prove_on_host(const struct job *j)
{
	return cs_tiles_prove_host(j->cost, j->tiles);
}

/* Prove before the first round that prefetches move pages: during a round they cannot be
 * observed. */
static int prove_prefetch(const struct job *j)
{
	struct cs_check unused;

	return cs_rc(bring(j, &j->tiles->home) || prove_on_host(j) ||
		     bring(j, &j->tiles->gpu) ||
		     cs_tiles_prove_gpu(j->cost, j->tiles, j->tiles->key, &unused));
}

/* The GPU fills the tiles, which are on the GPU afterwards. */
static int fill(struct job *j)
{
	j->done = 0;
	return cs_rc(bring(j, &j->tiles->gpu) ||
		     j->cost->backend->fill(j->cost->dev, base(j), j->cost->desc.bytes,
					    j->tiles->key, &j->cost->slot->err) ||
		     (j->whole && prove_prefetch(j)));
}

/* ---- a round ---- */

static const struct part {
	enum cs_overlap value;
	void (*list)(struct schedule *s);
	int moves, kernels;
} moves_alone = { CS_OVERLAP_MOVES, list_rotated, 1, 0 },
  kernels_alone = { CS_OVERLAP_KERNELS, list_serial, 0, 1 },
  both[] = {
	  { CS_OVERLAP_SERIAL, list_serial, 1, 1 },
	  { CS_OVERLAP_STREAMS, list_streams, 1, 1 },
	  { CS_OVERLAP_TILES, list_tiles, 1, 1 },
	  { CS_OVERLAP_ROTATED, list_rotated, 1, 1 },
  };

/* Did the part move the tiles, and is their content right? */
static int check_part(const struct job *j, const struct part *part, uint64_t key)
{
	if (j->tiles->managed && part->moves && prove_on_host(j))
		return -1;
	if (!j->checks)
		return 0;
	if (part->moves)
		check_host(j, key);
	return part->moves && j->tiles->managed ? 0 : check_gpu(j, key);
}

static int measure(struct job *j, const struct part *part)
{
	struct schedule s = { .tiles = tiles_of(j),
			      .streams = STREAMS,
			      .moves = part->moves,
			      .kernels = part->kernels };
	uint32_t after = j->done + (s.kernels ? j->tiles->kernels : 0);

	part->list(&s);
	j->times = j->cost->slot->flags & CS_CMD_COUNT && s.moves && s.kernels ?
			 &j->cost->slot->tile_times[part->value] :
			 NULL;
	if ((!j->tiles->managed && j->checks && s.moves && poison(j)) ||
	    run(j, &s, &j->cost->slot->value[part->value]))
		return -1;
	if (j->tiles->managed)
		j->done = after;
	return check_part(j, part, key_of(j, after));
}

/* Kernels work on managed tiles first, where these are filled; then the tiles go home,
 * where each later part finds and leaves them. */
static int measure_alone(struct job *j)
{
	if (!j->tiles->managed)
		return measure(j, &moves_alone) || measure(j, &kernels_alone) ? -1 : 0;
	return cs_rc(fill(j) || measure(j, &kernels_alone) ||
		     bring(j, &j->tiles->home) || prove_on_host(j) ||
		     measure(j, &moves_alone));
}

int cs_overlap_probe(const struct cs_cost *cost, const struct cs_tiles *tiles,
		     int whole, struct cs_check *wrong)
{
	struct job job = { .cost = cost,
			   .tiles = tiles,
			   .checks = !(cost->slot->flags & CS_CMD_UNCHECKED),
			   .whole = whole,
			   .wrong = wrong };
	double *ms = cost->slot->value;

	if (tiles_of(&job) > CS_TILES_MOST) {
		cost->slot->refused = 1;
		return cs_err_set(&cost->slot->err,
				  "--size has more than %u tiles (--set tiles)",
				  CS_TILES_MOST);
	}
	cs_lane_armed(cost->board, cost->slot);
	cs_gate_await(cost->board, cost->slot->seq);
	if (measure_alone(&job))
		return -1;
	for (uint32_t i = 0; i < sizeof(both) / sizeof(both[0]); i++)
		if (measure(&job, &both[i]))
			return -1;
	ms[CS_OVERLAP_IDEAL] = fmax(ms[CS_OVERLAP_KERNELS], ms[CS_OVERLAP_MOVES]);
	cost->slot->n_values = CS_OVERLAPS;
	return 0;
}
