/* queue.h - streams, events and what is in their queues: for queue.c, which runs it,
 * and stream.c, which fills them. */
#ifndef CS_FAKE_QUEUE_H
#define CS_FAKE_QUEUE_H

#include <pthread.h>

#include "fake.h"

#pragma GCC visibility push(hidden)

struct fake_event {
	struct fake_ctx *ctx;
	int timed, destroyed;
	uint64_t recorded, completed; /* how often */
	uint64_t ps;		      /* at the last completion */
};

struct fake_op {
	struct fake_op *next;
	enum { OP_WAIT, OP_WRITE, OP_RECORD, OP_COPY, OP_KERNEL, OP_PREFETCH } kind;
	int fault;
	int again;     /* the next writes the same once more: only its time counts */
	unsigned more; /* entries than the one it takes */
	uint64_t ticket; /* order of enqueueing, all streams */
	uint64_t not_before_ps; /* its thread had seen the end of other work when it enqueued this */
	/* wait */
	struct fake_op *next_wait; /* on the same connection */
	const uint32_t *word;
	struct fake_gate gate; /* of others: the last that they were put behind */
	unsigned condition;    /* CU_STREAM_WAIT_VALUE_… */
	uint64_t limit_ns;
	uint64_t expired; /* address to set to 1 then */
	/* copy, write */
	uint64_t dst, src, bytes;
	uint64_t takes;	       /* as long as so many bytes in one piece; 0: these */
	struct fake_rows rows; /* width 0: one piece */
	uint32_t value;
	struct fake_flow flow;
	/* kernel: both at the same time */
	uint64_t back_bytes;
	struct fake_flow back;
	/* … and the managed memory of these is elsewhere: what will come; src == dst not */
	struct fake_flow come;
	/* record */
	struct fake_event *event;
	/* kernel */
	const struct fake_kernel *kernel;
	unsigned grid;
	unsigned char args[FAKE_ARGS] __attribute__((aligned(16)));
};

struct fake_stream {
	struct fake_stream *next; /* of the context */
	struct fake_ctx *ctx;
	unsigned connection;
	uint64_t tag; /* of this stream on this node */
	struct fake_op *first, **last;
	unsigned depth;
	unsigned held; /* who waits for a place in it */
	int closing;
	pthread_cond_t work;	/* the queue is not empty, or closing */
	uint64_t ps;		/* virtual time of what has run, … */
	uint64_t seen_ps;	/* … up to where the CPU has waited for it */
	unsigned waits;		/* in the queue */
	struct fake_gate gate;	/* of the last wait enqueued */
	struct fake_flow added; /* last flow put behind that gate */
	struct fake_flow timed; /* flow of the last copy run … */
	double rate;		/* … and its rate; 0 unknown */
};

/* Guards all queues, streams and events; whoever waits for another's progress waits for
 * the second. */
extern pthread_mutex_t fake_queue_lock;
extern pthread_cond_t fake_queue_changed;

/* Takes a filled operation on the stack to the queue; blocks while it is full. */
CUresult fake_enqueue(struct fake_stream *s, const struct fake_op *filled);
/* The stream behind a handle, if it is of the current context. */
struct fake_stream *fake_stream_of(CUstream handle);
/* Blocks until it is empty; the error of its context. */
CUresult fake_stream_wait(struct fake_stream *s);
/* With the lock, for a moment: who asks again and again takes the processor from the
 * stream that it waits for.  Not at a gate. */
void fake_event_await(const struct fake_event *event);
/* With the lock: it goes with its handle or its last record, whichever is later. */
void fake_event_release(struct fake_event *event);

#pragma GCC visibility pop
#endif
