"""The generated parts that come from declarations in Sources and from the alerts."""

import functools
import re

from program import ROOT
from swift_limits import all_limits, shown
from text import cell, code, sentence, table


def source(path):
    return (ROOT / path).read_text(encoding="utf-8")


def cases(text):
    """The cases of an enumeration with string values: name, value and documentation; each must have all three."""
    found = re.findall(r'((?:^ +///.*\n)+)^ +case `?(\w+)`?(?: = "(.*)")?$', text, re.MULTILINE)
    count = len(re.findall(r"^ +case `?\w+`?(?: = \".*\")?$", text, re.MULTILINE))
    if len(found) != count:
        raise SystemExit(f"docs: {count - len(found)} cases have no documentation comment: {text[:60]}…")
    return [(name, value or name, " ".join(line.strip().removeprefix("///").strip() for line in lines.splitlines()))
            for lines, name, value in found]


def error_codes():
    text = source("Sources/Core/AttachPrepModel/AttachPrepError.swift")
    declared = cases(re.search(r"enum ErrorCode.*?\n\n    /// Whether the same", text, re.DOTALL)[0])
    facts = re.findall(r"case \.(\w+): Row\((\d+)(?:, apple: (\d+))?(, retryable: true)?\)", text)
    facts = {name: row for name, *row in facts}
    rows = []
    for name, value, words in declared:
        status, apple, retryable = facts[name]
        rows.append([code(value), cell(words), "yes" if retryable else "no", status, apple])
    return table(["code", "meaning", "retry", "status", "Apple"], rows)


def warnings():
    text = source("Sources/Core/AttachPrepModel/Manifest.swift")
    declared = re.search(r"struct PreparationWarning.*?\n    }\n", text, re.DOTALL)[0]
    return table(["code", "meaning"], [[code(value), cell(words)] for _, value, words in cases(declared)])


def payload_warnings():
    text = source("Sources/Payloads/RichPush/Payload/PayloadWarning.swift")
    declared = cases(re.search(r"enum Code: String.*?\n    }\n", text, re.DOTALL)[0])
    levels = {}
    for names, level in re.findall(r"case ((?:\.\w+,?\s*)+):\s*\.(\w+)", text[text.index("var level:"):]):
        levels |= {name: level for name in re.findall(r"\w+", names)}
    return table(["code", "level", "meaning"],
                 [[code(value), levels[name], cell(words)] for name, value, words in declared])


def trace_variables():
    declared = source("Sources/Service/OTLP/TracingConfiguration.swift")
    declared = re.search(r"enum TracingVariable.*?\n}\n", declared, re.DOTALL)[0]
    return table(["variable", "meaning"], [[code(value), cell(words)] for _, value, words in cases(declared)])


@functools.cache
def swift_files():
    return {path: path.read_text(encoding="utf-8") for path in sorted((ROOT / "Sources").rglob("*.swift"))}


def labels():
    """The labels of each metric, from the tables in documentation comments."""
    return {name: words.strip() for text in swift_files().values()
            for name, words in re.findall(r"^ */// \| `(attachprep_\w+)` \|(.*?)\|$", text, re.MULTILINE)}


def metrics():
    text = source("Sources/Service/AttachPrepService/Metrics/MetricDescription.swift")
    everything = "\n".join(swift_files().values())
    gauges = set(re.findall(r'\bset\(\s*"(\w+)"', everything))
    listed = labels()
    rows = []
    for key, words in re.findall(r'^        ("?[\w.]+"?): MetricDescription\(\s*"(.*?)"', text, re.MULTILINE):
        name = key.strip('"')
        if not key.startswith('"'):
            owner, constant = key.split(".")
            name = re.search(rf'struct {owner}\b.*?static let {constant} = "(.*?)"', everything, re.DOTALL)[1]
        kind = "counter" if name.endswith("_total") else "histogram"
        kind = "gauge" if {name, name.removeprefix("attachprep_")} & gauges else kind
        rows.append([code(name), kind, listed.get(name, ""), cell(words)])
    dropped = re.search(r'((?:^ +///.*\n)+)^ +public static let refusedLabel = "(.*)"', everything, re.MULTILINE)
    words = " ".join(line.strip().removeprefix("///").strip() for line in dropped[1].splitlines())
    rows.append([code(dropped[2]), "counter", "", cell(words)])
    return table(["metric", "type", "labels", "meaning"], rows)


# What callers and operators meet, in their words; the values come from the declarations.
USER_ROWS = [
    ("size of an image source", "imageSourceBytesMax"), ("size of an audio source", "audioSourceBytesMax"),
    ("size of a movie source", "movieSourceBytesMax"), ("duration of a source", "durationSecondsMax"),
    ("frames of an animation", "animationFramesMax"), ("pixels of a movie's frame", "moviePixelsMax"),
    ("side of a thumbnail", "thumbnailSidePixelsMax"),
    ("budget, default", "budgetSeconds"), ("budget, longest", "budgetSecondsMax"),
    ("redirects", "redirectsMax"), ("attempts of a download", "downloadAttemptsMax"),
    ("time to connect", "connectSecondsMax"), ("time to the first byte", "firstByteSecondsMax"),
    ("queued jobs, default", "queuedJobsMax"), ("finished jobs are kept, default", "retentionSeconds"),
    ("dead jobs are kept, default", "deadRetentionSeconds"), ("stored files, default", "mediaQuotaBytes"),
    ("an upload is kept", "uploadSecondsMax"), ("an idempotency key is kept", "idempotencySecondsMax"),
    ("receipts of a payload are counted", "dispatchSeconds"),
]


def user_limits():
    listed = {one.name: one for one in all_limits()}
    rows = []
    for words, name in USER_ROWS:
        if name not in listed:
            raise SystemExit(f"docs: there is no limit named {name}; correct USER_ROWS in tools/docs/declarations.py")
        rows.append([words, shown(listed[name]), cell(listed[name].reason)])
    return table(["limit", "value", "reason"], rows)


def limits():
    """All limits, by module."""
    lines, modules = [], {}
    for one in all_limits():
        modules.setdefault(one.module, []).append(one)
    for module, listed in sorted(modules.items()):
        lines += [f"### {module}", "", table(["limit and file", "value", "reason"], [
            [f"{code(one.name)}<br>{code(one.file)}", shown(one), cell(one.reason)] for one in listed]), ""]
    return "\n".join(lines)


def alerts():
    """The alerts of deploy/prometheus-rules.yml with their pages."""
    rows = []
    for part in re.split(r"^ +- alert: ", source("deploy/prometheus-rules.yml"), flags=re.MULTILINE)[1:]:
        name = part.split("\n", 1)[0].strip()
        severity = re.search(r"severity: (\w+)", part)[1]
        wait = re.search(r"for: (\w+)", part)
        condition = re.search(r"expr: (?:\|\n)?(.*?)\n +(?:for|labels):", part, re.DOTALL)[1]
        page = f"incidents/{name}.md"
        if not (ROOT / "docs" / page).exists():
            raise SystemExit(f"docs: the alert {name} has no page docs/{page}")
        rows.append([f"[{name}](../{page})", severity, wait[1] if wait else "", code(" ".join(condition.split()))])
    return table(["alert", "severity", "for", "condition"], rows)
