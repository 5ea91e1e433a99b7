"""Model `fluid`: windows and queue as delay-differential equations, for any window law and six queue disciplines."""

from __future__ import annotations

from dataclasses import replace
from typing import Literal, cast

import numpy as np

from elephan.errors import InputError
from elephan.theory.fairness import LAWS
from elephan.theory.fluid_aqm import equilibrium, trajectory, unstable_roots
from elephan.theory.fluid_queues import Discipline, DropTail, FluidPath, Law, Pie, Red, SmallBuffer, fluid_law
from elephan.theory.laws import response
from elephan.theory.models.bottleneck import Bottleneck
from elephan.theory.models.card import Columns, Prediction, Values, read_model
from elephan.theory.models.flows import (
    mixed_laws,
    no_capacity_left,
    other_traffic,
    packet_rate,
    used,
    vectorized_over,
)
from elephan.theory.models.red_fixed_point import packets
from elephan.theory.models.senders import sawtooth_inputs
from elephan.theory.response import Floats
from elephan.theory.sawtooth import recovery_time
from elephan.units import seconds

QUEUES = ("drop-tail", "small-buffer", "red", "ared", "gared", "pie")
PREDICTED = ("drop-tail", "red", "ared", "gared", "pie")
"""Disciplines of a scenario to which the model applies."""

MOST_STEPS = 200_000
"""Maximum number of steps of a table's trajectory; they take about ten seconds of computing time."""

# Number of sawteeth of a prediction, of which the first is not counted, and maximum number of steps, which take less
# than a second of computing time.
_PERIODS, _STEPS = 4, 8_000
# Minimum duration of a prediction in round trips; and for queues with a controller, whose time constants do not scale
# with the round-trip time: duration below which the model does not apply, and minimum duration otherwise.
_LEAST_ROUNDS, _LEAST_S, _SETTLING_S = 60, 10.0, 30.0


def _step(discipline: Discipline, rtt: float) -> float:
    """Return the step: a tenth of a round trip, and at most a controller's interval."""
    return min(rtt / 10, discipline.interval_s) if isinstance(discipline, Pie) else rtt / 10


@vectorized_over("time")
def _table(v: Values) -> Columns:
    """Compute a trajectory at the given times, and the equilibrium."""
    times, (rtt, flows, start) = v["time"], (float(v[name][0]) for name in ("rtt", "flows", "start"))
    path = FluidPath(packet_rate(v), rtt, flows)
    discipline = _discipline(v)
    # Windows can exceed the size that fills link and buffer, but not by a factor of 100.
    law = fluid_law(response(str(v["law"][0])), rtt, 100 * (packet_rate(v) * rtt + float(v["buffer"][0])))
    step = _step(discipline, rtt)
    if not (times >= 0).all() or times.max() / step > MOST_STEPS:
        message = f"time: give 0 to {MOST_STEPS * step:g} s; a step is {step:g} s, a tenth of the round trip at most"
        raise InputError(message)
    rest = equilibrium(law, path, discipline)
    once = str(v["cuts"][0]) == "once"
    # One more step, so that the last time is within the trajectory.
    run = trajectory(
        law, path, discipline, float(times.max()) + 2 * step, step, start * rest.window, rest.queue, once=once
    )
    busy = np.where(run.queue > 0, 1.0, np.minimum(run.load, 1.0))
    moving = {"window_segments": run.window, "backlog_packets": run.queue, "loss_ratio": run.loss, "utilization": busy}
    found = {name: np.interp(times, run.time_s, column[:, 0]) for name, column in moving.items()}
    still = {
        "rest_window_segments": float(rest.window[0]),
        "rest_backlog_packets": float(rest.queue[0]),
        "rest_loss_ratio": float(rest.loss[0]),
        "unstable_roots": float(unstable_roots(law, path, discipline)[0]),
    }
    return found | {name: np.full(times.size, value) for name, value in still.items()}


def _discipline(v: Values) -> Discipline:
    kind, buffer = str(v["queue"][0]), float(v["buffer"][0])
    low, high, p_max, weight, target = (float(v[name][0]) for name in ("min_th", "max_th", "p_max", "weight", "target"))
    if buffer < 1:
        raise InputError(f"buffer: {buffer:g} packets is too small; give at least 1")
    if kind == "drop-tail":
        return DropTail(buffer)
    if kind == "small-buffer":
        return SmallBuffer(buffer)
    if kind == "pie":
        if target <= 0:
            raise InputError("target: must be above 0")
        return Pie(target, limit=buffer)
    if not (0 <= low < high and 0 < p_max <= 1 and 0 < weight < 1):
        message = "min_th, max_th, p_max, weight: min_th must lie below max_th, p_max and weight between 0 and 1"
        raise InputError(message)
    return Red(low * buffer, high * buffer, p_max, weight, _adapt(kind), limit=buffer)


