// SPDX-License-Identifier: GPL-2.0-only OR MIT OR Apache-2.0
/*
 * The laws as congestion controls of Linux (struct_ops, kernel 6.4 or newer; tried on 6.12 to 7.3): thin hooks around
 * the arithmetic of the headers, which are tested without a kernel. A law gets its name, its state in the socket and its
 * parameters below.
 *
 * Differs from the simulator: the kernel's slow start hands on what it does not use, recovery is the kernel's (PRR),
 * and undo after a spurious loss is Reno's.
 */
#include "kernel.h"

#include <bpf/bpf_core_read.h>
#include <bpf/bpf_helpers.h>
#include <bpf/bpf_tracing.h>

#include "defaults.h"

extern __u32 tcp_slow_start(struct tcp_sock *tp, __u32 acked) __ksym;
extern __u32 tcp_reno_undo_cwnd(struct sock *sk) __ksym;

enum tcp_ca_event { CA_EVENT_LOSS = 3 };

char el_license[] SEC("license") = "GPL";

/* Parameters: whoever loads may write others before. */
const volatile struct el_params el_params SEC(".rodata.params") = EL_DEFAULTS;

/* What the sockets of a law have done, since it was loaded. */
struct el_counters {
	u64 connections;
	u64 losses;
	u64 timeouts;
	u64 tests; /* gHSTCP: of round-trip times */
	u64 rising; /* of these, with the verdict that they rise */
	u64 strays; /* thresholds that were not theirs */
};

struct el_counters el_counters[EL_LAWS] SEC(".data.counters");

#define EL_COUNT(law, what) __sync_fetch_and_add(&el_counters[law].what, 1)

static __always_inline struct tcp_sock *el_tcp(struct sock *sk)
{
	return (struct tcp_sock *)sk;
}

static __always_inline void *el_state(struct sock *sk)
{
	return ((struct inet_connection_sock *)sk)->icsk_ca_priv;
}

/* A law has let the window be so high. */
static __always_inline void el_let(const struct tcp_sock *tp, u32 *highest)
{
	if (tp->snd_cwnd > *highest)
		*highest = tp->snd_cwnd;
}

/* Whether the threshold is one that no law gave: beyond twice the highest window. A kernel that passes over a program
 * takes for it what lies on the stack. The highest window takes its place. */
static __always_inline int el_strayed(struct tcp_sock *tp, const u32 *highest)
{
	if (tp->snd_ssthresh == EL_INFINITE || tp->snd_ssthresh >> 1 <= *highest)
		return 0;
	tp->snd_ssthresh = *highest;
	return 1;
}

/* Bytes on the wire of a full segment. */
static __always_inline u32 el_segment(struct sock *sk)
{
	const struct tcp_sock *tp = el_tcp(sk);

	return tp->mss_cache + tp->tcp_header_len + (sk->__sk_common.skc_family == EL_AF_INET6 ? 40 : 20);
}

static __always_inline struct el_signal el_heard(struct sock *sk, u32 acked, s32 rtt)
{
	const struct tcp_sock *tp = el_tcp(sk);
	struct el_signal signal = {
		.now = tp->tcp_mstamp,
		.delivered = tp->delivered,
		.acked = acked,
		.rtt = rtt > 0 ? rtt : 0,
		.srtt = tp->srtt_us >> 3,
		.min_rtt = tp->rtt_min.s[0].v,
		.segment = el_segment(sk),
	};

	return signal;
}

/* Whether the window is what holds the sender back; in slow start half of it must have been used. */
static __always_inline int el_is_limited(struct sock *sk)
{
	struct tcp_sock *tp = el_tcp(sk);

	if (tp->snd_cwnd < tp->snd_ssthresh)
		return tp->snd_cwnd < 2 * tp->max_packets_out;
	return BPF_CORE_READ_BITFIELD(tp, is_cwnd_limited);
}

static __always_inline int el_is_avoiding(struct sock *sk)
{
	struct tcp_sock *tp = el_tcp(sk);

	return tp->snd_cwnd >= tp->snd_ssthresh && el_is_limited(sk);
}

static __always_inline void el_set_cwnd(struct tcp_sock *tp, u32 cwnd)
{
	tp->snd_cwnd = cwnd < tp->snd_cwnd_clamp ? cwnd : tp->snd_cwnd_clamp;
}

