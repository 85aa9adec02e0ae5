"""The stages of each source as one bar, with the total as marks below it."""

from measure.stage import LIMITS, STAGES
from page.bars import bar, chart
from page.markup import element
from page.quantity import milliseconds
from page.scale import Scale

NAMES = {"dns": "DNS", "connect": "connect", "tls": "TLS", "firstByte": "first byte", "transfer": "transfer",
         "identify": "identify", "inspect": "inspect", "render": "render", "publish": "publish", "queue": "queue"}
LINES = [(limit * 1000, f"{limit} s") for limit in (LIMITS[0], LIMITS[-1])]


def stage_chart(title, cases):
    """`cases` are pairs of case and results."""
    scale = Scale(end([found for _, found in cases]))
    beyond = [name for value, name in LINES if not scale.holds(value)]
    note = f"{' and '.join(beyond)} {'is' if len(beyond) == 1 else 'are'} beyond the right edge" if beyond else None
    return chart(title, scale, lambda value: f"{value / 1000:g} s",
                 [row(scale, case, found) for case, found in cases], lines=LINES, head=["p50", "p95", "p99"], note=note)


def end(cases):
    """The largest value, or the last limit if some never arrived, plus a margin."""
    values = [value for found in cases for value in [*found["whole"].values(), stacked(found)] if value is not None]
    return max((LINES[-1][0] if value == "never" else value for value in values), default=1000) * 1.03


def stacked(found):
    return sum(found["stages"][stage]["p50"] or 0 for stage in STAGES)


def row(scale, case, found):
    label = [element("b", case["kind"]), f" {case['what']} ", element("span", case["course"], class_="course")]
    if not found["delivered"]:
        return label, [element("text", "none within its time", x="0", y="4", class_="first none")], ["never", "", ""]
    return label, [pieces(scale, found), marks(scale, found["whole"])], [milliseconds(value) for value in
                                                                         found["whole"].values()]


def pieces(scale, found):
    """Consecutive segments, as long as the median of each stage."""
    start, shapes = 0, []
    for stage in STAGES:
        length = found["stages"][stage]["p50"]
        shapes.append(bar(scale, start, start + length, f"s-{stage}", f"{NAMES[stage]} {milliseconds(length)}", y=-12))
        start += length
    return shapes


def marks(scale, whole):
    """p50 as a dot, p95 as a ring, p99 as a bar, connected by a line; open-ended for "never"."""
    found = {name: scale.end if value == "never" else value for name, value in whole.items() if value is not None}
    shapes = [element("line", x1=scale.at(found["p50"]), x2=scale.at(max(found.values())), y1="8", y2="8",
                      class_="span")]
    if "p95" in found:
        shapes.append(element("circle", element("title", f"p95 {milliseconds(whole['p95'])}"),
                              cx=scale.at(found["p95"]), cy="8", r="3", class_="ring"))
    if "p99" in found:
        shapes.append(element("line", element("title", f"p99 {milliseconds(whole['p99'])}"), x1=scale.at(found["p99"]),
                              x2=scale.at(found["p99"]), y1="4", y2="12", class_="stroke"))
    shapes.append(element("circle", element("title", f"p50 {milliseconds(whole['p50'])}"), cx=scale.at(found["p50"]),
                          cy="8", r="3", class_="dot"))
    return shapes
