#include "node/agent/copy.h"

#include "base/triad.h"
#include "node/board/stage.h"

int cs_copy_is_mine(const struct cs_endpoints *e, const struct cs_transfer *t)
{
	return t->issuer == e->me ||
	       (cs_transfer_far(t) >= 0 && t->dst.index == e->me &&
		cs_stage_is(e->board, t));
}

/* An issuer's copy: by the way that there is to the other end. */
static uint32_t copy_kind(const struct cs_endpoints *e, const struct cs_transfer *t)
{
	int far = cs_transfer_far(t);

	if (far < 0)
		return cs_transfer_is_by_cpu(t) ? CS_COPY_PAGEABLE : CS_COPY_ENGINE;
	if (t->issuer != e->me)
		return CS_COPY_IN;
	if (e->map[far].via == CS_VIA_STAGED)
		return CS_COPY_OUT;
	return e->map[far].via == CS_VIA_DRIVER || t->method == CS_METHOD_PEERCOPY ?
		       CS_COPY_PEER :
		       CS_COPY_ENGINE;
}

uint32_t cs_copy_kind(const struct cs_endpoints *e, const struct cs_transfer *t)
{
	int local = cs_transfer_far(t) < 0 && !cs_endpoint_is_numa(&t->src) &&
		    !cs_endpoint_is_numa(&t->dst);

	switch (t->method) {
	case CS_METHOD_SM:
		return t->op == CS_OP_TRIAD	     ? CS_COPY_TRIAD :
		       local && t->op == CS_OP_READ  ? CS_COPY_SM_READ :
		       local && t->op == CS_OP_WRITE ? CS_COPY_SM_WRITE :
						       CS_COPY_SM;
	case CS_METHOD_TMA:
		return CS_COPY_TMA;
	case CS_METHOD_ZEROCOPY:
		return t->op == CS_OP_READ ? CS_COPY_ZERO_READ : CS_COPY_ZERO_WRITE;
	case CS_METHOD_FMA:
		return CS_COPY_FMA;
	case CS_METHOD_L2:
		return CS_COPY_L2;
	case CS_METHOD_SHARED:
		return CS_COPY_SHARED;
	case CS_METHOD_MATMUL:
		return CS_COPY_MATMUL;
	case CS_METHOD_STREAM:
		return CS_COPY_CONSUME;
	case CS_METHOD_STREAMW:
		return CS_COPY_PRODUCE;
	case CS_METHOD_COPY2D:
		return CS_COPY_2D;
	case CS_METHOD_COPY3D:
		return CS_COPY_3D;
	case CS_METHOD_PACK:
		return t->issuer == e->me ? CS_COPY_PACK : CS_COPY_UNPACK;
	case CS_METHOD_SM3D:
	case CS_METHOD_CHUNK:
	case CS_METHOD_STRIDE:
		return CS_COPY_BOX;
	case CS_METHOD_CHASE:
		return t->op == CS_OP_BULK ? CS_COPY_CHASE_TMA : CS_COPY_CHASE;
	default:
		return copy_kind(e, t);
	}
}

static struct cs_copy_offsets places_of(const struct cs_endpoints *e,
					const struct cs_transfer *t, uint32_t copies,
					int uncounted)
{
	const struct cs_memory_kind *dst = cs_memory_of(t, 1);

	return cs_copy_offsets_of(e->plan, &e->slot->step, t,
				  dst->room ? dst->room(e, t) : 0, copies, uncounted);
}

/* The key of the pattern at the destination afterwards: a kernel may write over the copy. */
static uint64_t key_left(const struct cs_endpoints *e, const struct cs_transfer *t)
{
	const uint64_t key = cs_memory_of(t, 0)->key(e, t);

	return t->method == CS_METHOD_STREAMW && t->op == CS_OP_COPY ?
		       cs_fill_key(key, 1) :
		       key;
}

uint64_t cs_copy_chain_seed(const struct cs_endpoints *e, const struct cs_transfer *t)
{
	return t->op == CS_OP_RANDOM || t->op == CS_OP_WARM ? e->plan->set.seed | 1 :
							      0;
}

/* Add the shape, and the address of packed bytes: at the beginning of the destinations
 * for packing, after the grid for unpacking. */
static void add_shape(const struct cs_endpoints *e, const struct cs_transfer *t,
		      struct cs_copy *f)
{
	uint64_t packed = cs_transfer_packed_at(t);

	f->box = cs_transfer_box(t);
	f->src += f->box.src_at;
	f->dst += f->box.dst_at;
	if (t->method != CS_METHOD_PACK)
		return;
	if (t->issuer != e->me) {
		f->packed = cs_memory_of(t, 1)->address(e, t, 1, packed);
		return;
	}
	f->dst = cs_memory_of(t, 1)->address(e, t, 1, packed);
	f->packed = e->slot->arena.address + e->slot->layout.dst_at;
}

