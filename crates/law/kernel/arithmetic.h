/* SPDX-License-Identifier: GPL-2.0-only OR MIT OR Apache-2.0 */
/*
 * Arithmetic of the laws in the kernel, where nothing floats: u32 and u64 only, no signed division, no 128 bits.
 *
 * The same text is compiled for the kernel and for the machine; crates/law/src/kernel says it once more in Rust, and a
 * test holds the three equal bit by bit. Whoever includes this has defined u8, u32 and u64.
 */
#ifndef EL_ARITHMETIC_H
#define EL_ARITHMETIC_H

/* One, where numbers have 20 bits after the point: gains and shares. Windows have 12. */
#define EL_ONE (1ull << 20)
#define EL_SEGMENT (1ull << 12)

/* Largest window that grows; TCP's own limit, 1 GiB of the smallest usual segments, is below it. */
#define EL_MAX_CWND (1u << 20)

/* Smallest window that is left after a loss (RFC 5681). */
#define EL_MIN_SSTHRESH 2u

/* A curve has 16 knots to the octave, from a quarter of a segment to 2^20 segments: straight lines between them miss a
 * power law by less than 1e-4. */
#define EL_LOWEST 10u
#define EL_HIGHEST 32u
#define EL_KNOTS (16u * (EL_HIGHEST - EL_LOWEST) + 1u)

struct el_curve {
	u32 at[EL_KNOTS];
};

/* What an ACK or a loss says. Times in microseconds, 0 where nothing is known. */
struct el_signal {
	u64 now;
	u64 delivered; /* segments, since the connection began */
	u32 acked; /* segments */
	u32 rtt; /* of the newest segment this ACK is for */
	u32 srtt;
	u32 min_rtt;
	u32 segment; /* bytes on the wire */
};

/* Where the binary logarithm of x, which is not 0, is cut. */
static inline u32 el_log2(u64 x)
{
	u32 n = 0;

	if (x >> 32) {
		n += 32;
		x >>= 32;
	}
	if (x >> 16) {
		n += 16;
		x >>= 16;
	}
	if (x >> 8) {
		n += 8;
		x >>= 8;
	}
	if (x >> 4) {
		n += 4;
		x >>= 4;
	}
	if (x >> 2) {
		n += 2;
		x >>= 2;
	}
	return n + (u32)(x >> 1);
}

static inline u64 el_clamp(u64 x, u64 least, u64 most)
{
	return x < least ? least : x > most ? most : x;
}

/* The value of a curve at w, in 1/4096 segments; beyond its ends that of the end. */
static inline u64 el_curve_at(const struct el_curve *curve, u64 w)
{
	u32 log, shift, i;
	u64 part;

	if (w < 1ull << EL_LOWEST)
		return curve->at[0];
	if (w >= 1ull << EL_HIGHEST)
		return curve->at[EL_KNOTS - 1];
	log = el_log2(w);
	shift = log - 4;
	i = 16 * (log - EL_LOWEST) + (u32)(w >> shift) - 16;
	/* Never; but the verifier wants to see it, of the number that both knots are found with: up to Linux 6.12 it knows
	 * nothing of i + 1 where that is computed from what i was. */
	__asm__("" : "+r"(i));
	if (i >= EL_KNOTS - 1)
		return curve->at[EL_KNOTS - 1];
	part = w & ((1ull << shift) - 1);
	return (curve->at[i] * ((1ull << shift) - part) + curve->at[i + 1] * part) >> shift;
}

/* Middle of the integer interval that holds the window, in 1/4096 segments: there the growth of the interval is taken,
 * as the laws of the simulator do. */
static inline u64 el_middle(u32 cwnd)
{
	return cwnd * EL_SEGMENT + EL_SEGMENT / 2;
}

/* The window after `acked` segments, growing by `gain` segments (20 bits) a round trip; `grown` keeps the rest. */
static inline u32 el_grow(u64 *grown, u64 gain, u32 cwnd, u32 acked)
{
	u64 whole = (2ull * cwnd + 1) * (EL_ONE / 2), sum, more;

	if (cwnd >= EL_MAX_CWND)
		return cwnd;
	if (acked > EL_MAX_CWND)
		acked = EL_MAX_CWND;
	sum = *grown + gain * acked;
	more = sum / whole;
	*grown = sum - more * whole;
	return more > EL_MAX_CWND - cwnd ? EL_MAX_CWND : cwnd + (u32)more;
}

/* What is left of the window when a share (20 bits) of it is given up. */
static inline u32 el_keep(u32 cwnd, u64 share)
{
	u64 kept = (cwnd * (EL_ONE - share)) >> 20;

	return kept < EL_MIN_SSTHRESH ? EL_MIN_SSTHRESH : (u32)kept;
}

/* 128 bits, in two's complement. */
struct el_wide {
	u64 high;
	u64 low;
};

static inline struct el_wide el_multiply(u64 a, u64 b)
{
	u64 a1 = a >> 32, a0 = (u32)a, b1 = b >> 32, b0 = (u32)b;
	u64 low = a0 * b0, cross = a1 * b0 + (low >> 32), other = a0 * b1 + (u32)cross;
	struct el_wide product;

	product.high = a1 * b1 + (cross >> 32) + (other >> 32);
	product.low = (other << 32) | (u32)low;
	return product;
}

static inline struct el_wide el_subtract(struct el_wide a, struct el_wide b)
{
	struct el_wide difference;

	difference.low = a.low - b.low;
	difference.high = a.high - b.high - (a.low < b.low);
	return difference;
}

static inline int el_is_negative(u64 x)
{
	return x >> 63 != 0;
}

static inline u64 el_magnitude(u64 x)
{
	return el_is_negative(x) ? 0 - x : x;
}

/* The product of two numbers that may be negative. */
static inline struct el_wide el_multiply_signed(u64 a, u64 b)
{
	struct el_wide zero = { 0, 0 }, product = el_multiply(el_magnitude(a), el_magnitude(b));

	return el_is_negative(a) != el_is_negative(b) ? el_subtract(zero, product) : product;
}

/* The 32 leading bits of a positive number; `bits` is how long it is. */
static inline u64 el_leading(struct el_wide x, u32 *bits)
{
	u32 log = x.high ? 64 + el_log2(x.high) : el_log2(x.low), shift;

	*bits = log + 1;
	if (log < 32)
		return x.low << (31 - log);
	shift = log - 31;
	if (shift >= 64)
		return x.high >> (shift - 64);
	return (u32)(x.low >> shift | x.high << 1 << (63 - shift));
}

#endif
