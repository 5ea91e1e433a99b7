"""Written by tools/stubs.py from the cards of the catalogue; edit the cards in the code instead."""

from typing import Any

from elephan.catalog.entry import Registry, RegistryEntry
from elephan.theory.models.card import ModelTable

class _ModelsResponse(RegistryEntry):
    """Published response functions: window at a loss rate. RFC 3649."""

    def __call__(
        self,
        *,
        law: Any = "reno,highspeed,scalable,bic,cubic,htcp,compound,hybla,constant-rate,nr-hstcp",
        p: Any = "1e-8..1e-2:7",
        rtt: Any = "100 ms",
        window: Any = "83333 packets",
    ) -> ModelTable: ...

class _ModelsHstcp(RegistryEntry):
    """One HighSpeed flow as a fluid: throughput at a loss rate. Barman 2004."""

    def __call__(self, *, p: Any = "1e-7..1e-3:5", rtt: Any = "120 ms") -> ModelTable: ...

class _ModelsHstcpWindow(RegistryEntry):
    """One HighSpeed flow as a fluid: window between two losses. Barman 2004."""

    def __call__(self, *, p: Any = "1e-5", rtt: Any = "120 ms", share: Any = "0..1:11") -> ModelTable: ...

class _ModelsSawtooth(RegistryEntry):
    """All windows cut at every overflow. Lakshman and Madhow 1997."""

    def __call__(
        self,
        *,
        law: Any = "highspeed",
        rate: Any = "1 Gbit/s",
        packet: Any = "1000 B",
        buffer: Any = "10..15000",
        rtt: Any = "120 ms",
        flows: Any = "10",
    ) -> ModelTable: ...

class _ModelsStaggered(RegistryEntry):
    """The largest window alone cut at every overflow. Andrew 2005."""

    def __call__(
        self,
        *,
        law: Any = "highspeed",
        rate: Any = "1 Gbit/s",
        packet: Any = "1000 B",
        buffer: Any = "10..15000",
        flows: Any = "10",
        rtt_min: Any = "115.5 ms",
        rtt_max: Any = "124.5 ms",
    ) -> ModelTable: ...

class _ModelsDroptailFixedPoint(RegistryEntry):
    """Flows and M/M/1/K agree on a load: drop-tail. Barman 2004."""

    def __call__(
        self,
        *,
        law: Any = "barman",
        delay: Any = "accepted",
        loss: Any = "blocking",
        rate: Any = "1 Gbit/s",
        packet: Any = "1000 B",
        buffer: Any = "12..12500:13",
        flows: Any = "10",
        rtt_min: Any = "115.5 ms",
        rtt_max: Any = "124.5 ms",
    ) -> ModelTable: ...

class _ModelsRedFixedPoint(RegistryEntry):
    """Flows and a queue of Poisson arrivals agree on a load: RED. Barman 2004."""

    def __call__(
        self,
        *,
        law: Any = "barman",
        delay: Any = "accepted",
        chain: Any = "thinned",
        min_th: Any = "0.4",
        max_th: Any = "1",
        p_max: Any = "0.1",
        gentle: Any = "no",
        rate: Any = "1 Gbit/s",
        packet: Any = "1000 B",
        buffer: Any = "125..12500:9",
        flows: Any = "10",
        rtt_min: Any = "115.5 ms",
        rtt_max: Any = "124.5 ms",
    ) -> ModelTable: ...

class _ModelsGaussian(RegistryEntry):
    """The Gaussian sum of many independent windows. Appenzeller 2004."""

    def __call__(
        self,
        *,
        law: Any = "reno",
        rate: Any = "1 Gbit/s",
        packet: Any = "1000 B",
        buffer: Any = "15..1500",
        target: Any = "0.99",
        flows: Any = "400",
        rtt_min: Any = "60 ms",
        rtt_max: Any = "180 ms",
    ) -> ModelTable: ...

class _ModelsSmallBuffer(RegistryEntry):
    """Paced flows and a very small buffer: loss of Poisson packets. Raina and Wischik 2005."""

    def __call__(
        self,
        *,
        law: Any = "reno",
        rate: Any = "1 Gbit/s",
        packet: Any = "1000 B",
        buffer: Any = "5..100:14",
        sizes: Any = "equal",
        flows: Any = "1000",
        rtt_min: Any = "115.5 ms",
        rtt_max: Any = "124.5 ms",
    ) -> ModelTable: ...

class _ModelsBacklogTarget(RegistryEntry):
    """A set number of packets of each flow in the queue. Jin 2004."""

    def __call__(
        self,
        *,
        law: Any = "fast",
        rate: Any = "1 Gbit/s",
        packet: Any = "1000 B",
        buffer: Any = "15000",
        flows: Any = "1,2,5,10,20,50",
    ) -> ModelTable: ...

class _ModelsFluid(RegistryEntry):
    """TCP and queue management as a fluid with delay. Misra 2000."""

    def __call__(
        self,
        *,
        time: Any = "0 s..30 s:61",
        law: Any = "reno",
        queue: Any = "red",
        rate: Any = "15 Mbit/s",
        packet: Any = "500 B",
        buffer: Any = "800",
        rtt: Any = "100 ms",
        flows: Any = "60",
        cuts: Any = "once",
        start: Any = "0.9",
        min_th: Any = "0.1875",
        max_th: Any = "0.875",
        p_max: Any = "0.1",
        weight: Any = "2e-4",
        target: Any = "15 ms",
    ) -> ModelTable: ...

