"""Written by tools/stubs.py from the cards of the catalogue; edit the cards in the code instead."""

from typing import Any

from elephan.catalog.entry import Registry, RegistryEntry

def plain(value: Any) -> Any: ...

class _LawsReno(RegistryEntry):
    """Reno (standard TCP). RFC 5681."""

    def __call__(
        self,
        *,
        increase: float | str = 1.0,
        decrease: float | str = 0.5,
        variant: Any = "exact",
        slow_start: Any = None,
    ) -> dict[str, Any]: ...

class _LawsHighspeed(RegistryEntry):
    """HighSpeed TCP. RFC 3649."""

    def __call__(
        self,
        *,
        low_window: float | str = 38.0,
        low_p: float | str = 0.001,
        high_window: float | str = 83000.0,
        high_p: float | str = 1e-07,
        high_decrease: float | str = 0.1,
        arithmetic: Any = "exact",
        slow_start: Any = None,
    ) -> dict[str, Any]: ...

class _LawsGhstcp(RegistryEntry):
    """Gentle HighSpeed TCP. Zhang, Hasegawa and Murata 2005."""

    def __call__(
        self,
        *,
        low_window: float | str = 38.0,
        low_p: float | str = 0.001,
        high_window: float | str = 83000.0,
        high_p: float | str = 1e-07,
        high_decrease: float | str = 0.1,
        z_threshold: float | str = 3.09,
        min_samples: float | str = 8.0,
        window_factor: float | str = 1.0,
        window: Any = "tumbling",
        rtt_clock: Any = "0 s",
        arithmetic: Any = "exact",
        slow_start: Any = None,
    ) -> dict[str, Any]: ...

class _LawsNrHstcp(RegistryEntry):
    """Normalised-Rate HighSpeed TCP. Phillips and Hu 2006."""

    def __call__(
        self,
        *,
        mss: float | str = 1500.0,
        reference_mss: float | str = 1500.0,
        reference_rtt: Any = "100 ms",
        rtt: Any = "srtt",
        min_decrease: float | str = 0.1,
        max_decrease: float | str = 0.5,
        low_window: float | str = 38.0,
        high_window: float | str = 83000.0,
        high_decrease: float | str = 0.1,
        response_factor: float | str = 0.078,
        response_exponent: float | str = 1.2,
        arithmetic: Any = "exact",
        slow_start: Any = None,
    ) -> dict[str, Any]: ...

class _LawsConstantRate(RegistryEntry):
    """Constant-Rate increase. Floyd 1991; Henderson et al. 1998."""

    def __call__(
        self, *, increase: float | str = 100.0, decrease: float | str = 0.5, slow_start: Any = None
    ) -> dict[str, Any]: ...

class _LawsScalable(RegistryEntry):
    """Scalable TCP. Kelly 2003."""

    def __call__(
        self,
        *,
        increase: float | str = 0.01,
        decrease: float | str = 0.125,
        legacy_window: float | str = 16.0,
        arithmetic: Any = "exact",
        variant: Any = "exact",
        per_ack: bool = False,
        slow_start: Any = None,
    ) -> dict[str, Any]: ...

class _LawsFast(RegistryEntry):
    """FAST TCP. Jin, Wei and Low 2004."""

    def __call__(
        self, *, alpha: float | str = 200.0, gamma: float | str = 0.5, slow_start: Any = None
    ) -> dict[str, Any]: ...

class _LawsHtcp(RegistryEntry):
    """H-TCP. Shorten and Leith 2004; draft-leith-tcp-htcp-06."""

    def __call__(
        self,
        *,
        low_speed: Any = "1 s",
        beta_min: float | str = 0.5,
        beta_max: float | str = 0.8,
        adaptive_backoff: bool = True,
        throughput_change: float | str = 0.2,
        rtt_scaling: bool = False,
        reference_rtt: Any = "100 ms",
        arithmetic: Any = "exact",
        slow_start: Any = None,
    ) -> dict[str, Any]: ...

class _LawsBic(RegistryEntry):
    """BIC. Xu, Harfoush and Rhee 2004."""

    def __call__(
        self,
        *,
        max_increment: float | str = 32.0,
        min_increment: float | str = 0.01,
        decrease: float | str = 0.125,
        low_window: float | str = 14.0,
        fast_convergence: bool = True,
        slow_start: Any = None,
    ) -> dict[str, Any]: ...

