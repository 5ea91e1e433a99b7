"""A law in ten lines: a segment and a half for each round trip, a quarter given up on a loss."""


class Mine:
    def __init__(self, gain=1.5, kept=0.75):
        self.gain, self.kept = gain, kept
        self.cwnd, self.ssthresh = 10.0, float("inf")

    def on_ack(self, ack):
        self.cwnd += ack.acked if self.cwnd < self.ssthresh else self.gain * ack.acked / self.cwnd

    def on_loss(self, event):
        self.ssthresh = max(self.kept * self.cwnd, 2.0)
        self.cwnd = 1.0 if event.signal == "timeout" else self.ssthresh
