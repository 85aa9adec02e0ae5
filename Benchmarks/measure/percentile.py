"""Percentiles by nearest rank, and none that so few samples cannot tell."""

import math

# Of all samples, and how many there must be: a p99 of fewer than a hundred would be their slowest under another name.
RANKS = {"p50": (0.50, 1), "p95": (0.95, 20), "p99": (0.99, 100)}


def percentiles(values):
    """p50, p95 and p99; None where there are too few samples."""
    ordered = sorted(values)
    return {name: nearest_rank(ordered, share) if len(ordered) >= fewest else None
            for name, (share, fewest) in RANKS.items()}


def nearest_rank(ordered, share):
    return ordered[math.ceil(len(ordered) * share) - 1]