class _LawsVegas(RegistryEntry):
    """TCP Vegas. Brakmo and Peterson 1995."""

    def __call__(
        self, *, alpha: float | str = 1.0, beta: float | str = 3.0, slow_start: Any = None
    ) -> dict[str, Any]: ...

class _LawsCubic(RegistryEntry):
    """CUBIC. RFC 9438."""

    def __call__(
        self,
        *,
        c: float | str = 0.4,
        beta: float | str = 0.7,
        fast_convergence: bool = True,
        variant: Any = "rfc9438",
        hz: float | str = 250.0,
        slow_start: Any = None,
    ) -> dict[str, Any]: ...

class _LawsWestwood(RegistryEntry):
    """TCP Westwood+. Grieco and Mascolo 2004."""

    def __call__(
        self, *, filter: float | str = 0.9, min_interval: Any = "50 ms", slow_start: Any = None
    ) -> dict[str, Any]: ...

class _LawsIllinois(RegistryEntry):
    """TCP-Illinois. Liu, Başar and Srikant 2006."""

    def __call__(
        self,
        *,
        alpha_min: float | str = 0.3,
        alpha_max: float | str = 10.0,
        beta_min: float | str = 0.125,
        beta_max: float | str = 0.5,
        eta1: float | str = 0.01,
        eta2: float | str = 0.1,
        eta3: float | str = 0.8,
        win_thresh: float | str = 10.0,
        theta: float | str = 5.0,
        slow_start: Any = None,
    ) -> dict[str, Any]: ...

class _LawsYeah(RegistryEntry):
    """YeAH-TCP. Baiocchi, Castellani and Vacirca 2007."""

    def __call__(
        self,
        *,
        q_max: float | str = 80.0,
        phi: float | str = 8.0,
        gamma: float | str = 1.0,
        epsilon: float | str = 0.5,
        delta: float | str = 0.125,
        rho: float | str = 16.0,
        zeta: float | str = 50.0,
        increase: float | str = 0.01,
        slow_start: Any = None,
    ) -> dict[str, Any]: ...

class _LawsHybla(RegistryEntry):
    """TCP Hybla. Caini and Firrincieli 2004."""

    def __call__(
        self,
        *,
        reference_rtt: Any = "25 ms",
        decrease: float | str = 0.5,
        per_ack: bool = False,
        slow_start: Any = None,
    ) -> dict[str, Any]: ...

class _LawsCompound(RegistryEntry):
    """Compound TCP. Tan, Song, Zhang and Sridharan 2006."""

    def __call__(
        self,
        *,
        alpha: float | str = 0.125,
        beta: float | str = 0.5,
        k: float | str = 0.75,
        gamma: float | str = 30.0,
        zeta: float | str = 1.0,
        slow_start: Any = None,
    ) -> dict[str, Any]: ...

class _LawsDctcp(RegistryEntry):
    """Data Center TCP. RFC 8257."""

    def __call__(
        self, *, g: float | str = 0.0625, initial_alpha: float | str = 1.0, slow_start: Any = None
    ) -> dict[str, Any]: ...

class _LawsTabulated(RegistryEntry):
    """A law from tables of a(w) and b(w). RFC 3649, Section 5 (general form)."""

    def __call__(self, *, increase: Any = ..., decrease: Any = ..., slow_start: Any = None) -> dict[str, Any]: ...

class _LawsBbr3(RegistryEntry):
    """BBR, version 3. draft-ietf-ccwg-bbr-06."""

    def __call__(
        self,
        *,
        startup_pacing_gain: float | str = 2.77,
        drain_pacing_gain: float | str = 0.5,
        up_pacing_gain: float | str = 1.25,
        down_pacing_gain: float | str = 0.9,
        pacing_margin: float | str = 0.01,
        cwnd_gain: float | str = 2.0,
        up_cwnd_gain: float | str = 2.25,
        probe_rtt_cwnd_gain: float | str = 0.5,
        loss_thresh: float | str = 0.02,
        beta: float | str = 0.7,
        headroom: float | str = 0.15,
        probe_wait: Any = "2 s",
        probe_rtt_interval: Any = "5 s",
        probe_rtt_duration: Any = "200 ms",
        min_rtt_window: Any = "10 s",
        slow_start: Any = None,
    ) -> dict[str, Any]: ...

