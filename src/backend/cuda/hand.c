/* hand.c - gives a descriptor to other processes of the same user.
 *
 * By SCM_RIGHTS over an abstract Unix socket, whose name the kernel chooses and takes
 * back with the socket: nothing stays. Not by /proc/PID/fd: what the driver exports
 * cannot be opened a second time. Not by pidfd_getfd: that needs the right to trace
 * the other process, which Yama and the system call filters of containers refuse, and
 * Linux 5.6.
 *
 * A thread of the owner answers, so that no agent waits for another. */
#include "backend/cuda/dev.h"

#include <errno.h>
#include <pthread.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/un.h>
#include <unistd.h>

#define WAITING 128	/* connections: more than there are agents */
#define PATIENCE_S 2	/* for a process that is stopped */

struct cs_hand {
	int fd, socket;
	pthread_t thread;
};

/* A message of one byte with room for one descriptor. */
struct letter {
	struct msghdr head;
	struct iovec iov;
	char byte;
	_Alignas(struct cmsghdr) char control[CMSG_SPACE(sizeof(int))];
};

static struct msghdr *letter_init(struct letter *l)
{
	memset(l, 0, sizeof(*l));
	l->iov = (struct iovec){ &l->byte, 1 };
	l->head.msg_iov = &l->iov;
	l->head.msg_iovlen = 1;
	l->head.msg_control = l->control;
	l->head.msg_controllen = sizeof(l->control);
	return &l->head;
}

/* The credentials of the other end. */
static int peer_of(int socket, struct ucred *who)
{
	socklen_t size = sizeof(*who);

	return getsockopt(socket, SOL_SOCKET, SO_PEERCRED, who, &size);
}

static void give(const struct cs_hand *hand, int to)
{
	struct letter l;
	struct msghdr *head = letter_init(&l);
	struct cmsghdr *c = CMSG_FIRSTHDR(head);
	struct ucred who;

	if (peer_of(to, &who) || who.uid != geteuid())
		return;
	c->cmsg_level = SOL_SOCKET;
	c->cmsg_type = SCM_RIGHTS;
	c->cmsg_len = CMSG_LEN(sizeof(int));
	memcpy(CMSG_DATA(c), &hand->fd, sizeof(int));
	sendmsg(to, head, MSG_NOSIGNAL);
}

static void *serve(void *arg)
{
	const struct cs_hand *hand = arg;
	int to;

	/* shutdown() of the socket ends it */
	while ((to = accept(hand->socket, NULL, NULL)) >= 0 || errno == EINTR ||
	       errno == ECONNABORTED) {
		if (to < 0)
			continue;
		give(hand, to);
		close(to);
	}
	return NULL;
}

static int listen_somewhere(char name[8], struct cs_err *err)
{
	struct sockaddr_un at = { .sun_family = AF_UNIX };
	socklen_t length = sizeof(at.sun_family); /* no name: it finds one */
	int s = socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0);

	if (s < 0 || bind(s, (struct sockaddr *)&at, length) || listen(s, WAITING))
		goto fail;
	length = sizeof(at);
	if (getsockname(s, (struct sockaddr *)&at, &length))
		goto fail;
	/* a null byte, then five digits */
	cs_text(name, 8, "%.*s",
		(int)(length - offsetof(struct sockaddr_un, sun_path)) - 1,
		at.sun_path + 1);
	return s;
fail:
	cs_err_set(err,
		   "cannot make a socket to hand over a descriptor: %s (errno %d)",
		   strerror(errno), errno);
	if (s >= 0)
		close(s);
	return -1;
}

struct cs_hand *cs_hand_open(int fd, char name[8], struct cs_err *err)
{
	struct cs_hand *hand = calloc(1, sizeof(*hand));
	int rc;

	if (!hand) {
		cs_err_set(err, "no memory");
		goto fail;
	}
	hand->fd = fd;
	hand->socket = listen_somewhere(name, err);
	if (hand->socket < 0)
		goto fail;
	rc = pthread_create(&hand->thread, NULL, serve, hand);
	if (!rc)
		return hand;
	cs_err_set(err, "cannot start a thread: %s", strerror(rc));
	close(hand->socket);
fail:
	free(hand);
	close(fd);
	return NULL;
}

void cs_hand_close(struct cs_hand *hand)
{
	if (!hand)
		return;
	shutdown(hand->socket, SHUT_RDWR);
	pthread_join(hand->thread, NULL);
	close(hand->socket);
	close(hand->fd);
	free(hand);
}

/* The descriptor out of a message; -1 none came. */
static int receive(int from)
{
	struct letter l;
	struct msghdr *head = letter_init(&l);
	const struct cmsghdr *c;
	int fd;

	if (recvmsg(from, head, MSG_CMSG_CLOEXEC) != 1)
		return -1;
	c = CMSG_FIRSTHDR(head);
	if (!c || c->cmsg_type != SCM_RIGHTS || c->cmsg_len < CMSG_LEN(sizeof(fd)))
		return -1;
	memcpy(&fd, CMSG_DATA(c), sizeof(fd));
	return fd;
}

int cs_hand_take(const struct cs_export *peer, struct cs_err *err)
{
	struct sockaddr_un at = { .sun_family = AF_UNIX };
	size_t length = strnlen(peer->socket, sizeof(peer->socket));
	struct timeval patience = { .tv_sec = PATIENCE_S };
	int s = socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0), fd = -1;
	struct ucred who;

	memcpy(at.sun_path + 1, peer->socket, length);
	length += offsetof(struct sockaddr_un, sun_path) + 1;
	errno = 0;
	if (s >= 0 &&
	    !setsockopt(s, SOL_SOCKET, SO_RCVTIMEO, &patience, sizeof(patience)) &&
	    !setsockopt(s, SOL_SOCKET, SO_SNDTIMEO, &patience, sizeof(patience)) &&
	    !connect(s, (struct sockaddr *)&at, (socklen_t)length) &&
	    !peer_of(s, &who) && who.uid == geteuid() && who.pid == peer->pid)
		fd = receive(s);
	if (fd < 0)
		cs_err_set(err,
			   "process %lld does not hand over its descriptor: %s (errno %d)",
			   (long long)peer->pid,
			   errno ? strerror(errno) : "none came", errno);
	if (s >= 0)
		close(s);
	return fd;
}
