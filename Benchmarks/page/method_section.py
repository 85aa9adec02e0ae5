"""How the measurements were made, and on which machine."""

from page.budget_section import NETWORKS
from page.markup import element
from page.table import table


def section(budget, campaign, comparison):
    said = [element("li", note) for note in notes(budget, campaign)]
    return element("section", element("h2", "How it was measured"), element("ul", said), runs(budget),
                   sources(campaign, comparison), id="method")


def notes(budget, campaign):
    if budget:
        yield ("Origins speak https (TLS 1.3, a full handshake each time) through a shaping relay on loopback. "
               "Loopback connects immediately, so the round trip of TCP's handshake is counted under TLS; connect is "
               "almost zero.")
        yield name_note(budget)
        yield ("There is no packet loss and no slow start. Each download has a separate link; the number at a time is "
               "in the table below.")
        yield ("Percentiles are nearest ranks over all jobs; a job without an attachment counts as never ready. p95 "
               "needs 20 samples, p99 a hundred; with fewer there is a dash.")
    if campaign:
        yield (f"Phones make {campaign['roundTrips']} round trips until a response begins. The bytes of aborted "
               "downloads are counted as if the link had been fully used until then.")


def name_note(budget):
    if all(run["hasNameServer"] for run in budget["runs"]):
        return ("Names are resolved through the system's resolver by a name server that answers one round trip later, "
                "in a network namespace.")
    return "This system allows no namespaces, so addresses were set in advance, and lookups took no time."


def runs(budget):
    if not budget:
        return None
    return table("Runs of the budget", ["at", "network", "sources", "at a time", "seconds", "cores busy",
                                        "others' work", "processor", "cores", "kernel", "attachprep"],
                 [[run["at"], NETWORKS[run["network"]], "that are encoded" if run["heavy"] else "the rest",
                   str(run["inFlight"]), f"{run['seconds']:.0f}", f"{run['coresBusy'] * 100:.0f} %",
                   f"{run['others'] * 100:.0f} %", run["processor"], str(run["cores"]), run["kernel"],
                   run["attachprep"] or ""] for run in budget["runs"]])


def sources(campaign, comparison):
    """When the other parts were measured."""
    machine = (campaign or {}).get("machine")
    parts = [f"Campaign: {machine['at']}, {machine['processor']}, {machine['cores']} cores." if machine else None,
             f"Side by side: {comparison['at']}." if comparison and comparison.get("at") else None]
    return element("p", " ".join(part for part in parts if part))
