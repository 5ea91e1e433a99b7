/* SPDX-License-Identifier: GPL-2.0-only OR MIT OR Apache-2.0 */
/*
 * What the laws read of the kernel: only the fields they use, found by name and type when the object is loaded
 * (CO-RE), so that no header of one kernel is needed.
 */
#ifndef EL_KERNEL_H
#define EL_KERNEL_H

typedef unsigned char __u8;
typedef unsigned short __u16;
typedef unsigned int __u32;
typedef int __s32;
typedef unsigned long long __u64;
typedef long long __s64;
typedef __u16 __be16;
typedef __u32 __be32;
typedef __u32 __wsum;

typedef __u8 u8;
typedef __u16 u16;
typedef __u32 u32;
typedef __u64 u64;
typedef __s32 s32;

/* What bpf_helpers.h wants to know of maps, of which this has none. */
enum bpf_map_type { BPF_MAP_TYPE_UNSPEC };

#define EL_KERNEL __attribute__((preserve_access_index))

struct sock_common {
	unsigned short skc_family;
} EL_KERNEL;

struct sock {
	struct sock_common __sk_common;
} EL_KERNEL;

struct inet_connection_sock {
	__u8 icsk_ca_state : 5;
	__u64 icsk_ca_priv[13];
} EL_KERNEL;

struct minmax_sample {
	__u32 t;
	__u32 v;
} EL_KERNEL;

struct minmax {
	struct minmax_sample s[3];
} EL_KERNEL;

struct tcp_sock {
	__u16 tcp_header_len;
	__u8 is_cwnd_limited : 1;
	__u32 snd_cwnd;
	__u32 snd_cwnd_clamp;
	__u32 snd_ssthresh;
	__u32 max_packets_out;
	__u32 delivered;
	__u32 srtt_us;
	__u32 mss_cache;
	__u64 tcp_mstamp;
	struct minmax rtt_min;
} EL_KERNEL;

struct ack_sample {
	__u32 pkts_acked;
	__s32 rtt_us;
	__u32 in_flight;
} EL_KERNEL;

/* Values of the kernel's interface. */
enum { EL_CA_OPEN = 0, EL_NON_RESTRICTED = 1, EL_AF_INET6 = 10, EL_INFINITE = 0x7fffffff };

/* Members are matched by name; those that are missing stay empty. */
struct tcp_congestion_ops {
	__u32 flags;
	void (*init)(struct sock *sk);
	__u32 (*ssthresh)(struct sock *sk);
	void (*cong_avoid)(struct sock *sk, __u32 ack, __u32 acked);
	__u32 (*undo_cwnd)(struct sock *sk);
	void (*pkts_acked)(struct sock *sk, const struct ack_sample *sample);
	void (*cwnd_event)(struct sock *sk, int event);
	char name[16];
};

#endif
