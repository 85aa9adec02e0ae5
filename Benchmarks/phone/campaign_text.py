"""The results of a campaign as text, and as the table of docs/explanation/arrival.md."""

from measure.stage import LIMITS

NAMES = {"3g": "3G", "lte": "LTE", "wifi": "Wi-Fi"}
VARIANTS = {"raw": "unprepared", "original": "prepared", "display": "prepared, `--rendition display`"}


def lines(report):
    yield (f"{len(report['notifications'])} notifications, {report['roundTrips']} round trips until a response begins; "
           "attached (attached or thumbnail) within")
    yield f"{'':18}" + "".join(f"{limit:>14} s   " for limit in LIMITS) + "  median downloaded      saved"
    for network, variant, found in rows(report):
        shares = "".join(f"{share(found[str(limit)]['attached'])} ({share(found[str(limit)]['attachedOrThumbnail'])})  "
                         for limit in LIMITS)
        median = "      -" if found["medianSeconds"] is None else f"{found['medianSeconds']:6.2f} s"
        yield f"{network:6}{variant:10}  {shares}{median} {megabytes(found['bytes'])}  {saving(found, variant):>9}"
    yield (f"reasons for raw notifications without media within {LIMITS[-1]} s on {list(report['networks'])[-1]}: "
           + (", ".join(f"{why} {number}" for why, number in report["rawReasons"].items()) or "none"))


def markdown(report):
    yield line("network", "sent", *[f"within {limit} s" for limit in LIMITS], "downloaded", "saved")
    yield line("---", "---", *["--:"] * (len(LIMITS) + 2))
    for network, variant, found in rows(report):
        name = NAMES.get(network, network) if variant == "raw" else ""
        yield line(name, VARIANTS[variant], *[cell(found[str(limit)]) for limit in LIMITS],
                   megabytes(found["bytes"]).strip(), saving(found, variant).strip())


def line(*cells):
    return "|" + "".join(f" {cell} |" if cell else " |" for cell in cells)


def rows(report):
    for network, variants in report["networks"].items():
        for variant, found in variants.items():
            yield network, variant, found


def cell(found):
    """With the share including thumbnails in parentheses if it differs."""
    attached, either = share(found["attached"]).strip(), share(found["attachedOrThumbnail"]).strip()
    return attached if attached == either else f"{attached} ({either})"


def share(value):
    return f"{value * 100:5.1f} %"


def megabytes(count):
    return f"{count / 1e6:8.1f} MB"


def saving(found, variant):
    return "" if variant == "raw" else megabytes(found["saved"])
