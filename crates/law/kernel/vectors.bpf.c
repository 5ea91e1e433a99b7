// SPDX-License-Identifier: GPL-2.0-only OR MIT OR Apache-2.0
/*
 * The laws as the kernel's compiler makes them: a program that answers a batch of calls, run by BPF_PROG_TEST_RUN.
 */
#include "kernel.h"

#include <bpf/bpf_helpers.h>

#include "vectors.h"

#define EL_BATCH 256u

char el_license[] SEC("license") = "GPL";

const volatile struct el_params el_params SEC(".rodata.params") = {};

/* What is asked and answered, written and read by whoever runs the program. */
struct {
	u32 count;
	u32 spare;
	struct el_vector vectors[EL_BATCH];
	struct el_answer answers[EL_BATCH];
	union el_any states[EL_LAWS];
} el_batch SEC(".data.batch");

/* Not static: the verifier then looks at it once, and not again for each turn of the loop, which Linux 7.3 gives up. */
__noinline int el_answer(u32 i)
{
	struct el_vector *vector;
	struct el_answer *answer;
	union el_any *state;
	u32 word;

	if (i >= EL_BATCH)
		return 1;
	vector = &el_batch.vectors[i];
	answer = &el_batch.answers[i];
	if (vector->law >= EL_LAWS)
		return 1;
	state = &el_batch.states[vector->law];
	answer->value = el_apply(el_loaded(&el_params), state, vector);
	for (word = 0; word < 13; word++)
		answer->state[word] = state->words[word];
	return 0;
}

static long el_each(u32 i, void *unused)
{
	(void)unused;
	return el_answer(i) != 0;
}

SEC("syscall")
int el_run(void *ctx)
{
	(void)ctx;
	return bpf_loop(el_batch.count, el_each, 0, 0) < 0;
}