/* A copy between two different ends. */
static struct cs_copy between(const struct cs_endpoints *e,
			      const struct cs_transfer *t, uint32_t copies,
			      int uncounted)
{
	const struct cs_copy_offsets places = places_of(e, t, copies, uncounted);
	struct cs_copy f = {
		.kind = cs_copy_kind(e, t),
		.bytes = t->bytes,
		.copies = copies,
		.positions =
			cs_method_is_kernel(t->method) ?
				(uint32_t)(cs_transfer_span(e->plan, t) / t->bytes) :
				places.n,
		.stride = places.stride,
		.key = t->method == CS_METHOD_CHASE ? cs_copy_chain_seed(e, t) :
		       t->method == CS_METHOD_FMA   ? (uint64_t)t->op - CS_OP_FP64 :
						      cs_memory_of(t, 0)->key(e, t),
	};

	if (cs_method_is_stream(t->method)) {
		f.element = cs_variant_element(&t->variant);
		f.move = t->op == CS_OP_COPY ? CS_MOVE_COPY : CS_MOVE_NOT;
	}
	f.zero.blocks = t->variant.blocks;
	f.zero.threads = t->variant.block_threads;
	f.zero.access = t->variant.access;
	if (f.kind == CS_COPY_MATMUL)
		f.element = cs_op_block(t->op);
	if (f.kind == CS_COPY_PRODUCE)
		f.key = key_left(e, t);
	if (f.kind == CS_COPY_OUT) /* the ring has one position */
		f.positions = 1;
	f.src = f.kind == CS_COPY_IN ? e->slot->arena.ring_address :
				       cs_memory_of(t, 0)->address(e, t, 0, 0);
	f.dst = f.kind == CS_COPY_OUT ?
			e->map[t->dst.index].address :
		t->method == CS_METHOD_CHASE ?
			0 :
			cs_memory_of(t, 1)->address(e, t, 1, places.at);
	if (f.kind == CS_COPY_IN)
		f.src += cs_stage_at(e->board, t);
	if (f.kind == CS_COPY_OUT)
		f.dst += cs_stage_at(e->board, t);
	if (cs_method_is_shaped(t->method))
		add_shape(e, t, &f);
	if (cs_stage_is(e->board, t))
		cs_stage_copy(e->board, t, e->slot->seq, &f);
	return f;
}

struct cs_copy cs_copy_of(const struct cs_endpoints *e, const struct cs_transfer *t,
			  uint32_t copies, int uncounted)
{
	const struct cs_memory_kind *memory = cs_memory_of(t, 1);

	return memory->copy ? memory->copy(e, t) : between(e, t, copies, uncounted);
}

/* The result of a triad: c follows b, each with the positions of all copies. */
static struct cs_expected triad_of(const struct cs_endpoints *e,
				   const struct cs_transfer *t,
				   const struct cs_expected *all)
{
	const uint64_t words = cs_triad_words(t->bytes);
	struct cs_expected left = CS_EXPECTED(all->key,
					      8 * words * (all->bytes / t->bytes));

	left.triad = words * (cs_transfer_span(e->plan, t) / t->bytes);
	return left;
}

/* Inside of its shape; around that nothing was written. */
static struct cs_expected shaped_of(const struct cs_transfer *t)
{
	const struct cs_extent box = cs_transfer_box(t);
	struct cs_expected left = CS_EXPECTED(0, box.span);

	left.inside = (struct cs_inside){ box.dst_at, box.width, box.pitch, box.rows,
					  box.dst_at - box.src_at };
	return left;
}

struct cs_left cs_copy_left(const struct cs_endpoints *e, uint32_t k)
{
	const struct cs_transfer *t = cs_endpoints_transfer(e, k);
	const struct cs_copy_offsets places = places_of(e, t, e->copies[k],
							e->uncounted);
	uint64_t span = cs_transfer_span(e->plan, t), bytes = t->bytes * e->copies[k];
	struct cs_left left = {
		{ key_left(e, t), t->bytes, places.stride, places.n, 0, 0, { 0 } },
		places.at,
		places.n > 1 || bytes <= span,
	};

	if (places.n == 1) /* all positions of a kernel */
		left.bytes = CS_EXPECTED(left.bytes.key,
					 bytes && bytes < span ? bytes : span);
	if (t->op == CS_OP_TRIAD)
		left.bytes = triad_of(e, t, &left.bytes);
	left.bytes.same = t->method == CS_METHOD_TEAM && t->op == CS_OP_WRITE;
	if (cs_method_is_shaped(t->method)) {
		left.bytes = shaped_of(t);
		left.bytes.key = key_left(e, t);
		left.whole = e->copies[k] <= 1;
	}
	return left;
}
