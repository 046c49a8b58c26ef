/* ends_device.c - memory of a GPU that MPI gets as it is.  Its agent fills, poisons and
 * checks it; this thread uses the agent's context, and so may MPI. */
#include "job/ends.h"

#include <unistd.h>

static int open_of(struct cs_ends *e, struct cs_coordinator *co,
		   enum cs_net_memory memory)
{
	const struct cs_slot *slot = cs_board_slot(co->board, e->place);

	if (slot->pid != getpid())
		return cs_err_set(
			&e->err,
			"GPU %s is driven by another process than the one that calls MPI",
			slot->facts.label);
	if (cs_net_open(&e->net, co, e->place, memory, e->bytes, e->key, -1, &e->err))
		return -1;
	e->src = (char *)(uintptr_t)slot->net_address[memory];
	e->dst = e->src + e->bytes;
	return 0;
}

static int open_plain(struct cs_ends *e, struct cs_coordinator *co)
{
	return open_of(e, co, CS_NET_PLAIN);
}

static int open_rdma(struct cs_ends *e, struct cs_coordinator *co)
{
	return open_of(e, co, CS_NET_RDMA);
}

/* No way goes through rings; the order makes this memory the one that is checked. */
static int prepare_device(struct cs_ends *e, unsigned ways, int poison)
{
	struct cs_dev *dev = (struct cs_dev *)(uintptr_t)cs_net_slot(&e->net)->net_dev;

	(void)ways;
	return cs_rc(cs_backend_cuda->enter(dev, &e->err) ||
		     cs_net_arm(&e->net, 0, poison, &e->err));
}

/* MPI may call the driver in any of its calls. */
static int send_device(struct cs_ends *e)
{
	int rc;

	cs_call_begin("MPI_Isend of GPU memory");
	rc = cs_ends_send(e);
	cs_call_end();
	return rc;
}

static int receive_device(struct cs_ends *e)
{
	int rc;

	cs_call_begin("MPI_Irecv of GPU memory");
	rc = cs_ends_receive(e);
	cs_call_end();
	return rc;
}

static int test_device(struct cs_ends *e)
{
	int rc = cs_ends_answered(e);

	if (rc <= 0)
		return rc;
	cs_call_begin("MPI_Test of GPU memory");
	rc = e->mover->test();
	cs_call_end();
	return rc;
}

static int abandon_device(struct cs_ends *e)
{
	e->checking = 0;
	return e->mover->abandon();
}

#define DEVICE_ENDS(open_)                                                           \
	{                                                                            \
		.via = CS_VIA_MPI, .open = (open_), .prepare = prepare_device,       \
		.send = send_device, .receive = receive_device, .test = test_device, \
		.check = cs_ends_check, .abandon = abandon_device,                   \
		.close = cs_ends_close,                                              \
	}

const struct cs_ends_kind cs_ends_device = DEVICE_ENDS(open_plain);
const struct cs_ends_kind cs_ends_rdma = DEVICE_ENDS(open_rdma);
