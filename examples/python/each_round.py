"""The same for each round trip: called some thousand times less often behind a long, fat pipe."""


class EachRound:
    def __init__(self, gain=1.5, kept=0.75):
        self.gain, self.kept = gain, kept
        self.cwnd, self.ssthresh = 10.0, float("inf")

    def on_rtt_round(self, round):
        if round.cwnd_limited:
            self.cwnd += 0.5 * self.cwnd if self.cwnd < self.ssthresh else self.gain

    def on_loss(self, event):
        self.ssthresh = max(self.kept * self.cwnd, 2.0)
        self.cwnd = 1.0 if event.signal == "timeout" else self.ssthresh
