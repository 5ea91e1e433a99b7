"""Reno and CUBIC as classes, called for every ACK, with the arithmetic of the built-in ones."""

from fractions import Fraction
from math import cbrt, floor, inf, nextafter


def on_grid(x):
    """To the nearest 2^-32 of a segment, as elephan keeps windows."""
    return round(x * 2**32) / 2**32 if x < 2**20 else x


class Reno:
    """RFC 5681."""

    def __init__(self, flow):
        self.cwnd, self.ssthresh = flow.initial_window, flow.initial_ssthresh

    def on_ack(self, ack):
        if not ack.cwnd_limited:
            return
        if self.cwnd < self.ssthresh:
            self.cwnd = min(self.cwnd + min(ack.acked, ack.abc_limit), self.ssthresh)
        else:
            self.cwnd += on_grid(1 / (floor(self.cwnd) + 0.5)) * ack.acked

    def on_loss(self, event):
        self.ssthresh = on_grid(max(0.5 * self.cwnd, 2.0))
        self.cwnd = 1.0 if event.signal == "timeout" else self.ssthresh


class Cubic:
    """RFC 9438, Sections 4.2 to 4.7."""

    C, BETA = 0.4, 0.7

    def __init__(self, flow):
        self.cwnd, self.ssthresh = flow.initial_window, flow.initial_ssthresh
        self.w_max = self.cwnd_prior = self.k = self.w_est = 0.0
        self.epoch, self.last_ack, self.plateau = None, 0, True

    def on_ack(self, ack):
        if not ack.cwnd_limited and self.epoch is not None:
            self.epoch += ack.now_ps - self.last_ack
        self.last_ack = ack.now_ps
        if self.cwnd < self.ssthresh:
            if ack.cwnd_limited:
                self.cwnd = min(self.cwnd + min(ack.acked, ack.abc_limit), self.ssthresh)
            return
        if ack.cwnd_limited:
            self.cwnd = max(self.avoid(self.cwnd, ack), 1.0)
        self.ssthresh = min(self.ssthresh, max(self.cwnd, 2.0))

    def avoid(self, cwnd, ack):
        if self.epoch is None:
            if self.plateau or self.w_max < cwnd:
                self.w_max = cwnd
            self.k, self.w_est, self.epoch = cube_root((self.w_max - cwnd) / self.C), cwnd, ack.now_ps
        share = ack.acked / cwnd
        alpha = 3.0 * (1.0 - self.BETA) / (1.0 + self.BETA) if self.w_est < self.cwnd_prior else 1.0
        self.w_est += alpha * share
        t = ack.now_ps - self.epoch
        if self.w_cubic(t) < self.w_est:
            return max(cwnd, self.w_est)
        target = min(max(self.w_cubic(t + ack.srtt_ps), cwnd), 1.5 * cwnd)
        return cwnd + (target - cwnd) * min(share, 1.0)

    def w_cubic(self, t_ps):
        x = t_ps / 1e12 - self.k
        return self.C * x * x * x + self.w_max

    def on_loss(self, event):
        self.w_max = self.cwnd * 0.5 * (1.0 + self.BETA) if self.cwnd < self.w_max else self.cwnd
        self.cwnd_prior, self.epoch, self.plateau = self.cwnd, None, event.signal == "timeout"
        self.ssthresh = on_grid(max(self.cwnd * self.BETA, 2.0))
        self.cwnd = 1.0 if event.signal == "timeout" else self.ssthresh

    def on_restart(self, restart):
        if restart.idle_ps and self.epoch is not None:
            self.epoch += restart.now_ps - self.last_ack
        if restart.idle_ps:
            self.last_ack = restart.now_ps
        if restart.ssthresh is not None:
            self.ssthresh = on_grid(max(restart.ssthresh, 2.0))
        self.cwnd = min(self.cwnd, on_grid(max(restart.cwnd, 1.0)))


def cube_root(x):
    """The nearest number to it: what platforms give may be off by one place."""
    guess = cbrt(x)
    return min((nextafter(guess, 0.0), guess, nextafter(guess, inf)), key=lambda y: abs(Fraction(y) ** 3 - Fraction(x)))