class _LawsBbr1(RegistryEntry):
    """BBR, version 1. Linux 6.12, tcp_bbr.c."""

    def __call__(
        self,
        *,
        startup_gain: float | str = 2.88671875,
        drain_pacing_gain: float | str = 0.34375,
        up_pacing_gain: float | str = 1.25,
        down_pacing_gain: float | str = 0.75,
        cwnd_gain: float | str = 2.0,
        pacing_margin: float | str = 0.01,
        bw_window: float | str = 10.0,
        min_rtt_window: Any = "10 s",
        probe_rtt_duration: Any = "200 ms",
        max_burst: float | str = 127.0,
        slow_start: Any = None,
    ) -> dict[str, Any]: ...

class _LawsXcp(RegistryEntry):
    """XCP (explicit control protocol). Katabi, Handley and Rohrs 2002."""

    def __call__(self, *, decrease: float | str = 0.5, slow_start: Any = None) -> dict[str, Any]: ...

class _LawsPacketPair(RegistryEntry):
    """Packet-pair rate control. Keshav 1991."""

    def __call__(
        self, *, setpoint: float | str = 5.0, gain: float | str = 0.25, slow_start: Any = None
    ) -> dict[str, Any]: ...

class _LawsPrague(RegistryEntry):
    """TCP Prague. draft-briscoe-iccrg-prague-congestion-control; tcp_prague 0.7."""

    def __call__(
        self,
        *,
        g: float | str = 0.0625,
        initial_alpha: float | str = 0.0,
        rtt_independence: Any = "rate",
        reference_rtt: Any = "25 ms",
        rtt_transition: float | str = 4.0,
        slow_start: Any = None,
    ) -> dict[str, Any]: ...

class _LawsBpf(RegistryEntry):
    """A congestion control compiled for the Linux kernel. RFC 9669 (BPF); Linux 6.18, struct tcp_congestion_ops."""

    def __call__(self, *, object: Any = "shipped", name: Any = "", slow_start: Any = None) -> dict[str, Any]: ...

class _Laws(Registry[RegistryEntry]):
    reno: _LawsReno
    highspeed: _LawsHighspeed
    ghstcp: _LawsGhstcp
    nr_hstcp: _LawsNrHstcp
    constant_rate: _LawsConstantRate
    scalable: _LawsScalable
    fast: _LawsFast
    htcp: _LawsHtcp
    bic: _LawsBic
    vegas: _LawsVegas
    cubic: _LawsCubic
    westwood: _LawsWestwood
    illinois: _LawsIllinois
    yeah: _LawsYeah
    hybla: _LawsHybla
    compound: _LawsCompound
    dctcp: _LawsDctcp
    tabulated: _LawsTabulated
    bbr3: _LawsBbr3
    bbr1: _LawsBbr1
    xcp: _LawsXcp
    packet_pair: _LawsPacketPair
    prague: _LawsPrague
    bpf: _LawsBpf

laws: _Laws

class _SlowStartsClassic(RegistryEntry):
    """Classic slow start. RFC 5681."""

    def __call__(self) -> dict[str, Any]: ...

class _SlowStartsLimited(RegistryEntry):
    """Limited slow start. RFC 3742."""

    def __call__(self, *, max_ssthresh: float | str = 100.0) -> dict[str, Any]: ...

class _SlowStartsHystart(RegistryEntry):
    """HyStart++. RFC 9406."""

    def __call__(
        self,
        *,
        min_rtt_thresh: Any = "4 ms",
        max_rtt_thresh: Any = "16 ms",
        min_rtt_divisor: float | str = 8.0,
        n_rtt_sample: float | str = 8.0,
        css_growth_divisor: float | str = 4.0,
        css_rounds: float | str = 5.0,
        l: float | str = 8.0,
    ) -> dict[str, Any]: ...

class _SlowStartsHystartLinux(RegistryEntry):
    """HyStart, as in Linux. Ha and Rhee 2011; Linux 6.12."""

    def __call__(
        self,
        *,
        low_window: float | str = 16.0,
        ack_train: bool = True,
        delay: bool = True,
        ack_delta: Any = "2 ms",
        min_samples: float | str = 8.0,
        min_rise: Any = "4 ms",
        max_rise: Any = "16 ms",
    ) -> dict[str, Any]: ...

