/* SPDX-License-Identifier: GPL-2.0-only OR MIT OR Apache-2.0 */
/*
 * Gentle HighSpeed TCP (Zhang, Hasegawa and Murata 2005): HighSpeed that grows like Reno while its round-trip times
 * rise with time, that is while Fisher's Z of their correlation with the times of departure exceeds a threshold.
 *
 * Z > z is r > tanh(z / sqrt(n - 3)), and that without a root: r^2 > tanh^2. Sums count from the first sample, so they
 * fit 64 bits; their products have 128.
 */
#ifndef EL_GHSTCP_H
#define EL_GHSTCP_H

#include "highspeed.h"

/* Samples of a test, and how far they may lie from the first one [us]: then no sum passes 2^62. */
#define EL_MAX_SAMPLES 65535u
#define EL_MAX_DEPARTURE (1u << 23)
#define EL_MAX_RISE (1u << 22)

struct el_ghstcp_params {
	struct el_highspeed_params highspeed;
	u64 z_squared; /* 32 bits after the point */
	u32 least; /* samples of a test, at least 4 */
	u32 factor; /* samples of a test, in 1/256 of the window */
	u32 tick; /* of the clock that measures round-trip times [us]; 0 for an exact one */
};

struct el_ghstcp {
	struct el_highspeed highspeed;
	u64 departure; /* of the first sample */
	u64 x; /* sums over the samples, of departures and round-trip times since the first */
	u64 y;
	u64 xx;
	u64 yy;
	u64 xy;
	u32 rtt; /* of the first sample */
	u32 count;
	u32 wanted;
	u32 reno;
};

/* tanh^2(z / sqrt(n - 3)), of 2^32, by three steps of its continued fraction; u is z^2 / (n - 3). */
static inline u64 el_ghstcp_critical(u64 z_squared, u32 count)
{
	u64 u = z_squared / (count - 3), coarse, t, inverse, r;

	/* r is 0.96 there. */
	if (u > 4ull << 32)
		u = 4ull << 32;
	coarse = u >> 8;
	t = (5ull << 24) + coarse / 7;
	t = (3ull << 24) + (coarse << 24) / t;
	t = (1ull << 24) + (coarse << 24) / t;
	inverse = (1ull << 54) / t;
	r = (u >> 2) * (inverse * inverse >> 30) >> 28;
	return r > 0xffffffffull ? 0xffffffffull : r;
}

/* Whether the round-trip times of the samples rise. */
static inline u32 el_ghstcp_rises(const struct el_ghstcp_params *p, const struct el_ghstcp *s)
{
	struct el_wide c = el_subtract(el_multiply_signed(s->count, s->xy), el_multiply_signed(s->x, s->y));
	struct el_wide x = el_subtract(el_multiply(s->count, s->xx), el_multiply_signed(s->x, s->x));
	struct el_wide y = el_subtract(el_multiply(s->count, s->yy), el_multiply_signed(s->y, s->y));
	u32 of_c, of_x, of_y;
	u64 left, right;

	if (el_is_negative(c.high) || !(c.high | c.low) || !(x.high | x.low) || !(y.high | y.low))
		return 0;
	left = el_leading(c, &of_c);
	left *= left;
	right = (el_leading(x, &of_x) * el_leading(y, &of_y) >> 32) * el_ghstcp_critical(p->z_squared, s->count);
	of_c *= 2;
	of_x += of_y;
	if (of_c >= of_x)
		return of_c - of_x >= 64 || left > right >> (of_c - of_x);
	return of_x - of_c < 64 && left >> (of_x - of_c) > right;
}

static inline void el_ghstcp_clear(struct el_ghstcp *s)
{
	s->x = s->y = s->xx = s->yy = s->xy = 0;
	s->count = 0;
}

/* Hears an ACK in congestion avoidance with a round-trip time; a test that is complete decides the mode. Says whether
 * one was. */
static inline u32 el_ghstcp_sample(const struct el_ghstcp_params *p, struct el_ghstcp *s, u32 cwnd,
				   const struct el_signal *ack)
{
	u64 departure = ack->now - ack->rtt, x, y;
	u32 rtt = p->tick ? ack->rtt / p->tick * p->tick : ack->rtt;

	if (!ack->rtt)
		return 0;
	x = departure - s->departure;
	y = (u64)rtt - s->rtt;
	if (s->count && (el_magnitude(x) >= EL_MAX_DEPARTURE || el_magnitude(y) >= EL_MAX_RISE))
		el_ghstcp_clear(s);
	if (!s->count) {
		s->wanted = (u32)el_clamp((u64)cwnd * p->factor >> 8, p->least, EL_MAX_SAMPLES);
		s->departure = departure;
		s->rtt = rtt;
		x = y = 0;
	}
	s->count++;
	s->x += x;
	s->y += y;
	s->xx += x * x;
	s->yy += y * y;
	s->xy += x * y;
	if (s->count < s->wanted)
		return 0;
	s->reno = el_ghstcp_rises(p, s);
	el_ghstcp_clear(s);
	return 1;
}

static inline u32 el_ghstcp_avoid(const struct el_ghstcp_params *p, struct el_ghstcp *s, u32 cwnd,
				  const struct el_signal *ack)
{
	u64 gain = s->reno ? EL_ONE : el_highspeed_a(&p->highspeed, el_middle(cwnd));

	return el_grow(&s->highspeed.grown, gain, cwnd, ack->acked);
}

/* A reduction ends Reno mode and drops the samples. */
static inline void el_ghstcp_forget(struct el_ghstcp *s)
{
	el_ghstcp_clear(s);
	s->reno = 0;
	s->highspeed.grown = 0;
}

static inline u32 el_ghstcp_backoff(const struct el_ghstcp_params *p, struct el_ghstcp *s, u32 cwnd,
				    const struct el_signal *loss)
{
	el_ghstcp_forget(s);
	return el_highspeed_backoff(&p->highspeed, &s->highspeed, cwnd, loss);
}

/* The timer expired: half is left. */
static inline u32 el_ghstcp_timeout(const struct el_ghstcp_params *p, struct el_ghstcp *s, u32 cwnd,
				    const struct el_signal *loss)
{
	(void)p;
	(void)loss;
	el_ghstcp_forget(s);
	return el_keep(cwnd, EL_ONE / 2);
}

#endif
