"""Loads at which flows and an M/M/1/K queue, or RED's chain, agree; found by bisection and by scanning.

*Source*: Barman2004, Sections II to IV. Flows: mean rate of a period whose peak window follows from the loss rate.
*Differs from* elephan's: blocking by a recursion over the buffer, means by sums over the states, the chain of RED as
linear equations of its generator.
"""

import math
from collections.abc import Callable, Sequence

import numpy as np

LOW_WINDOW, HIGH_WINDOW, LOW_P, HIGH_P, HIGH_DECREASE = 38.0, 83000.0, 1e-3, 1e-7, 0.1
Queue = Callable[[float], tuple[float, float]]
"""Function of the load that returns loss rate and mean number that accepted arrivals find."""


def hstcp_rate(p: float, rtt: float) -> float:
    """Segments per second of one HSTCP flow with one loss event in 1/p segments; p at most 1e-3."""
    ratio = math.log(HIGH_P / LOW_P) / math.log(HIGH_WINDOW / LOW_WINDOW)
    peak = LOW_WINDOW * math.pow(p / LOW_P, 1 / ratio)
    b = 0.5 - 0.4 * math.log(peak / LOW_WINDOW) / math.log(HIGH_WINDOW / LOW_WINDOW)
    kept = 1 - b
    sent, lasted = 1 - math.pow(kept, -ratio), 1 - math.pow(kept, -(1 + ratio))
    return peak / rtt * (1 + 1 / ratio) * sent / lasted


def drop_tail(buffer: int) -> Queue:
    """M/M/1/K: blocking B_k = rho B_{k-1} / (1 + rho B_{k-1}) from B_0 = 1, and a sum over states 0 to K - 1."""

    def queue(load: float) -> tuple[float, float]:
        blocking, weight, weights = 1.0, 1.0, [1.0]
        for _ in range(buffer):
            blocking = load * blocking / (1 + load * blocking)
            weight *= load
            weights.append(weight)
        found = weights[:-1]
        mean = math.fsum(n * w for n, w in enumerate(found)) / math.fsum(found)
        return blocking, mean

    return queue


def red(buffer: int, min_th: float, max_th: float, p_max: float) -> Queue:
    """RED on the instantaneous queue: solve pi Q = 0 with services at rate 1 and entering arrivals rho (1 - p(n))."""
    drop = [min(1.0, max(0.0, p_max * (n - min_th) / (max_th - min_th))) for n in range(buffer)] + [1.0]

    def queue(load: float) -> tuple[float, float]:
        states = buffer + 1
        generator = np.zeros((states, states))
        for n in range(buffer):
            generator[n, n + 1] = load * (1 - drop[n])
            generator[n + 1, n] = 1.0
        generator -= np.diag(generator.sum(axis=1))
        equations = np.vstack([generator.T[:-1], np.ones(states)])
        law = np.linalg.solve(equations, np.append(np.zeros(states - 1), 1.0))
        entering = law * (1 - np.array(drop))
        return float(law @ drop), float(entering @ np.arange(states) / entering.sum())

    return queue


def excess(load: float, queue: Queue, rate: float, rtts: Sequence[float]) -> float:
    """Return the load that flows offer minus the assumed load, in capacities."""
    p, mean = queue(load)
    if p < HIGH_P / 100:
        # Beyond the law's table, and more than any link here can carry.
        return math.inf
    return math.fsum(hstcp_rate(p, rtt + mean / rate) for rtt in rtts) / rate - load


def halve(queue: Queue, rate: float, rtts: Sequence[float], low: float, high: float) -> float:
    """Find the root by bisection; flows offer too much at the low end and too little at the high one."""
    if not excess(low, queue, rate, rtts) > 0 > excess(high, queue, rate, rtts):
        raise ValueError(low, high)
    for _ in range(60):
        middle = (low + high) / 2
        low, high = (middle, high) if excess(middle, queue, rate, rtts) > 0 else (low, middle)
    return (low + high) / 2


def scan(queue: Queue, rate: float, rtts: Sequence[float], low: float, high: float) -> float:
    """Find the load with the smallest excess of 21, then of 21 around it, and so on to 1e-9."""
    while high - low > 1e-9:
        loads = np.linspace(low, high, 21)
        best = min(loads, key=lambda load: abs(excess(float(load), queue, rate, rtts)))
        step = float(loads[1] - loads[0])
        low, high = float(best) - step, float(best) + step
    return (low + high) / 2
