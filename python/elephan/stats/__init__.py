"""Statistics of simulation output: confidence intervals, stopping rules, and the end of the warm-up.

All are pure functions on arrays; each function names its source. `interval`, `sequential` and `paired` are for
independent replications; `batches`, `correlation` and `truncation` are for a single correlated series.
"""

from elephan.stats.batches import BatchMeans, batch_means
from elephan.stats.correlation import autocorrelation, effective_size
from elephan.stats.interval import CONFIDENCE, Estimate, estimate, estimates, finite, t_quantile
from elephan.stats.monotone import isotonic
from elephan.stats.paired import PairedDifference, paired
from elephan.stats.quantiles import ValueInterval, bootstrap_quantile, ecdf, histogram_quantile, weighted_quantile
from elephan.stats.sequential import is_precise, replications_needed, sample_until
from elephan.stats.truncation import mser5

__all__ = [
    "CONFIDENCE",
    "BatchMeans",
    "Estimate",
    "PairedDifference",
    "ValueInterval",
    "autocorrelation",
    "batch_means",
    "bootstrap_quantile",
    "ecdf",
    "effective_size",
    "estimate",
    "estimates",
    "finite",
    "histogram_quantile",
    "is_precise",
    "isotonic",
    "mser5",
    "paired",
    "replications_needed",
    "sample_until",
    "t_quantile",
    "weighted_quantile",
]
