"""Percentiles by nearest rank; None if there are too few samples."""

import math

# Share, and the minimum number of samples: a p99 of fewer than a hundred would be their maximum.
RANKS = {"p50": (0.50, 1), "p95": (0.95, 20), "p99": (0.99, 100)}


def percentiles(values):
    """p50, p95 and p99; None for those with too few samples."""
    ordered = sorted(values)
    return {name: nearest_rank(ordered, share) if len(ordered) >= fewest else None
            for name, (share, fewest) in RANKS.items()}


def nearest_rank(ordered, share):
    return ordered[math.ceil(len(ordered) * share) - 1]
