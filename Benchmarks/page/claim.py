"""A claim of the side-by-side run, compared with its limit."""

import dataclasses

from page.quantity import amount


@dataclasses.dataclass(frozen=True)
class Claim:
    title: str
    against: str
    ours: float | None
    other: float | None
    ratio: float | None
    unit: str
    limit: float
    # Whether the limit applies to the ratio instead of attachprep's value.
    is_of_ratio: bool
    is_less_better: bool
    is_met: bool

    @property
    def value(self):
        return self.ratio if self.is_of_ratio else self.ours

    @property
    def used(self):
        """Share of the limit that is used: 1 is the limit, whether less or more is better."""
        if not self.value:
            return None
        return self.value / self.limit if self.is_less_better else self.limit / self.value

    @property
    def figure(self):
        return self.written(self.value)

    @property
    def bound(self):
        return f"{'≤' if self.is_less_better else '≥'} {self.written(self.limit)}"

    def written(self, value):
        if value is None:
            return "–"
        return f"{value:.2f}" if self.is_of_ratio else amount(value, self.unit)


def claims(report):
    """The claims of the measured rows."""
    return [claim(row) for row in (report or {}).get("rows", []) if "limit" in row]


def claim(row):
    limit = row["limit"]
    return Claim(row["title"], row.get("against") or "", row.get("ours"), row.get("other"), row.get("ratio"),
                 row.get("unit") or "", limit["limit"], "ratio" in limit.get("measure", "ratio"),
                 limit.get("better", "less") == "less", bool(row.get("isMet")))


def absent(report):
    """The rows that were not measured, with the reason."""
    return [f"{row['title']}, {row.get('against', '')}: not installed, {row['notHere']}" for row in report["rows"]
            if "notHere" in row]
