/* SPDX-License-Identifier: GPL-2.0-only OR MIT OR Apache-2.0 */
/*
 * The parameters of all laws, as they lie in the object. crates/bpf/src/params.rs writes the same bytes.
 */
#ifndef EL_PARAMS_H
#define EL_PARAMS_H

#include "ghstcp.h"
#include "highspeed.h"
#include "htcp.h"
#include "nr_hstcp.h"
#include "scalable.h"

enum { EL_HIGHSPEED, EL_GHSTCP, EL_NR_HSTCP, EL_SCALABLE, EL_HTCP, EL_LAWS };

struct el_params {
	struct el_highspeed_params highspeed;
	struct el_ghstcp_params ghstcp;
	struct el_nr_hstcp_params nr_hstcp;
	struct el_scalable_params scalable;
	struct el_htcp_params htcp;
};

/* Where the parameters lie. The compiler must not know that they are the ones of this file: others may be loaded. */
static inline const struct el_params *el_loaded(const volatile struct el_params *params)
{
	const struct el_params *loaded = (const struct el_params *)params;

	__asm__ volatile("" : "+r"(loaded));
	return loaded;
}

#endif
