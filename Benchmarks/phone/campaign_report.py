"""The results of a campaign as numbers."""

import statistics

from measure.stage import LIMITS


def report(entries, found, round_trips):
    """`found` is what each phone showed, by network and variant."""
    networks = {network: {variant: summary(results) for variant, results in variants.items()}
                for network, variants in found.items()}
    for variants in networks.values():
        for lines in variants.values():
            lines["saved"] = variants["raw"]["bytes"] - lines["bytes"]
    return {
        "roundTrips": round_trips, "limits": LIMITS, "networks": networks,
        "rawReasons": reasons(list(found.values())[-1]["raw"]),
        "notifications": [described(entry, index, found) for index, entry in enumerate(entries)],
    }


def summary(results):
    """Shares within each limit, the median time of attached media, and bytes."""
    lines = {}
    for limit in map(str, LIMITS):
        outcomes = [result[limit]["outcome"] for result in results]
        lines[limit] = {
            "attached": outcomes.count("attached") / len(outcomes),
            "attachedOrThumbnail": (len(outcomes) - outcomes.count("text")) / len(outcomes),
        }
    last = [result[str(LIMITS[-1])] for result in results]
    times = [result["seconds"] for result in last if result["outcome"] == "attached"]
    lines["medianSeconds"] = statistics.median(times) if times else None
    lines["bytes"] = sum(result["bytes"] for result in last)
    return lines


def reasons(results):
    count = {}
    for result in results:
        last = result[str(LIMITS[-1])]
        if last["outcome"] == "text":
            count[last["why"]] = count.get(last["why"], 0) + 1
    return dict(sorted(count.items(), key=lambda item: -item[1]))


def described(entry, index, found):
    return {"name": entry["name"], "dialect": entry["dialect"],
            "prepared": {rendition: {"seconds": entry[rendition]["seconds"], "notes": entry[rendition]["notes"]}
                         for rendition in ["original", "display"]},
            "shown": {network: {variant: results[index] for variant, results in variants.items()}
                      for network, variants in found.items()}}
