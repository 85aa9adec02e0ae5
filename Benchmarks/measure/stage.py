"""The stages of a job in order of their start, and their percentiles."""

import math

from measure.percentile import percentiles

WAITING = ["dns", "connect", "tls", "firstByte", "transfer"]
WORK = ["identify", "inspect", "render", "publish"]
STAGES = [*WAITING, *WORK, "queue"]
# Time of the extension on a phone: observed values, and the value that Apple documents.
LIMITS = [8, 10, 30]


def summary(samples):
    """Percentiles of one case on one network. A job without an attachment counts as never arrived."""
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
    """Time until the files are ready: the manifest's total plus the time in the queue."""
    return sample["timings"]["total"] + sample["timings"]["queue"]


def finite(values):
    """JSON has no infinity: "never" means that this share did not arrive."""
    return {name: "never" if value == math.inf else value for name, value in values.items()}


def count(samples, key):
    values = [sample[key] for sample in samples if sample[key] is not None]
    return {value: values.count(value) for value in sorted(set(values))}


def middle(samples, key):
    values = sorted(sample[key] for sample in samples)
    return values[len(values) // 2] if values else None
