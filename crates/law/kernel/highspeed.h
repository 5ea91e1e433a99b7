/* SPDX-License-Identifier: GPL-2.0-only OR MIT OR Apache-2.0 */
/*
 * HighSpeed TCP (RFC 3649): Reno up to low_window; above it a(w) segments a round trip, and b(w) given up on loss.
 *
 * The curves hold the formulas without their bounds, so that they have no corners; the bounds are put on afterwards.
 */
#ifndef EL_HIGHSPEED_H
#define EL_HIGHSPEED_H

#include "arithmetic.h"

struct el_highspeed_params {
	u64 low_window; /* 1/4096 segments */
	u64 least_b; /* of 2^20 */
	struct el_curve a; /* of 2^20 */
	struct el_curve b; /* of 2^20 */
};

struct el_highspeed {
	u64 grown;
};

static inline u64 el_highspeed_a(const struct el_highspeed_params *p, u64 w)
{
	u64 a = w <= p->low_window ? EL_ONE : el_curve_at(&p->a, w);

	return a < EL_ONE ? EL_ONE : a;
}

static inline u64 el_highspeed_b(const struct el_highspeed_params *p, u64 w)
{
	return w <= p->low_window ? EL_ONE / 2 : el_clamp(el_curve_at(&p->b, w), p->least_b, EL_ONE / 2);
}

static inline u32 el_highspeed_avoid(const struct el_highspeed_params *p, struct el_highspeed *s, u32 cwnd,
				     const struct el_signal *ack)
{
	return el_grow(&s->grown, el_highspeed_a(p, el_middle(cwnd)), cwnd, ack->acked);
}

static inline u32 el_highspeed_backoff(const struct el_highspeed_params *p, struct el_highspeed *s, u32 cwnd,
				       const struct el_signal *loss)
{
	(void)loss;
	s->grown = 0;
	return el_keep(cwnd, el_highspeed_b(p, cwnd * EL_SEGMENT));
}

/* The timer expired: half is left. */
static inline u32 el_highspeed_timeout(const struct el_highspeed_params *p, struct el_highspeed *s, u32 cwnd,
					const struct el_signal *loss)
{
	(void)p;
	(void)loss;
	s->grown = 0;
	return el_keep(cwnd, EL_ONE / 2);
}

#endif