class _SlowStartsHyblaStart(RegistryEntry):
    """Hybla's slow start. Caini and Firrincieli 2004."""

    def __call__(
        self, *, reference_rtt: Any = "25 ms", ssthresh: float | str = 64.0, per_ack: bool = False
    ) -> dict[str, Any]: ...

class _SlowStartsVegasStart(RegistryEntry):
    """Slow start of Vegas. Brakmo and Peterson 1995."""

    def __call__(self, *, gamma: float | str = 1.0) -> dict[str, Any]: ...

class _SlowStarts(Registry[RegistryEntry]):
    classic: _SlowStartsClassic
    limited: _SlowStartsLimited
    hystart: _SlowStartsHystart
    hystart_linux: _SlowStartsHystartLinux
    hybla_start: _SlowStartsHyblaStart
    vegas_start: _SlowStartsVegasStart

slow_starts: _SlowStarts

class _RecoveriesTahoe(RegistryEntry):
    """Tahoe: fast retransmit, no fast recovery. Jacobson 1988; Fall and Floyd 1996."""

    def __call__(self) -> str: ...

class _RecoveriesReno(RegistryEntry):
    """Reno: fast recovery, one hole per recovery. RFC 5681."""

    def __call__(self) -> str: ...

class _RecoveriesNewreno(RegistryEntry):
    """NewReno: partial acknowledgements. RFC 6582."""

    def __call__(self) -> str: ...

class _RecoveriesSack(RegistryEntry):
    """SACK: scoreboard and pipe. RFC 2018, RFC 6675."""

    def __call__(self) -> str: ...

class _RecoveriesPrr(RegistryEntry):
    """SACK with proportional rate reduction. RFC 6675, RFC 9937."""

    def __call__(self) -> str: ...

class _RecoveriesRack(RegistryEntry):
    """RACK-TLP with proportional rate reduction. RFC 8985, RFC 9937."""

    def __call__(self) -> str: ...

class _Recoveries(Registry[RegistryEntry]):
    tahoe: _RecoveriesTahoe
    reno: _RecoveriesReno
    newreno: _RecoveriesNewreno
    sack: _RecoveriesSack
    prr: _RecoveriesPrr
    rack: _RecoveriesRack

recoveries: _Recoveries

class _QueuesDropTail(RegistryEntry):
    """Drop-tail FIFO. RFC 2309."""

    def __call__(
        self, *, ecn_threshold: Any = "0 packets", limit: Any = None, profile: Any = None
    ) -> dict[str, Any]: ...

class _QueuesRed(RegistryEntry):
    """Random early detection. Floyd and Jacobson 1993."""

    def __call__(
        self,
        *,
        min_th: Any = "auto",
        max_th: Any = "auto",
        w_q: Any = "auto",
        max_p: float | str = 0.1,
        gentle: bool = True,
        count: Any = "wait",
        unit: Any = "packets",
        ecn: bool = False,
        least_backlog: float | str = 0.0,
        burst: float | str = 0.0,
        avpkt: Any = "auto",
        limit: Any = None,
        profile: Any = None,
    ) -> dict[str, Any]: ...

class _QueuesAred(RegistryEntry):
    """Adaptive RED. Floyd, Gummadi and Shenker 2001."""

    def __call__(
        self,
        *,
        min_th: Any = "auto",
        max_th: Any = "auto",
        w_q: Any = "auto",
        max_p: float | str = 0.1,
        gentle: bool = True,
        count: Any = "wait",
        unit: Any = "packets",
        ecn: bool = False,
        least_backlog: float | str = 0.0,
        burst: float | str = 0.0,
        avpkt: Any = "auto",
        interval: Any = "500 ms",
        looks: Any = "clock",
        alpha: float | str = 0.01,
        beta: float | str = 0.9,
        bottom: float | str = 0.01,
        top: float | str = 0.5,
        target_low: float | str = 0.4,
        target_high: float | str = 0.6,
        limit: Any = None,
        profile: Any = None,
    ) -> dict[str, Any]: ...

