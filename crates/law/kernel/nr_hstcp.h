/* SPDX-License-Identifier: GPL-2.0-only OR MIT OR Apache-2.0 */
/*
 * NR-HSTCP (Phillips and Hu 2006): HighSpeed TCP of the window that would have the same rate at a reference round-trip
 * time and segment size, so that equal rates grow alike.
 */
#ifndef EL_NR_HSTCP_H
#define EL_NR_HSTCP_H

#include "arithmetic.h"

/* Round-trip times above these many reference ones, and segments above these many bytes, count as such. */
#define EL_MAX_RATIO 32u
#define EL_MAX_BYTES 65536u

struct el_nr_hstcp_params {
	u32 reference_rtt; /* us, below 2^24 */
	u32 reference_segment; /* bytes, at most EL_MAX_BYTES */
	u64 min_decrease; /* of 2^20 */
	u64 max_decrease; /* of 2^20 */
	struct el_curve a; /* of 2^20 */
	struct el_curve b; /* of 2^20 */
};

struct el_nr_hstcp {
	u64 grown;
};

/* Equation 5: the window of the same rate at the reference, in 1/4096 segments; w in 1/4096 segments, too. */
static inline u64 el_nr_hstcp_normalised(const struct el_nr_hstcp_params *p, u64 w, const struct el_signal *heard)
{
	u64 bytes = el_clamp(heard->segment, 1, EL_MAX_BYTES);
	u64 window = w * bytes / p->reference_segment;
	u64 rtt = el_clamp(heard->srtt, 1, (u64)p->reference_rtt * EL_MAX_RATIO);

	/* Far beyond the last knot, all are alike. */
	if (window >> 36)
		return 1ull << 36;
	return window * p->reference_rtt / rtt;
}

/* Equations 7 and 9: segments (of 2^20) a round trip at the middle of the interval of the window. */
static inline u64 el_nr_hstcp_increase(const struct el_nr_hstcp_params *p, u32 cwnd, const struct el_signal *heard)
{
	u64 bytes = el_clamp(heard->segment, 1, EL_MAX_BYTES), ratio, a;

	if (!heard->srtt)
		return EL_ONE;
	ratio = el_clamp(heard->srtt, 1, (u64)p->reference_rtt * EL_MAX_RATIO) * EL_ONE / p->reference_rtt;
	a = el_curve_at(&p->a, el_nr_hstcp_normalised(p, el_middle(cwnd), heard));
	a = a * (ratio * ratio >> 20) >> 20;
	a = a * p->reference_segment / bytes;
	return el_clamp(a, EL_ONE, el_middle(cwnd) << 8);
}

static inline u32 el_nr_hstcp_avoid(const struct el_nr_hstcp_params *p, struct el_nr_hstcp *s, u32 cwnd,
				    const struct el_signal *ack)
{
	return el_grow(&s->grown, el_nr_hstcp_increase(p, cwnd, ack), cwnd, ack->acked);
}

/* Equations 6 and 8. */
static inline u32 el_nr_hstcp_backoff(const struct el_nr_hstcp_params *p, struct el_nr_hstcp *s, u32 cwnd,
				      const struct el_signal *loss)
{
	u64 b;

	s->grown = 0;
	if (!loss->srtt)
		return el_keep(cwnd, EL_ONE / 2);
	b = el_curve_at(&p->b, el_nr_hstcp_normalised(p, cwnd * EL_SEGMENT, loss));
	return el_keep(cwnd, el_clamp(b, p->min_decrease, p->max_decrease));
}

/* The timer expired: half is left. */
static inline u32 el_nr_hstcp_timeout(const struct el_nr_hstcp_params *p, struct el_nr_hstcp *s, u32 cwnd,
					const struct el_signal *loss)
{
	(void)p;
	(void)loss;
	s->grown = 0;
	return el_keep(cwnd, EL_ONE / 2);
}

#endif
