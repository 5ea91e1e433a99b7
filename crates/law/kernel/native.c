// SPDX-License-Identifier: GPL-2.0-only OR MIT OR Apache-2.0
/*
 * The laws on this machine: parameters, then calls on standard input; answers on standard output. A state for each law.
 */
#include <stdint.h>
#include <stdio.h>

typedef uint8_t u8;
typedef uint32_t u32;
typedef uint64_t u64;

#include "vectors.h"

int main(void)
{
	static struct el_params params;
	static union el_any states[EL_LAWS];
	struct el_vector vector;
	struct el_answer answer;

	if (fread(&params, sizeof(params), 1, stdin) != 1)
		return 1;
	while (fread(&vector, sizeof(vector), 1, stdin) == 1) {
		union el_any *state;
		u32 i;

		if (vector.law >= EL_LAWS)
			return 1;
		state = &states[vector.law];
		answer.value = el_apply(&params, state, &vector);
		for (i = 0; i < 13; i++)
			answer.state[i] = state->words[i];
		if (fwrite(&answer, sizeof(answer), 1, stdout) != 1)
			return 1;
	}
	return fflush(stdout) ? 1 : 0;
}
