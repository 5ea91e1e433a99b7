/* SPDX-License-Identifier: GPL-2.0-only OR MIT OR Apache-2.0 */
/*
 * Scalable TCP (Kelly 2003): a constant gain for each segment acknowledged; Reno up to legacy_window.
 */
#ifndef EL_SCALABLE_H
#define EL_SCALABLE_H

#include "arithmetic.h"

struct el_scalable_params {
	u64 legacy_window; /* 1/4096 segments */
	u64 increase; /* of 2^20, for each segment */
	u64 decrease; /* of 2^20 */
};

struct el_scalable {
	u64 grown;
};

static inline u32 el_scalable_avoid(const struct el_scalable_params *p, struct el_scalable *s, u32 cwnd,
				    const struct el_signal *ack)
{
	u64 middle = el_middle(cwnd);
	u64 gain = middle <= p->legacy_window ? EL_ONE : p->increase * middle >> 12;

	return el_grow(&s->grown, gain, cwnd, ack->acked);
}

static inline u32 el_scalable_backoff(const struct el_scalable_params *p, struct el_scalable *s, u32 cwnd,
				      const struct el_signal *loss)
{
	(void)loss;
	s->grown = 0;
	return el_keep(cwnd, cwnd * EL_SEGMENT <= p->legacy_window ? EL_ONE / 2 : p->decrease);
}

/* The timer expired: half is left. */
static inline u32 el_scalable_timeout(const struct el_scalable_params *p, struct el_scalable *s, u32 cwnd,
					const struct el_signal *loss)
{
	(void)p;
	(void)loss;
	s->grown = 0;
	return el_keep(cwnd, EL_ONE / 2);
}

#endif