class _QueuesGared(RegistryEntry):
    """Gentle adaptive RED. Zhang, Hasegawa and Murata 2005."""

    def __call__(
        self,
        *,
        min_th: Any = "auto",
        max_th: Any = "auto",
        w_q: Any = "auto",
        max_p: float | str = 0.1,
        gentle: bool = True,
        count: Any = "wait",
        unit: Any = "packets",
        ecn: bool = False,
        least_backlog: float | str = 0.0,
        burst: float | str = 0.0,
        avpkt: Any = "auto",
        interval: Any = "500 ms",
        looks: Any = "clock",
        alpha: float | str = 0.01,
        beta: float | str = 0.9,
        top: float | str = 0.5,
        target_low: float | str = 0.4,
        target_high: float | str = 0.6,
        limit: Any = None,
        profile: Any = None,
    ) -> dict[str, Any]: ...

class _QueuesPdRed(RegistryEntry):
    """RED under proportional-derivative control. Sun, Ko, Chen, Chan and Zukerman 2003."""

    def __call__(
        self,
        *,
        min_th: Any = "auto",
        max_th: Any = "auto",
        w_q: Any = "auto",
        max_p: float | str = 0.1,
        gentle: bool = True,
        count: Any = "wait",
        unit: Any = "packets",
        ecn: bool = False,
        least_backlog: float | str = 0.0,
        burst: float | str = 0.0,
        avpkt: Any = "auto",
        interval: Any = "10 ms",
        k_p: float | str = 0.001,
        k_d: float | str = 0.05,
        target: Any = "auto",
        scale: Any = "auto",
        bottom: float | str = 0.01,
        top: float | str = 0.5,
        limit: Any = None,
        profile: Any = None,
    ) -> dict[str, Any]: ...

class _QueuesBlue(RegistryEntry):
    """BLUE. Feng, Shin, Kandlur and Saha 2002."""

    def __call__(
        self,
        *,
        increment: float | str = 0.0025,
        decrement: float | str = 0.00025,
        freeze_time: Any = "100 ms",
        threshold: Any = "0 packets",
        ecn: bool = True,
        limit: Any = None,
        profile: Any = None,
    ) -> dict[str, Any]: ...

class _QueuesRem(RegistryEntry):
    """Random exponential marking. Athuraliya, Li, Low and Yin 2001."""

    def __call__(
        self,
        *,
        gamma: float | str = 0.001,
        alpha: float | str = 0.1,
        phi: float | str = 1.001,
        target: Any = "auto",
        interval: Any = "2 ms",
        ecn: bool = True,
        limit: Any = None,
        profile: Any = None,
    ) -> dict[str, Any]: ...

class _QueuesPie(RegistryEntry):
    """Proportional integral controller enhanced. RFC 8033."""

    def __call__(
        self,
        *,
        target: Any = "15 ms",
        t_update: Any = "15 ms",
        alpha: float | str = 0.125,
        beta: float | str = 1.25,
        max_burst: Any = "150 ms",
        ecn: bool = True,
        mark_ecnth: float | str = 0.1,
        derandomize: bool = True,
        bytemode: bool = False,
        high_delay: Any = "250 ms",
        decay_when_empty: bool = False,
        limit: Any = None,
        profile: Any = None,
    ) -> dict[str, Any]: ...

class _QueuesDropHead(RegistryEntry):
    """FIFO that drops from its head. Lakshman, Neidhardt and Ott 1996."""

    def __call__(self, *, limit: Any = None, profile: Any = None) -> dict[str, Any]: ...

class _QueuesDrr(RegistryEntry):
    """Deficit round robin. Shreedhar and Varghese 1995."""

    def __call__(
        self, *, quantum: Any = "1 packets", flow_limit: Any = "0 packets", limit: Any = None, profile: Any = None
    ) -> dict[str, Any]: ...

class _QueuesFq(RegistryEntry):
    """Fair queueing, dropping from the longest queue. Suter, Lakshman, Stiliadis and Choudhury 1998."""

    def __call__(
        self,
        *,
        scheduler: Any = "drr",
        quantum: Any = "1 packets",
        victim: Any = "tail",
        limit: Any = None,
        profile: Any = None,
    ) -> dict[str, Any]: ...

class _QueuesPriorityFq(RegistryEntry):
    """Priority fair queueing. Kortebi, Oueslati and Roberts 2004."""

    def __call__(
        self,
        *,
        scheduler: Any = "start-time",
        quantum: Any = "1 packets",
        victim: Any = "tail",
        limit: Any = None,
        profile: Any = None,
    ) -> dict[str, Any]: ...

