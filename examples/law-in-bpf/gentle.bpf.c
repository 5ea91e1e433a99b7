// SPDX-License-Identifier: GPL-2.0-only OR MIT OR Apache-2.0
/*
 * A congestion control of one's own for Linux: two segments more each round trip, a fifth less after a loss.
 *
 *   clang -g -O2 -target bpf -mcpu=v3 -c gentle.bpf.c -o gentle.bpf.o && llvm-strip -g gentle.bpf.o
 *
 * Only the fields that it uses are declared; they are found by name when the object is loaded (CO-RE).
 */
typedef unsigned char __u8;
typedef unsigned short __u16;
typedef unsigned int __u32;
typedef int __s32;
typedef unsigned long long __u64;
typedef long long __s64;
typedef __u16 __be16;
typedef __u32 __be32;
typedef __u32 __wsum;

/* What bpf_helpers.h wants to know of maps, of which this has none. */
enum bpf_map_type { BPF_MAP_TYPE_UNSPEC };

#include <bpf/bpf_helpers.h>
#include <bpf/bpf_tracing.h>

#define KERNEL __attribute__((preserve_access_index))

struct sock_common {
	__u16 skc_family;
} KERNEL;

struct sock {
	struct sock_common __sk_common;
} KERNEL;

struct tcp_sock {
	__u32 snd_cwnd;
	__u32 snd_cwnd_cnt;
	__u32 snd_ssthresh;
} KERNEL;

struct tcp_congestion_ops {
	__u32 (*ssthresh)(struct sock *sk);
	void (*cong_avoid)(struct sock *sk, __u32 ack, __u32 acked);
	__u32 (*undo_cwnd)(struct sock *sk);
	char name[16];
};

extern __u32 tcp_slow_start(struct tcp_sock *tp, __u32 acked) __ksym;
extern __u32 tcp_reno_undo_cwnd(struct sock *sk) __ksym;

char gentle_license[] SEC("license") = "GPL";

const volatile __u32 per_round = 2;

SEC("struct_ops")
void BPF_PROG(gentle_cong_avoid, struct sock *sk, __u32 ack, __u32 acked)
{
	struct tcp_sock *tp = (struct tcp_sock *)sk;

	if (tp->snd_cwnd < tp->snd_ssthresh) {
		acked = tcp_slow_start(tp, acked);
		if (!acked)
			return;
	}
	tp->snd_cwnd_cnt += per_round * acked;
	if (tp->snd_cwnd_cnt >= tp->snd_cwnd) {
		tp->snd_cwnd_cnt -= tp->snd_cwnd;
		tp->snd_cwnd++;
	}
}

SEC("struct_ops")
__u32 BPF_PROG(gentle_ssthresh, struct sock *sk)
{
	__u32 kept = ((struct tcp_sock *)sk)->snd_cwnd * 4 / 5;

	return kept < 2 ? 2 : kept;
}

SEC("struct_ops")
__u32 BPF_PROG(gentle_undo_cwnd, struct sock *sk)
{
	return tcp_reno_undo_cwnd(sk);
}

SEC(".struct_ops.link")
struct tcp_congestion_ops gentle = {
	.ssthresh = (void *)gentle_ssthresh,
	.cong_avoid = (void *)gentle_cong_avoid,
	.undo_cwnd = (void *)gentle_undo_cwnd,
	.name = "gentle",
};
