/* SPDX-License-Identifier: GPL-2.0-only OR MIT OR Apache-2.0 */
/*
 * H-TCP (Shorten and Leith 2004): alpha segments a round trip, alpha rising with the time since the last loss; the
 * share beta, the ratio of the smallest to the largest round-trip time, is kept.
 *
 * alpha holds for the instant of the ACK; the simulator's law sets it once a round trip, for its middle.
 */
#ifndef EL_HTCP_H
#define EL_HTCP_H

#include "arithmetic.h"

/* Microseconds after the low-speed time beyond which alpha stays: an hour. */
#define EL_HTCP_LONGEST 3600000000ull
/* Segments in 2^20 us above which throughput counts as such. */
#define EL_HTCP_FASTEST (1ull << 40)

struct el_htcp_params {
	u64 low_speed; /* us */
	u64 beta_min; /* of 2^20 */
	u64 beta_max; /* of 2^20 */
	u64 throughput_change; /* of 2^20, below 2^24 */
	u32 adaptive_backoff;
	u32 rtt_scaling;
	u32 reference_rtt; /* us */
};

struct el_htcp {
	u64 grown;
	u64 since; /* the last loss, or the first sample; 0 before */
	u64 round; /* when the round trip under way began */
	u64 delivered; /* by then */
	u64 throughput; /* in the last whole round trip, segments in 2^20 us */
	u64 throughput_before; /* before the last loss */
	u32 beta; /* of 2^20; 0 before the first loss */
	u32 max_rtt; /* since the last loss */
};

/* Segments (of 2^20) a round trip. */
static inline u64 el_htcp_alpha(const struct el_htcp_params *p, const struct el_htcp *s, const struct el_signal *ack)
{
	u64 beta = s->beta ? s->beta : p->beta_min, since = s->since ? s->since : ack->now;
	u64 past = ack->now > since ? ack->now - since : 0, x, alpha, scale = EL_ONE;

	past = el_clamp(past, p->low_speed, p->low_speed + EL_HTCP_LONGEST) - p->low_speed;
	/* Seconds, 16 bits after the point: an hour is below 2^28, its square below 2^56. */
	x = (past << 16) / 1000000;
	alpha = (1ull << 16) + 10 * x + (x * x >> 18);
	if (p->rtt_scaling && ack->min_rtt)
		scale = el_clamp((u64)ack->min_rtt * EL_ONE / p->reference_rtt, EL_ONE / 10, 2 * EL_ONE);
	/* 2 (1 - beta) alpha, 2^40 at most before the last step. */
	return (((alpha * (EL_ONE - beta) >> 20) * scale) >> 20) << 5;
}

/* Hears every ACK with a round-trip time, in slow start too. */
static inline void el_htcp_sample(const struct el_htcp_params *p, struct el_htcp *s, u32 cwnd,
				  const struct el_signal *ack)
{
	u64 took = ack->now - s->round;

	(void)p;
	(void)cwnd;
	if (ack->rtt > s->max_rtt)
		s->max_rtt = ack->rtt;
	if (!s->since) {
		s->since = s->round = ack->now;
		s->delivered = ack->delivered;
	} else if (took && took >= ack->srtt) {
		s->throughput = el_clamp(((ack->delivered - s->delivered) << 20) / took, 0, EL_HTCP_FASTEST);
		s->round = ack->now;
		s->delivered = ack->delivered;
	}
}

static inline u32 el_htcp_avoid(const struct el_htcp_params *p, struct el_htcp *s, u32 cwnd,
				const struct el_signal *ack)
{
	return el_grow(&s->grown, el_htcp_alpha(p, s, ack), cwnd, ack->acked);
}

/* Whether throughput was about the same before this loss and before the last one. */
static inline int el_htcp_steady(const struct el_htcp_params *p, const struct el_htcp *s)
{
	u64 now = s->throughput, before = s->throughput_before, change = now > before ? now - before : before - now;

	return before && change <= before * p->throughput_change >> 20;
}

/* A loss starts the clock anew. */
static inline void el_htcp_forget(const struct el_htcp_params *p, struct el_htcp *s, const struct el_signal *loss)
{
	s->beta = (u32)p->beta_min;
	s->throughput_before = s->throughput;
	s->since = s->round = loss->now;
	s->delivered = loss->delivered;
	s->max_rtt = 0;
	s->grown = 0;
}

static inline u32 el_htcp_backoff(const struct el_htcp_params *p, struct el_htcp *s, u32 cwnd,
				  const struct el_signal *loss)
{
	u64 max_rtt = loss->rtt > s->max_rtt ? loss->rtt : s->max_rtt, beta = p->beta_min;

	if (p->adaptive_backoff && max_rtt && el_htcp_steady(p, s))
		beta = el_clamp((u64)loss->min_rtt * EL_ONE / max_rtt, p->beta_min, p->beta_max);
	el_htcp_forget(p, s, loss);
	s->beta = (u32)beta;
	return el_keep(cwnd, EL_ONE - beta);
}

/* The timer expired: half is left. */
static inline u32 el_htcp_timeout(const struct el_htcp_params *p, struct el_htcp *s, u32 cwnd,
				  const struct el_signal *loss)
{
	el_htcp_forget(p, s, loss);
	return el_keep(cwnd, EL_ONE / 2);
}

#endif
