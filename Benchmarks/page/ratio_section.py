"""Side by side: attachprep against peers and the floor, each claim with its limit."""

from page import tools_table
from page.bars import bar, behind, chart
from page.claim import absent, claims
from page.markup import element
from page.quantity import amount
from page.scale import Scale

# The right end of the chart, as a share of the limit; longer bars are cut.
END = 2.0


def section(report):
    found = claims(report)
    met = sum(claim.is_met for claim in found)
    return element(
        "section", element("h2", "Side by side"),
        element("p", "The same files with attachprep and with other tools or minimal programs, in alternating rounds "
                f"of one run. {met} of {len(found)} claims are met. A bar shows the share of the limit that a claim "
                "uses: shorter is better, and claims beyond the line are not met."),
        chart("Share of the limit", Scale(END), lambda value: f"{value:g}", [shown(claim) for claim in found],
              lines=[(1, "limit")], head=["is", "must be"], class_="chart wide"),
        [element("p", text, class_="note") for text in absent(report)],
        behind("The numbers", "Medians of alternating rounds",
               ["what", "attachprep", "against", "peer or floor", "ratio", "must be", ""],
               [numbers(claim) for claim in found]),
        tools_table.tools(report), id="side-by-side")


def shown(claim):
    kind, mark = ("met", "✓") if claim.is_met else ("missed", "✗")
    label = [element("span", mark, class_=kind), " ", claim.title,
             element("span", f" {claim.against}", class_="course")]
    pieces = bar(Scale(END), 0, claim.used, kind, claim.figure) if claim.used else None
    return label, pieces, [claim.figure, claim.bound]


def numbers(claim):
    return [claim.title, amount(claim.ours, claim.unit), claim.against, amount(claim.other, claim.unit),
            "–" if claim.ratio is None else f"{claim.ratio:.3f}", claim.bound,
            ("met", "met") if claim.is_met else ("not met", "missed")]
