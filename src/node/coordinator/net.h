/* net.h - a GPU of a node in messages to other nodes: orders to its agent, for
 * whose answers only open and close wait.
 *
 * For the main thread, which calls MPI, while no step runs.  An agent that does not answer
 * before its time slot is over takes no part in later ones, until it does. */
#pragma once

#include "node/coordinator/agents.h"

struct cs_net {
	struct cs_coordinator *co;
	struct cs_agents agents; /* one */
	struct cs_net_order order;
};

struct cs_slot *cs_net_slot(const struct cs_net *net);
/* Allocate windows of so many bytes on the agent's GPU, and have the rings mapped, if fd is
 * not -1. */
int cs_net_open(struct cs_net *net, struct cs_coordinator *co, int agent,
		enum cs_net_memory memory, uint64_t bytes, uint64_t key, int fd,
		struct cs_err *err);
/* Free all of both kinds.  An agent that does not answer is broken from then on. */
void cs_net_close(struct cs_net *net);

/* -1: it has not answered an earlier order, or cannot be used.  So do orders end. */
int cs_net_ready(const struct cs_net *net, struct cs_err *err);
int cs_net_arm(struct cs_net *net, unsigned ways, int poison, struct cs_err *err);
/* Compare what came with the other node's pattern, into cs_net_slot()->check[0]. */
int cs_net_check(struct cs_net *net, uint64_t key, struct cs_err *err);
/* 1: it has answered, or armed; 0: not yet; -1: it failed. */
int cs_net_answered(struct cs_net *net, struct cs_err *err);
int cs_net_armed(struct cs_net *net, struct cs_err *err);
/* Let what is armed begin; end what waits for chunks. */
void cs_net_start(struct cs_net *net);
void cs_net_give_up(struct cs_net *net);