/* The hooks that all laws have. A state is zero at first; behind it is the highest window so far. */
#define EL_HOOKS(number, law)										\
	struct el_##law##_socket {									\
		struct el_##law state;									\
		u32 highest;										\
	};												\
													\
	_Static_assert(sizeof(struct el_##law##_socket) <=						\
			       sizeof(((struct inet_connection_sock *)0)->icsk_ca_priv),		\
		       "the state fits into the socket");						\
													\
	static __always_inline u32 *el_##law##_highest(struct sock *sk)					\
	{												\
		return &((struct el_##law##_socket *)el_state(sk))->highest;				\
	}												\
													\
	static __always_inline const struct el_##law##_params *el_##law##_of(void)			\
	{												\
		return &el_loaded(&el_params)->law;							\
	}												\
													\
	SEC("struct_ops")										\
	void BPF_PROG(el_##law##_init, struct sock *sk)							\
	{												\
		struct el_##law *state = el_state(sk);							\
		u32 *highest = el_##law##_highest(sk);							\
		struct tcp_sock *tp = el_tcp(sk);							\
													\
		__builtin_memset(state, 0, sizeof(*state));						\
		/* The kernel may remember a threshold of an earlier connection. */			\
		*highest = tp->snd_ssthresh == EL_INFINITE ? 0 : tp->snd_ssthresh;			\
		el_let(tp, highest);									\
		EL_COUNT(number, connections);								\
	}												\
													\
	SEC("struct_ops")										\
	void BPF_PROG(el_##law##_cong_avoid, struct sock *sk, __u32 ack, __u32 acked)			\
	{												\
		struct tcp_sock *tp = el_tcp(sk);							\
		u32 *highest = el_##law##_highest(sk);							\
		struct el_signal heard;									\
													\
		if (el_strayed(tp, highest))								\
			EL_COUNT(number, strays);							\
		if (!el_is_limited(sk))									\
			return;										\
		if (tp->snd_cwnd < tp->snd_ssthresh) {							\
			acked = tcp_slow_start(tp, acked);						\
			el_let(tp, highest);								\
			if (!acked)									\
				return;									\
		}											\
		heard = el_heard(sk, acked, 0);								\
		el_set_cwnd(tp, el_##law##_avoid(el_##law##_of(), el_state(sk), tp->snd_cwnd, &heard));	\
		el_let(tp, highest);									\
	}												\
													\
	SEC("struct_ops")										\
	__u32 BPF_PROG(el_##law##_ssthresh, struct sock *sk)						\
	{												\
		struct el_signal heard = el_heard(sk, 0, 0);						\
													\
		if (el_strayed(el_tcp(sk), el_##law##_highest(sk)))					\
			EL_COUNT(number, strays);							\
		EL_COUNT(number, losses);								\
		return el_##law##_backoff(el_##law##_of(), el_state(sk), el_tcp(sk)->snd_cwnd, &heard);	\
	}												\
													\
	/* A timeout asks for the threshold as any loss, and says afterwards what it was. */		\
	SEC("struct_ops")										\
	void BPF_PROG(el_##law##_cwnd_event, struct sock *sk, int event)				\
	{												\
		struct tcp_sock *tp = el_tcp(sk);							\
		struct el_signal heard;									\
													\
		if (event != bpf_core_enum_value(enum tcp_ca_event, CA_EVENT_LOSS))			\
			return;										\
		heard = el_heard(sk, 0, 0);								\
		EL_COUNT(number, timeouts);								\
		tp->snd_ssthresh = el_##law##_timeout(el_##law##_of(), el_state(sk), tp->snd_cwnd, &heard); \
	}												\
													\
	SEC("struct_ops")										\
	__u32 BPF_PROG(el_##law##_undo_cwnd, struct sock *sk)						\
	{												\
		return tcp_reno_undo_cwnd(sk);								\
	}

#define EL_OPS(law, called, ...)					\
	SEC(".struct_ops.link")						\
	struct tcp_congestion_ops law = {				\
		.flags = EL_NON_RESTRICTED,				\
		.init = (void *)el_##law##_init,			\
		.ssthresh = (void *)el_##law##_ssthresh,		\
		.cong_avoid = (void *)el_##law##_cong_avoid,		\
		.cwnd_event = (void *)el_##law##_cwnd_event,		\
		.undo_cwnd = (void *)el_##law##_undo_cwnd,		\
		.name = called, ##__VA_ARGS__				\
	}

EL_HOOKS(EL_HIGHSPEED, highspeed)
EL_OPS(highspeed, "el_highspeed");

EL_HOOKS(EL_NR_HSTCP, nr_hstcp)
EL_OPS(nr_hstcp, "el_nrhstcp");

EL_HOOKS(EL_SCALABLE, scalable)
EL_OPS(scalable, "el_scalable");

EL_HOOKS(EL_GHSTCP, ghstcp)

/* The newest segment that an ACK is for left a round-trip time before it came. */
SEC("struct_ops")
void BPF_PROG(el_ghstcp_pkts_acked, struct sock *sk, const struct ack_sample *sample)
{
	struct el_ghstcp *state = el_state(sk);
	struct el_signal heard;
	u32 tested;

	/* With a threshold that is none of its own this takes no sample; the ACK's next hook mends it. */
	if (sample->rtt_us <= 0 || !el_is_avoiding(sk) ||
	    BPF_CORE_READ_BITFIELD((struct inet_connection_sock *)sk, icsk_ca_state) != EL_CA_OPEN)
		return;
	heard = el_heard(sk, 0, sample->rtt_us);
	tested = el_ghstcp_sample(el_ghstcp_of(), state, el_tcp(sk)->snd_cwnd, &heard);
	if (!tested)
		return;
	EL_COUNT(EL_GHSTCP, tests);
	if (state->reno)
		EL_COUNT(EL_GHSTCP, rising);
}

EL_OPS(ghstcp, "el_ghstcp", .pkts_acked = (void *)el_ghstcp_pkts_acked);

EL_HOOKS(EL_HTCP, htcp)

SEC("struct_ops")
void BPF_PROG(el_htcp_pkts_acked, struct sock *sk, const struct ack_sample *sample)
{
	struct el_signal heard = el_heard(sk, 0, sample->rtt_us);

	el_htcp_sample(el_htcp_of(), el_state(sk), el_tcp(sk)->snd_cwnd, &heard);
}

EL_OPS(htcp, "el_htcp", .pkts_acked = (void *)el_htcp_pkts_acked);