def _adapt(kind: str) -> Literal["", "ared", "gared"]:
    return "" if kind == "red" else cast("Literal['ared', 'gared']", kind)


def _of_link(link: Bottleneck, buffers: Floats) -> Discipline:
    """Return the discipline of a scenario's link, with one case for each buffer."""
    if link.discipline == "drop-tail":
        return DropTail(buffers)
    queues = [link.queue(float(buffer)) for buffer in buffers]
    first = queues[0]
    if link.discipline == "pie":
        own = (seconds(first["target"]), first["alpha"], first["beta"], seconds(first["t_update"]))
        return Pie(*own, limit=buffers)
    low, high = (np.array([packets(queue[name]) for queue in queues]) for name in ("min_th", "max_th"))
    p_max, weight = (np.array([float(queue[name]) for queue in queues]) for name in ("max_p", "w_q"))
    red = Red(low, high, p_max, weight, _adapt(link.discipline), limit=buffers)
    return replace(red, interval_s=seconds(first["interval"])) if red.adapt else red


def _periods(link: Bottleneck, buffers: Floats) -> Floats:
    """Return the time that a window takes to recover from a cut at a full buffer, for each buffer [s]."""
    top = (link.bdp + buffers) / link.flows
    return recovery_time(response(link.law), top, link.mean_rtt_s + buffers / link.rate)


def _predict(link: Bottleneck, buffers: Floats) -> Prediction:
    rtt, discipline = link.mean_rtt_s, _of_link(link, buffers)
    law: Law = fluid_law(response(link.law), rtt, 100 * (link.bdp + float(buffers.max())))
    path = FluidPath(np.full(buffers.size, link.rate), rtt, link.flows)
    if isinstance(discipline, Red):
        discipline = replace(discipline, max_p=discipline.settled(law, path))
    step, period = _step(discipline, rtt), _periods(link, buffers)
    settling = 0.0 if isinstance(discipline, DropTail) else _SETTLING_S
    duration = min(max(_PERIODS * float(period.max()), _LEAST_ROUNDS * rtt, settling), _STEPS * step)
    rest = equilibrium(law, path, discipline)
    run = trajectory(law, path, discipline, duration, step, rest.window, rest.queue, once=True)
    since = duration / _PERIODS
    found = (
        used(link, run.utilization(since)),
        run.mean_loss(since),
        run.queue[run.time_s >= since].mean(axis=0) / link.rate,
    )
    # If the measured time is shorter than a sawtooth, it does not give a mean.
    shown = period <= since * (1 + 1e-9)
    return Prediction(*(np.where(shown, column, np.nan) for column in found))


def _unsuited(link: Bottleneck) -> str:
    if reason := no_capacity_left(link):
        return reason
    if link.discipline not in PREDICTED:
        return f"its queue is one of {', '.join(PREDICTED)}; here {link.discipline}"
    if reason := mixed_laws(link):
        return reason
    if link.law_name not in LAWS:
        return f"the growth of {link.law} is not a function of its window; laws that it knows: {', '.join(LAWS)}"
    if link.discipline != "drop-tail" and _STEPS * link.mean_rtt_s / 10 < _LEAST_S:
        rtt = f"{1e3 * link.mean_rtt_s:.3g} ms"
        return f"with round trips of {rtt} it follows too short a time for {link.discipline} to settle"
    rounds = float(_periods(link, np.zeros(1))[0]) / link.mean_rtt_s
    most = _STEPS / 10 / _PERIODS
    if rounds > most:
        return f"a sawtooth takes {rounds:.0f} round trips, and it follows {most:.0f}; use sawtooth or staggered"
    return ""


def _doubts(link: Bottleneck) -> list[str]:
    lines = []
    if link.flows > 1:
        lines.append("replaces all flows by one mean window: cuts that come one at a time are smeared over them")
    if max(link.rtts_s) > 1.1 * min(link.rtts_s):
        lines.append("takes one RTT for all, their mean")
    if response(link.law).uses_rtt:
        lines.append(f"takes {link.law_name} to grow by its RTT without queueing")
    return lines + other_traffic(link)


MODEL = read_model(
    __file__,
    choices={"law": LAWS, "queue": QUEUES},
    compute=_table,
    predict=_predict,
    unsuited=_unsuited,
    doubts=_doubts,
    asks=sawtooth_inputs,
)
