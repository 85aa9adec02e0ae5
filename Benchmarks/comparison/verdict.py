"""Decides whether a row is unchanged, better, or worse by more than the error of measurement. Pure functions."""

# Tolerated relative change for the worse.
TOLERANCE = 0.15


class Verdict:
    """The result for a row."""

    REGRESSION, BETTER, SAME, NEW, ABSENT = "REGRESSION", "better", "same", "not recorded yet", "not installed"

    def __init__(self, row, kind, value=None, recorded=None, is_met=None):
        self.row, self.kind, self.value, self.recorded, self.is_met = row, kind, value, recorded, is_met

    def __str__(self):
        value = "" if self.value is None else f"{self.value:.4g}"
        recorded = "" if self.recorded is None else f"recorded {self.recorded:.4g}"
        limit = {True: "limit met", False: "limit NOT met", None: ""}[self.is_met]
        return f"{self.row:22} {value:>10}  {recorded:20} {self.kind:17} {limit}"


def verdicts(found, thresholds):
    """A verdict for each row of a report, including rows of peers that are not installed."""
    return [verdict(row, thresholds[row["row"]]) for row in found]


def verdict(row, threshold):
    """The verdict for one row."""
    if "notHere" in row:
        return Verdict(row["row"], Verdict.ABSENT)
    value, recorded = row["value"], threshold["recorded"]
    if threshold["measure"] == "ratio":
        kind = change(value, recorded, threshold["better"])
    else:
        kind = crossing(value, recorded, threshold)
    return Verdict(row["row"], kind, value, recorded, meets(value, threshold))


def change(value, recorded, better):
    """Compares a ratio with the recorded one."""
    if recorded is None:
        return Verdict.NEW
    worse, best = (value, recorded) if better == "less" else (recorded, value)
    if worse > best * (1 + TOLERANCE):
        return Verdict.REGRESSION
    return Verdict.BETTER if worse * (1 + TOLERANCE) < best else Verdict.SAME


def crossing(value, recorded, threshold):
    """Compares with the limit only, because seconds and bytes depend on the machine."""
    if recorded is None:
        return Verdict.NEW
    was, now = meets(recorded, threshold), meets(value, threshold)
    return Verdict.SAME if was == now else Verdict.BETTER if now else Verdict.REGRESSION


def meets(value, threshold):
    """Whether a value is within its limit."""
    return value <= threshold["limit"] if threshold["better"] == "less" else value >= threshold["limit"]
