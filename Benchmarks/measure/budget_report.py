"""The report of the budget benchmark: percentiles of all samples, and the machine."""

from measure import stage
from media.case import CASES


def report(samples, runs, networks, budget_seconds):
    """Cases and networks in the order of their tables, without those that were not measured."""
    found = {network: {case.name: [] for case in CASES} for network in networks}
    for sample in samples:
        if sample["case"] in found.get(sample["network"], {}):
            found[sample["network"]][sample["case"]].append(sample)
    measured = [network for network in networks if any(found[network].values())]
    return {
        "budgetSeconds": budget_seconds, "runs": runs,
        "networks": {name: {"kilobits": networks[name].kilobits, "milliseconds": networks[name].milliseconds}
                     for name in measured},
        "cases": [described(case, {name: stage.summary(found[name][case.name]) for name in measured
                                   if found[name][case.name]}) for case in CASES],
    }


def described(case, networks):
    return {"name": case.name, "kind": case.kind, "what": case.what, "course": case.course, "file": case.file,
            "heavy": case.heavy, "bytes": case.bytes, "networks": networks}
