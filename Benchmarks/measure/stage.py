"""The stages of a job, in the order in which they begin, and their percentiles."""

import math

from measure.percentile import percentiles

WAITING = ["dns", "connect", "tls", "firstByte", "transfer"]
WORK = ["identify", "inspect", "render", "publish"]
STAGES = [*WAITING, *WORK, "queue"]
# What a phone's extension is known to have, and what it has by Apple's word.
LIMITS = [8, 10, 30]


def summary(samples):
    """Of the samples of one case on one network. A job without an attachment never arrived, however soon it ended."""
    delivered = [sample for sample in samples if sample["delivered"] is not None]
    wholes = [whole(sample) if sample["delivered"] is not None else math.inf for sample in samples]
    return {
        "samples": len(samples), "delivered": len(delivered), "outcomes": count(samples, "outcome"),
        "codes": count(samples, "code"), "bytes": middle(delivered, "delivered"),
        "stages": {stage: percentiles([sample["timings"][stage] for sample in delivered]) for stage in STAGES},
        "whole": finite(percentiles(wholes)),
        "answer": percentiles([sample["answer"] for sample in delivered]),
        "within": {str(limit): sum(value <= limit * 1000 for value in wholes) / len(samples) for limit in LIMITS},
    }


def whole(sample):
    """Until the files are in place. A manifest's total is time of work: waiting for other jobs is counted beside it."""
    return sample["timings"]["total"] + sample["timings"]["queue"]


def finite(values):
    """JSON has no infinity: "never" says that so many did not arrive at all."""
    return {name: "never" if value == math.inf else value for name, value in values.items()}


def count(samples, key):
    values = [sample[key] for sample in samples if sample[key] is not None]
    return {value: values.count(value) for value in sorted(set(values))}


def middle(samples, key):
    values = sorted(sample[key] for sample in samples)
    return values[len(values) // 2] if values else None
