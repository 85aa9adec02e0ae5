"""The key figures of the page."""

from page.claim import claims
from page.markup import element
from page.quantity import milliseconds, share, size
from phone.campaign_text import NAMES

# The most common source, and the most common network of phones.
USUAL_CASE, USUAL_NETWORK = "JPEG 3 MP, passed", "lte"


def key_figures(campaign, budget, comparison):
    found = [*arrival(campaign), *usual(budget), *held(comparison)]
    return element("dl", [element("div", element("dt", name), element("dd", value), element("dd", note, class_="note"))
                          for name, value, note in found], class_="key") if found else None


def arrival(campaign):
    """Key figures of the slowest network."""
    if not campaign:
        return
    network, variants = next(iter(campaign["networks"].items()))
    limit = str(campaign["limits"][0])
    name = NAMES.get(network, network)
    yield (f"attached within {limit} s on {name}", share(variants["display"][limit]["attached"]),
           f"{share(variants['raw'][limit]['attached'])} unprepared")
    last, variants = list(campaign["networks"].items())[-1]
    yield (f"downloaded by phones on {NAMES.get(last, last)}", size(variants["display"]["bytes"]),
           f"{size(variants['raw']['bytes'])} unprepared")


def usual(budget):
    case = next((case for case in (budget or {}).get("cases", []) if case["name"] == USUAL_CASE), None)
    found = case and case["networks"].get(USUAL_NETWORK)
    if found:
        last = next((name for name in ["p99", "p95"] if found["whole"][name] is not None), "p50")
        yield ("3 MP photo from an LTE origin, p50", milliseconds(found["whole"]["p50"]),
               f"{last} {milliseconds(found['whole'][last])}")


def held(comparison):
    found = claims(comparison)
    if found:
        yield "claims met side by side", f"{sum(claim.is_met for claim in found)} of {len(found)}", ""
