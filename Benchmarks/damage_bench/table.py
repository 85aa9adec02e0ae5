"""The results as Markdown: one run, or two side by side."""

from case import INTACT, KINDS, ODDITY
from judge import SAME, SLIGHT
from methods import METHODS, catches
from product import UNNOTICED

CONTROLS = [INTACT, ODDITY]


def is_lost(row):
    """Whether a viewer would lose something."""
    return row["class"] not in (SAME, SLIGHT) and row["damage"] not in CONTROLS


def is_caught(row):
    return row["became"] != UNNOTICED


def is_false_alarm(row):
    return is_caught(row) and (row["class"] == SAME or row["damage"] in CONTROLS)


def groups(rows):
    """Rows by kind and damage in order, and by kind."""
    for kind in KINDS:
        of_kind = [row for row in rows if row["kind"] == kind]
        for damage in dict.fromkeys(row["damage"] for row in of_kind):
            yield kind, damage, [row for row in of_kind if row["damage"] == damage]
        yield kind, "**all damaged**", [row for row in of_kind if row["damage"] not in CONTROLS]


def share(part, whole):
    return f"{len(part)}" if len(part) == len(whole) else f"**{len(part)}**"


def single(report):
    """How many files lost something and how many of them are caught, by attachprep and by other methods."""
    return [*head("kind | damage"), *[line(f"{kind} | {damage}", found) for kind, damage, found in
                                      groups(report["rows"])]]


def by_format(report):
    """The same for all damaged files, by format."""
    damaged = [row for row in report["rows"] if row["damage"] not in CONTROLS]
    formats = dict.fromkeys(row["format"] for row in damaged)
    return [*head("format"), *[line(name, [row for row in damaged if row["format"] == name]) for name in formats],
            line("**all**", damaged)]


def head(first):
    names = f"| {first} | files | lost | caught | slight | caught | same | false alarms | " + " | ".join(METHODS) + " |"
    return [names, "|" + " --- |" * len(first.split("|")) + " --: |" * (7 + len(METHODS))]


def line(name, rows):
    lost = [row for row in rows if is_lost(row)]
    slight = [row for row in rows if row["class"] == SLIGHT and row["damage"] not in CONTROLS]
    same = [row for row in rows if row["class"] == SAME or row["damage"] in CONTROLS]
    cells = [name, len(rows), len(lost), share(caught(lost), lost), len(slight), len(caught(slight)), len(same),
             alarms(same), *[of_method(method, lost, same) for method in METHODS]]
    return "| " + " | ".join(map(str, cells)) + " |"


def caught(rows):
    return [row for row in rows if is_caught(row)]


def alarms(rows):
    """Number of undamaged files that were not delivered unchanged, by what happened to them."""
    found = caught(rows)
    if not found:
        return "0"
    kinds = {name: sum(row.get("delivered") == name for row in found) for name in ["rejected", "encoded", "copied"]}
    return f"{len(found)} ({', '.join(f'{count} {name}' for name, count in kinds.items() if count)})"


def of_method(method, lost, same):
    """Number of caught files that lost something; after a plus the number of false alarms."""
    found = [row for row in lost if catches(row["noticed"], method)]
    wrong = sum(catches(row["noticed"], method) for row in same)
    return share(found, lost) + (f" +{wrong}" if wrong else "")


def cost(report):
    inspect = {kind: sum(row["inspect"] for row in report["rows"] if row["kind"] == kind) for kind in KINDS}
    words = ", ".join(f"{kind} {value / 1000:.1f} s" for kind, value in inspect.items())
    return (f"{report['label']}: {report['cost']['files']} files in {report['cost']['wallSeconds']:.1f} s, "
            f"{report['cost']['cpuSeconds']:.1f} s of processor time; inspection, summed: {words}")


def beside(first, second):
    """Comparison of two runs over the same files."""
    names = {row["name"] for row in first["rows"]} & {row["name"] for row in second["rows"]}
    both = [[row for row in report["rows"] if row["name"] in names] for report in (first, second)]
    labels = [first["label"], second["label"]]
    found = ["| kind | damage | files | lost | " + " | ".join(f"caught {label}" for label in labels) + " | "
             + " | ".join(f"false alarms {label}" for label in labels) + " |", "| --- | --- |" + " --: |" * 6]
    found += [pair(f"{kind} | {damage}", before, after)
              for (kind, damage, before), (_, _, after) in zip(*map(groups, both))]
    return [*found, "", cost(first), cost(second), "", *changes(*both)]


def pair(name, *both):
    lost = [[row for row in rows if is_lost(row)] for rows in both]
    wrong = [[row for row in rows if is_false_alarm(row)] for rows in both]
    cells = [name, len(both[0]), len(lost[0]), *[share(caught(rows), rows) for rows in lost],
             *[alarms(rows) for rows in wrong]]
    return "| " + " | ".join(map(str, cells)) + " |"


def changes(first, second):
    """Files that one run catches and the other misses."""
    before = {row["name"]: is_caught(row) for row in first if is_lost(row)}
    after = {row["name"]: is_caught(row) for row in second if is_lost(row)}
    lines = []
    for title, names in [("newly caught", [name for name in after if after[name] and not before[name]]),
                         ("newly missed", [name for name in after if before[name] and not after[name]])]:
        lines.append(f"{title}: {len(names)}" + "".join(f"\n- {name}" for name in names))
    return lines
