"""Notifications that arrive on phones: the campaign, raw and prepared."""

from page.bars import bar, behind, chart
from page.legend import legend
from page.markup import element
from page.quantity import milliseconds, share, size
from page.scale import Scale
from phone.campaign_text import NAMES

VARIANTS = {"raw": "unprepared", "original": "prepared", "display": "prepared, display"}


def section(report):
    limits = [str(limit) for limit in report["limits"]]
    count = len(report["notifications"])
    entries = [(f"in{limit}", f"attached within {limit} s") for limit in limits]
    return element(
        "section", element("h2", "What arrives"),
        element("p", f"{count} typical notifications on phones that download over 3G, LTE and Wi\u2011Fi. iOS ends the "
                "extension after 8, 10 or 30 s; attachments that have not arrived by then are not shown."),
        legend([*entries, ("thumb", "only the thumbnail")]),
        chart("Notifications that arrive with their attachment", Scale(1), lambda value: f"{value * 100:.0f} %",
              [arrival(network, variant, found, limits) for network, variant, found in rows(report)],
              head=[f"{limits[0]} s", f"{limits[-1]} s"]),
        fetched(report),
        behind("The numbers", "Share of notifications with attachment (attachment or thumbnail), bytes downloaded",
               ["network, sent", *[f"within {limit} s" for limit in limits], "median", "downloaded", "saved"],
               [numbers(network, variant, found, limits) for network, variant, found in rows(report)]),
        id="arrival")


def rows(report):
    for network, variants in report["networks"].items():
        for variant, found in variants.items():
            yield network, variant, found


def label(network, variant):
    return [element("b", NAMES.get(network, network)), f" {VARIANTS[variant]}"]


def arrival(network, variant, found, limits):
    """A segment for each limit after the previous one; thumbnails after the last."""
    scale, start, pieces = Scale(1), 0, []
    for limit in limits:
        end = found[limit]["attached"]
        pieces.append(bar(scale, start, end, f"in{limit}", f"within {limit} s: {share(end)}"))
        start = max(start, end)
    end = found[limits[-1]]["attachedOrThumbnail"]
    pieces.append(bar(scale, start, end, "thumb", f"attachment or thumbnail: {share(end)}"))
    return label(network, variant), pieces, [share(found[limit]["attached"]) for limit in [limits[0], limits[-1]]]


def fetched(report):
    """The chart of downloaded bytes."""
    most = max(found["bytes"] for _, _, found in rows(report)) or 1
    scale = Scale(most / 1e6)
    return chart("Megabytes that all phones downloaded", scale, lambda value: f"{value:g}",
                 [(label(network, variant), [bar(scale, 0, found["bytes"] / 1e6, "bytes", size(found["bytes"]))],
                   [size(found["bytes"]), saved(found, variant)]) for network, variant, found in rows(report)],
                 head=["downloaded", "saved"])


def saved(found, variant):
    return "" if variant == "raw" else size(found["saved"]) if found["saved"] >= 0 else f"−{size(-found['saved'])}"


def numbers(network, variant, found, limits):
    """One row of the table."""
    median = found["medianSeconds"]
    return [label(network, variant),
            *[f"{share(found[limit]['attached'])} ({share(found[limit]['attachedOrThumbnail'])})" for limit in limits],
            milliseconds(None if median is None else median * 1000), size(found["bytes"]), saved(found, variant)]
