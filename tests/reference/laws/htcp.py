"""H-TCP.

Source: D. Leith, R. Shorten, "H-TCP: TCP for high-speed and long-distance networks", PFLDnet 2004: alpha as a
function of the time since the last congestion event, alpha scaled by 2 (1 - beta), adaptive backoff.
draft-leith-tcp-htcp-06 (2008) keeps alpha only, section 3, and adds the optional scaling with the round-trip time,
section 5.

Where the sources differ: the paper's quadratic term is ((Delta - Delta_L) / 2)^2, the draft's equation (1) has 0.5
(Delta - Delta_L)^2. The paper's is taken.

Choices:
* Delta is the time since the cut itself, alpha that of each acknowledgement.
* 2 (1 - beta) multiplies alpha below Delta_L as well, and the product has no floor: 0.4 after a cut with beta = 0.8.
* B, the throughput immediately before a cut, is that of the last whole round: what was delivered from the
  acknowledgement that started it to the one that started the next, over the time between. A cut begins a round, too.
  Delta_B = 0.2 refers to the older B.
* RTT_min is the connection's. RTT_max is the largest since the last cut of one sample per round, that of the
  acknowledgement that starts it (what a sender without timestamps has), and of the newest sample before the cut.
* beta = 0.5 at the first cut (nothing to compare with), without a valid round-trip time, and at timeouts, which are
  congestion events like others: they end an epoch, and half is kept.
* Before the first cut, Delta counts from the first event.
* Scaling (off by default) uses srtt / 100 ms, above Delta_L only, without bounds, as the draft has it.
"""

from .event import Event
from .sender import Sender


class Htcp(Sender):
    """alpha(Delta)/w per acknowledged segment, beta w kept."""

    def __init__(
        self,
        delta_l: float = 1.0,
        delta_b: float = 0.2,
        beta_min: float = 0.5,
        beta_max: float = 0.8,
        rtt_scaling: bool = False,
        rtt_ref: float = 0.1,
        initial_window: float = 2.0,
    ) -> None:
        super().__init__(initial_window)
        self.delta_l, self.delta_b = delta_l, delta_b
        self.beta_min, self.beta_max = beta_min, beta_max
        self.rtt_scaling, self.rtt_ref = rtt_scaling, rtt_ref
        self.beta = beta_min
        self.last_cut: float | None = None  # until the first cut: the time of the first event
        self.round: tuple[float, float] | None = None  # time and segments delivered at its start
        self.throughput = 0.0  # of the last whole round
        self.throughput_before = 0.0  # the same at the last cut
        self.rtt_max = self.newest_rtt = 0.0

    def alpha_at(self, delta: float, rtt: float) -> float:
        """Return the segments gained per round trip, `delta` seconds after the last congestion event."""
        if delta <= self.delta_l:
            return 2.0 * (1.0 - self.beta)
        beyond = delta - self.delta_l
        alpha = 1.0 + 10.0 * beyond + (beyond / 2.0) ** 2
        if self.rtt_scaling:
            alpha *= rtt / self.rtt_ref
        return 2.0 * (1.0 - self.beta) * alpha

    def measure(self, e: Event, /) -> None:
        if self.last_cut is None:
            self.last_cut = e.now
        if e.rtt is not None:
            self.newest_rtt = e.rtt
        if e.round_start:
            if self.round is not None and e.now > self.round[0]:
                self.throughput = (e.delivered - self.round[1]) / (e.now - self.round[0])
            self.round = (e.now, e.delivered)
            if e.rtt is not None:
                self.rtt_max = max(self.rtt_max, e.rtt)

    def change(self, e: Event, /) -> float:
        since = e.now if self.last_cut is None else self.last_cut
        return self.alpha_at(e.now - since, e.srtt) * e.acked / self.cwnd

    def backoff(self, e: Event, /) -> float:
        before, rtt_max = self.throughput_before, max(self.rtt_max, self.newest_rtt)
        if before == 0.0 or abs(self.throughput - before) / before > self.delta_b or rtt_max == 0.0:
            self.beta = self.beta_min
        else:
            self.beta = min(max(e.min_rtt / rtt_max, self.beta_min), self.beta_max)
        self.new_epoch(e)
        return self.beta * self.cwnd

    def timeout(self, e: Event, /) -> float:
        self.beta = self.beta_min
        self.new_epoch(e)
        return super().timeout(e)

    def new_epoch(self, e: Event) -> None:
        self.throughput_before = self.throughput
        self.round = (e.now, e.delivered)
        self.last_cut, self.rtt_max = e.now, 0.0
