#include "node/coordinator/net.h"

#include <unistd.h>

#define DOING "exchanging messages with other nodes"

struct cs_slot *cs_net_slot(const struct cs_net *net)
{
	return cs_board_slot(net->co->board, net->agents.agent[0]);
}

int cs_net_ready(const struct cs_net *net, struct cs_err *err)
{
	const int agent = net->agents.agent[0];
	const struct cs_slot *slot = cs_net_slot(net);
	char call[CS_CALL_NAME + 8];

	if (net->co->state[agent] != CS_AGENT_OK)
		return cs_err_set(err, "%s", net->co->fault[agent]);
	if (!cs_agent_is_idle(net->co, agent))
		return cs_err_set(err, "%s %s does not answer%s",
				  cs_agent_noun(net->co), slot->facts.label,
				  cs_call_text(slot->call, call));
	return 0;
}

static int order(struct cs_net *net, enum cs_net_what what, struct cs_err *err)
{
	if (cs_net_ready(net, err))
		return -1;
	net->order.what = what;
	cs_net_slot(net)->net = net->order;
	net->co->seq++;
	cs_agents_command(net->co, &net->agents, CS_CMD_NET, 0);
	return 0;
}

/* Wait for the answer as for that of any other command. */
static int await(struct cs_net *net, double limit_s, struct cs_err *err)
{
	if (cs_agents_wait(net->co, &net->agents, cs_agents_answered, limit_s) &&
	    !net->co->stopped)
		cs_agents_blame(net->co, &net->agents, DOING, limit_s);
	return cs_agents_take(net->co, &net->agents, err);
}

int cs_net_open(struct cs_net *net, struct cs_coordinator *co, int agent,
		enum cs_net_memory memory, uint64_t bytes, uint64_t key, int fd,
		struct cs_err *err)
{
	*net = (struct cs_net){ .co = co,
				.agents = { 1, { agent }, { 0 } },
				.order = { .memory = memory,
					   .bytes = bytes,
					   .key = key,
					   .pid = getpid(),
					   .fd = fd } };
	return order(net, CS_NET_OPEN, err) ? -1 : await(net, CS_PREPARE_LIMIT_S, err);
}

void cs_net_close(struct cs_net *net)
{
	struct cs_err err;

	if (!net->co || net->co->state[net->agents.agent[0]] != CS_AGENT_OK)
		return;
	if (!cs_agent_is_idle(net->co, net->agents.agent[0]) &&
	    await(net, CS_SAMPLE_LIMIT_S, &err))
		return;
	if (!order(net, CS_NET_CLOSE, &err))
		await(net, CS_PREPARE_LIMIT_S, &err);
}

int cs_net_arm(struct cs_net *net, unsigned ways, int poison, struct cs_err *err)
{
	net->order.ways = ways;
	net->order.poison = poison != 0;
	return order(net, CS_NET_ARM, err);
}

int cs_net_check(struct cs_net *net, uint64_t key, struct cs_err *err)
{
	net->order.key = key;
	if (cs_net_ready(net, err))
		return -1;
	cs_net_slot(net)->check[0] = (struct cs_check){ .first_word = UINT64_MAX };
	return order(net, CS_NET_CHECK, err);
}

int cs_net_answered(struct cs_net *net, struct cs_err *err)
{
	cs_agents_watch(net->co);
	if (!cs_agents_is(net->co, &net->agents, cs_agents_answered))
		return 0;
	return cs_agents_take(net->co, &net->agents, err) ? -1 : 1;
}

int cs_net_armed(struct cs_net *net, struct cs_err *err)
{
	cs_agents_watch(net->co);
	if (cs_agents_is(net->co, &net->agents, cs_agents_answered))
		return cs_net_answered(net, err);
	return cs_agents_is(net->co, &net->agents, cs_agents_armed);
}

void cs_net_start(struct cs_net *net)
{
	cs_gate_open(net->co->board, net->co->seq);
}

void cs_net_give_up(struct cs_net *net)
{
	cs_gate_void(net->co->board, net->co->seq);
	cs_net_release(net->co->board, net->agents.agent[0], net->co->seq);
}