class _ModelsRules(RegistryEntry):
    """Buffer rules. Villamizar 1994."""

    def __call__(
        self,
        *,
        rule: Any = ...,
        rate: Any = "1 Gbit/s",
        packet: Any = "1000 B",
        rtt_min: Any = "115.5 ms",
        rtt: Any = "120 ms",
        rtt_max: Any = "124.5 ms",
        delay: Any = "50 ms",
        flows: Any = "10",
        law: Any = "highspeed",
        queue: Any = "drop-tail",
        buffer: Any = "0",
        access: Any = "10 Gbit/s",
        other: Any = "no",
    ) -> ModelTable: ...

class _ModelsQueueBound(RegistryEntry):
    """Least queue after an overflow, and the largest bandwidth-delay product. Andrew 2005."""

    def __call__(
        self,
        *,
        rate: Any = "16 Mbit/s",
        packet: Any = "500 B",
        rtt_max: Any = "100 ms,150 ms",
        buffer: Any = "0..1000:11",
    ) -> ModelTable: ...

class _ModelsProcessorSharing(RegistryEntry):
    """Processor sharing: transfers that share a link equally. Auge and Roberts 2006."""

    def __call__(
        self, *, load: Any = "0..0.9:10", flows: Any = "4", size: Any = "1 MB", rate: Any = "50 Mbit/s"
    ) -> ModelTable: ...

class _ModelsPoissonLoss(RegistryEntry):
    """Loss of Poisson packets at a small buffer. Auge and Roberts 2006."""

    def __call__(
        self,
        *,
        load: Any = "0.5,0.55,0.6,0.65,0.7,0.75,0.8,0.85,0.9,0.95",
        buffer: Any = "20,100",
        target: Any = "0.01",
        packet: Any = "500 B",
        rate: Any = "2.5 Gbit/s",
    ) -> ModelTable: ...

class _ModelsMixed(RegistryEntry):
    """Bottlenecked flows beside background traffic. Auge and Roberts 2006."""

    def __call__(
        self,
        *,
        rate: Any = "50 Mbit/s",
        packet: Any = "1000 B",
        rtt: Any = "100 ms",
        background: Any = "0..0.9:10",
        offered: Any = "0.25",
        permanent: Any = "0",
        target: Any = "1e-3",
        chance: Any = "0.05",
    ) -> ModelTable: ...

class _ModelsEngset(RegistryEntry):
    """A closed population of users. Andrew 2005."""

    def __call__(
        self,
        *,
        users: Any = "20,50,100,150,200,300,400,500",
        think: Any = "2 s",
        session: Any = "100.5 packets",
        packet: Any = "500 B",
        rate: Any = "16 Mbit/s",
    ) -> ModelTable: ...

class _ModelsRecoveryTime(RegistryEntry):
    """Time to recover from a loss. Phillips and Hu 2006."""

    def __call__(
        self,
        *,
        law: Any = "phillips-hu",
        rtt: Any = "87.5 ms,100 ms,112.5 ms,125 ms",
        rate: Any = ...,
        mss: Any = "1500 B",
    ) -> ModelTable: ...

class _ModelsLossShare(RegistryEntry):
    """Rate for a period of synchronised losses. Phillips and Hu 2006."""

    def __call__(
        self,
        *,
        law: Any = "phillips-hu,nr-hstcp,reno",
        period: Any = "4 s",
        rtt: Any = "87.5 ms,100 ms,112.5 ms,125 ms",
        mss: Any = "1500 B",
    ) -> ModelTable: ...

class _ModelsConvergence(RegistryEntry):
    """Do synchronised losses even out rates?. Phillips and Hu 2006."""

    def __call__(
        self,
        *,
        law: Any = "highspeed,nr-hstcp,reno",
        rate_min: Any = "20 Mbit/s",
        rate_max: Any = "5 Gbit/s",
        rtt_min: Any = "75 ms",
        rtt_max: Any = "100 ms,150 ms,200 ms,250 ms",
        mss: Any = "1500 B",
    ) -> ModelTable: ...

class _Models(Registry[RegistryEntry]):
    response: _ModelsResponse
    hstcp: _ModelsHstcp
    hstcp_window: _ModelsHstcpWindow
    sawtooth: _ModelsSawtooth
    staggered: _ModelsStaggered
    droptail_fixed_point: _ModelsDroptailFixedPoint
    red_fixed_point: _ModelsRedFixedPoint
    gaussian: _ModelsGaussian
    small_buffer: _ModelsSmallBuffer
    backlog_target: _ModelsBacklogTarget
    fluid: _ModelsFluid
    rules: _ModelsRules
    queue_bound: _ModelsQueueBound
    processor_sharing: _ModelsProcessorSharing
    poisson_loss: _ModelsPoissonLoss
    mixed: _ModelsMixed
    engset: _ModelsEngset
    recovery_time: _ModelsRecoveryTime
    loss_share: _ModelsLossShare
    convergence: _ModelsConvergence

models: _Models