class _QueuesSfq(RegistryEntry):
    """Stochastic fairness queueing. McKenney 1990."""

    def __call__(
        self,
        *,
        buckets: float | str = 1024.0,
        quantum: Any = "1 packets",
        perturb: Any = "10 s",
        limit: Any = None,
        profile: Any = None,
    ) -> dict[str, Any]: ...

class _QueuesCodel(RegistryEntry):
    """Controlled delay. RFC 8289."""

    def __call__(
        self,
        *,
        target: Any = "5 ms",
        interval: Any = "100 ms",
        mtu: Any = "auto",
        ecn: bool = False,
        ce_threshold: Any = "0 s",
        limit: Any = None,
        profile: Any = None,
    ) -> dict[str, Any]: ...

class _QueuesFqCodel(RegistryEntry):
    """Flow queue CoDel. RFC 8290."""

    def __call__(
        self,
        *,
        flows: float | str = 1024.0,
        quantum: Any = "auto",
        target: Any = "5 ms",
        interval: Any = "100 ms",
        mtu: Any = "auto",
        ecn: bool = True,
        ce_threshold: Any = "0 s",
        ce_threshold_ect1: bool = False,
        drop_batch_size: float | str = 64.0,
        memory_limit: Any = "0 packets",
        limit: Any = None,
        profile: Any = None,
    ) -> dict[str, Any]: ...

class _QueuesDualpi2(RegistryEntry):
    """Dual-queue coupled PI squared. RFC 9332."""

    def __call__(
        self,
        *,
        target: Any = "15 ms",
        tupdate: Any = "16 ms",
        alpha: float | str = 0.16,
        beta: float | str = 3.2,
        coupling: float | str = 2.0,
        step_threshold: Any = "1 ms",
        ramp: Any = "0 s",
        step_backlog: Any = "1 packets",
        scheduler: Any = "weighted",
        classic_share: float | str = 0.1,
        time_shift: Any = "30 ms",
        decide: Any = "recur",
        limit: Any = None,
        profile: Any = None,
    ) -> dict[str, Any]: ...

class _QueuesXcp(RegistryEntry):
    """XCP (explicit control protocol). Katabi, Handley and Rohrs 2002."""

    def __call__(
        self,
        *,
        alpha: float | str = 0.4,
        beta: float | str = 0.226,
        gamma: float | str = 0.1,
        interval: Any = "100 ms",
        min_interval: Any = "1 ms",
        limit: Any = None,
        profile: Any = None,
    ) -> dict[str, Any]: ...

class _Queues(Registry[RegistryEntry]):
    drop_tail: _QueuesDropTail
    red: _QueuesRed
    ared: _QueuesAred
    gared: _QueuesGared
    pd_red: _QueuesPdRed
    blue: _QueuesBlue
    rem: _QueuesRem
    pie: _QueuesPie
    drop_head: _QueuesDropHead
    drr: _QueuesDrr
    fq: _QueuesFq
    priority_fq: _QueuesPriorityFq
    sfq: _QueuesSfq
    codel: _QueuesCodel
    fq_codel: _QueuesFqCodel
    dualpi2: _QueuesDualpi2
    xcp: _QueuesXcp

queues: _Queues

class _TrafficBulk(RegistryEntry):
    """Bulk transfer. Always backlogged; the FTP source of the papers."""

    def __call__(self) -> dict[str, Any]: ...

class _TrafficFinite(RegistryEntry):
    """Finite transfer. One file of given size."""

    def __call__(self, *, size: Any = "1 MB") -> dict[str, Any]: ...

class _TrafficPausingBulk(RegistryEntry):
    """Bulk that pauses. RFC 7661, Section 1."""

    def __call__(
        self, *, on: Any = "5 s", off: Any = "5 s", law: Any = "constant", shape: float | str = 1.5
    ) -> dict[str, Any]: ...

class _TrafficVideo(RegistryEntry):
    """Data at a given rate, written in segments of video. HTTP adaptive streaming (ISO/IEC 23009-1) at one bit rate."""

    def __call__(
        self,
        *,
        size: Any = "1 MB",
        law: Any = "constant",
        shape: float | str = 1.2,
        every: Any = "2 s",
        first: Any = "0 B",
    ) -> dict[str, Any]: ...

