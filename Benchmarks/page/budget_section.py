"""The time from a source to its attachment, by stage and network."""

from measure.stage import LIMITS, STAGES, WAITING, WORK
from page.bars import behind
from page.legend import legend
from page.markup import element, empty
from page.quantity import milliseconds
from page.stage_chart import NAMES, stage_chart
from page.table import table

NETWORKS = {"3g": "3G", "lte": "LTE", "wifi": "Wi-Fi", "unshaped": "not shaped"}


def section(report):
    networks = [name for name in NETWORKS if name in report["networks"]]
    return element(
        "section", element("h2", "From a source to its attachment"),
        element("p", "A warm worker prepares one attachment after another. Each source has a different URL on an https "
                "server with the rate and round trip of the network; there are no caches. The time is measured from "
                "the start of a job until its files are published, including waiting for other jobs."),
        legend([("soon", "within 8 s (p99)"), ("late", "within 30 s"), ("never", "not within 30 s")]),
        overview(report, networks),
        element("h3", "Stage by stage"),
        element("p", "Bars show the median (p50) of each stage. Stages overlap: a source is identified while it "
                "arrives, so a bar may be longer than the total. The marks below it show the total."),
        legend([*[(f"s-{name}", NAMES[name]) for name in WAITING], *[(f"s-{name}", NAMES[name]) for name in WORK],
                ("s-queue", NAMES["queue"])]),
        element("p", "● p50  ○ p95  | p99", class_="note"),
        tabs(report, networks), id="budget")


def overview(report, networks):
    """An overview of all cases on all networks."""
    return table("Time until the attachment is ready: p50, and p99 below it (p95 if there are too few samples)",
                 ["source", *[NETWORKS[name] for name in networks]],
                 [[case_label(case), *[glance(case["networks"].get(name)) for name in networks]]
                  for case in report["cases"]], class_="glance")


def case_label(case):
    return [element("b", case["kind"]), f" {case['what']} ", element("span", case["course"], class_="course")]


def glance(found):
    """p50 and the highest available percentile, colored by whether it is within the limits."""
    if not found:
        return "–"
    whole = found["whole"]
    name = "p99" if whole["p99"] is not None else "p95" if whole["p95"] is not None else None
    last = whole[name or "p50"]
    small = [milliseconds(last), element("i", " (p95)") if name == "p95" else None] if name else ""
    return [element("span", milliseconds(whole["p50"])), element("small", small)], verdict(last)


def verdict(value):
    if value == "never":
        return "never"
    return "soon" if value <= LIMITS[0] * 1000 else "late" if value <= LIMITS[-1] * 1000 else "never"


def tabs(report, networks):
    """Tabs for the networks without a script: radio buttons before their panels."""
    buttons = [[empty("input", type="radio", name="network", id=f"tab-{name}", checked=name == networks[0]),
                element("label", NETWORKS[name], for_=f"tab-{name}")] for name in networks]
    return element("fieldset", element("legend", "Network of the origin", class_="unseen"), buttons,
                   [panel(report, name) for name in networks], class_="tabs")


def panel(report, name):
    cases = [(case, case["networks"][name]) for case in report["cases"] if name in case["networks"]]
    caption = f"Milliseconds on {NETWORKS[name]}: each stage, the total, and until the caller received the response"
    return element("div", stage_chart(f"Origins on {described(report, name)}", cases),
                   behind("The numbers", caption,
                          ["source", "", *[NAMES[stage] for stage in STAGES], "whole", "caller", "jobs"],
                          [line for case, found in cases for line in lines(case, found)], class_="triples"),
                   class_=f"panel panel-{name}")


def described(report, name):
    network = report["networks"][name]
    if not network["kilobits"]:
        return "loopback, not shaped"
    return f"{NETWORKS[name]}: {network['kilobits'] / 1000:g} Mbit/s, {network['milliseconds']} ms round trip"


def lines(case, found):
    """p50, p95 and p99 of each stage."""
    for rank in ["p50", "p95", "p99"]:
        label = case_label(case) if rank == "p50" else element("span", case["name"], class_="unseen")
        ends = ", ".join(f"{number} {name}" for name, number in found["outcomes"].items()) if rank == "p50" else ""
        yield [label, rank, *[plain(found["stages"][stage][rank]) for stage in STAGES],
               plain(found["whole"][rank]), plain(found["answer"][rank]), ends]


def plain(value):
    if value is None or isinstance(value, str):
        return value or "–"
    return f"{value:.1f}" if value < 100 else f"{value:.0f}"
