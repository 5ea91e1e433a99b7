"""Events that a sender receives, one record per ACK or congestion signal: windows in segments, times in seconds."""

from dataclasses import dataclass


@dataclass(frozen=True)
class Event:
    """One event of a sender."""

    kind: str  # "ack", "loss", "mark" (ECN echo) or "timeout"
    now: float
    acked: float  # segments newly acknowledged (acknowledgements only)
    marked: float  # of these, CE-marked
    rtt: float | None  # of the newest acknowledged segment; None if that segment had been sent again
    srtt: float  # smoothed round-trip time, RFC 6298
    min_rtt: float  # smallest round-trip time of the connection so far: baseRTT
    in_flight: float  # segments in the network before this event
    delivered: float  # segments acknowledged so far, this acknowledgement's included
    round_start: bool  # acknowledges the first segment sent after the previous round began: one per round trip
    cwnd_limited: bool  # False: something else than the window held the sender back
