"""The report of the budget benchmark as text."""

from measure.stage import STAGES


def lines(report):
    for network in report["networks"]:
        yield f"{network}: milliseconds; medians (p50) of the stages, which overlap"
        yield (f"  {'':32}{'p50':>8}{'p95':>8}{'p99':>8}  " + "".join(f"{name[:8]:>9}" for name in STAGES)
               + "  delivered")
        for case in report["cases"]:
            if found := case["networks"].get(network):
                yield f"  {case['name']:32}{times(found['whole'])}  {stages(found)}  {delivered(found)}"


def overview(report):
    """The total time of each source on each network: p50 and p99."""
    yield f"{'seconds until the files are ready':34}" + "".join(f"{name:^20}" for name in report["networks"])
    yield f"{'':34}" + f"{'p50':>8}{'p99':>11} " * len(report["networks"])
    for case in report["cases"]:
        cells = [pair(case["networks"].get(name)) for name in report["networks"]]
        yield f"{case['name']:34}" + "".join(f"{middle:>8}{last:>11} " for middle, last in cells)


def pair(found):
    """The p99, or a marked p95 if there are too few samples."""
    if not found:
        return "", ""
    whole = found["whole"]
    last = seconds(whole["p99"]) or (whole["p95"] and f"{seconds(whole['p95'])} p95") or "-"
    return seconds(whole["p50"]), last


def seconds(value):
    if value is None or isinstance(value, str):
        return value
    return f"{value / 1000:.3f}" if value < 1000 else f"{value / 1000:.2f}" if value < 10_000 else f"{value / 1000:.1f}"


def times(whole):
    return "".join(f"{shown(whole[name]):>8}" for name in ["p50", "p95", "p99"])


def stages(found):
    return "".join(f"{shown(found['stages'][name]['p50']):>9}" for name in STAGES)


def delivered(found):
    outcomes = ", ".join(f"{number} {name}" for name, number in found["outcomes"].items())
    return f"{found['delivered']}/{found['samples']} ({outcomes})"


def shown(value):
    if value is None:
        return "-"
    return value if isinstance(value, str) else f"{value:.1f}" if value < 100 else f"{value:.0f}"