class _TrafficRequestResponse(RegistryEntry):
    """Responses on one connection that stays open. Persistent connections of HTTP/1.1 (RFC 9112); RFC 7661."""

    def __call__(
        self,
        *,
        size: Any = "100 kB",
        law: Any = "exponential",
        shape: float | str = 1.2,
        think: Any = "1 s",
        think_law: Any = "exponential",
        think_shape: float | str = 2.0,
    ) -> dict[str, Any]: ...

class _TrafficEngset(RegistryEntry):
    """Sessions of a closed population. Andrew et al. 2005."""

    def __call__(
        self, *, size: Any = "50 kB", law: Any = "uniform", shape: float | str = 1.2, think: Any = "2 s"
    ) -> dict[str, Any]: ...

class _TrafficElastic(RegistryEntry):
    """Poisson arrivals of finite flows. Augé and Roberts 2006; Ben Fredj et al. 2001."""

    def __call__(
        self,
        *,
        load: float | str = 0.5,
        rate: Any = "none",
        size: Any = "50 kB",
        law: Any = "exponential",
        shape: float | str = 1.2,
        places: float | str = 1000.0,
    ) -> dict[str, Any]: ...

class _TrafficWeb(RegistryEntry):
    """Pages of several objects. ns-2's PagePool/WebTraf; Feldmann et al. 1999."""

    def __call__(
        self,
        *,
        pages: float | str = 0.0,
        think: Any = "10 s",
        think_law: Any = "pareto",
        think_shape: float | str = 2.0,
        think_from: Any = "end",
        objects: float | str = 3.0,
        objects_law: Any = "pareto",
        objects_shape: float | str = 1.5,
        gap: Any = "500 ms",
        gap_law: Any = "pareto",
        gap_shape: float | str = 1.5,
        size: Any = "12 kB",
        law: Any = "pareto",
        shape: float | str = 1.2,
        connections: float | str = 6.0,
    ) -> dict[str, Any]: ...

class _TrafficPage(RegistryEntry):
    """Pages of today: a document, then ten hosts in parallel. HTTP Archive, Web Almanac 2024, 'Page Weight'."""

    def __call__(
        self,
        *,
        pages: float | str = 0.0,
        think: Any = "20 s",
        think_law: Any = "exponential",
        think_shape: float | str = 2.0,
        document: Any = "18 kB",
        hosts: float | str = 10.0,
        size: Any = "263 kB",
        law: Any = "exponential",
        shape: float | str = 1.2,
    ) -> dict[str, Any]: ...

class _TrafficReplay(RegistryEntry):
    """Flows of a list. A list of opening times and sizes."""

    def __call__(self, *, flows: Any = "0 s 1000000 B", places: float | str = 1000.0) -> dict[str, Any]: ...

class _TrafficPoisson(RegistryEntry):
    """Poisson stream of datagrams. Augé and Roberts 2006."""

    def __call__(self, *, rate: Any = "1 Mbit/s", size: Any = "constant") -> dict[str, Any]: ...

class _TrafficCbr(RegistryEntry):
    """Constant bit rate. The CBR source of ns-2, over UDP."""

    def __call__(self, *, rate: Any = "1 Mbit/s") -> dict[str, Any]: ...

class _TrafficPing(RegistryEntry):
    """Echo requests at equal gaps. RFC 792; the ping of RRUL."""

    def __call__(self, *, every: Any = "200 ms") -> dict[str, Any]: ...

class _TrafficOnOff(RegistryEntry):
    """Bursts and silences. Traffic/Exponential and Traffic/Pareto of ns-2; Willinger et al. 1997."""

    def __call__(
        self,
        *,
        rate: Any = "1 Mbit/s",
        on: Any = "500 ms",
        off: Any = "500 ms",
        law: Any = "exponential",
        shape: float | str = 1.5,
        size: Any = "constant",
    ) -> dict[str, Any]: ...

class _Traffic(Registry[RegistryEntry]):
    bulk: _TrafficBulk
    finite: _TrafficFinite
    pausing_bulk: _TrafficPausingBulk
    video: _TrafficVideo
    request_response: _TrafficRequestResponse
    engset: _TrafficEngset
    elastic: _TrafficElastic
    web: _TrafficWeb
    page: _TrafficPage
    replay: _TrafficReplay
    poisson: _TrafficPoisson
    cbr: _TrafficCbr
    ping: _TrafficPing
    on_off: _TrafficOnOff

traffic: _Traffic
