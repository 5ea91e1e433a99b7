/* SPDX-License-Identifier: GPL-2.0-only OR MIT OR Apache-2.0 */
/*
 * The laws' arithmetic without a socket: one call of a hook on a state that is kept, for comparing what different
 * compilers make of it.
 */
#ifndef EL_VECTORS_H
#define EL_VECTORS_H

#include "params.h"

enum { EL_RESET, EL_SAMPLE, EL_AVOID, EL_BACKOFF, EL_TIMEOUT };

/* What is called, and with what. */
struct el_vector {
	u32 law;
	u32 hook;
	u32 cwnd;
	u32 spare;
	struct el_signal heard;
};

/* What comes of it: a window, or whether something was decided; and the state afterwards. */
struct el_answer {
	u64 value;
	u64 state[13];
};

union el_any {
	u64 words[13];
	struct el_highspeed highspeed;
	struct el_ghstcp ghstcp;
	struct el_nr_hstcp nr_hstcp;
	struct el_scalable scalable;
	struct el_htcp htcp;
};

#define EL_CALL(law)									\
	(v->hook == EL_AVOID ? el_##law##_avoid(&p->law, &s->law, v->cwnd, &v->heard) :	\
	 v->hook == EL_BACKOFF ? el_##law##_backoff(&p->law, &s->law, v->cwnd, &v->heard) : \
				 el_##law##_timeout(&p->law, &s->law, v->cwnd, &v->heard))

static inline u64 el_apply(const struct el_params *p, union el_any *s, const struct el_vector *v)
{
	u32 i;

	if (v->hook == EL_RESET) {
		for (i = 0; i < 13; i++)
			s->words[i] = 0;
		return 0;
	}
	if (v->hook == EL_SAMPLE) {
		if (v->law == EL_GHSTCP)
			return el_ghstcp_sample(&p->ghstcp, &s->ghstcp, v->cwnd, &v->heard);
		if (v->law == EL_HTCP)
			el_htcp_sample(&p->htcp, &s->htcp, v->cwnd, &v->heard);
		return 0;
	}
	switch (v->law) {
	case EL_HIGHSPEED:
		return EL_CALL(highspeed);
	case EL_GHSTCP:
		return EL_CALL(ghstcp);
	case EL_NR_HSTCP:
		return EL_CALL(nr_hstcp);
	case EL_SCALABLE:
		return EL_CALL(scalable);
	default:
		return EL_CALL(htcp);
	}
}

#endif
