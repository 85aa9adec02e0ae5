"""Reads the declarations `extension Limits { static let ... }`: name, value, reason and file."""

import dataclasses
import functools
import re

from program import ROOT

BLOCK = re.compile(r"^(?:package |public )?(?:extension|enum) Limits \{\n(.*?)^\}", re.DOTALL | re.MULTILINE)
DECLARATION = re.compile(
    r"((?:^ +///.*\n)*)^ +(?:public |package )?static let (\w+)(?:: [^=\n]+)? ="
    r"\s*((?:.|\n(?=        )|\n(?=    \]))*?(?<!\[))$", re.MULTILINE)
UNITS = {"Bytes": "bytes", "Pixels": "pixels", "Characters": "characters", "Frames": "frames", "Seconds": "s"}


@dataclasses.dataclass
class Limit:
    name: str
    expression: str
    reason: str
    file: str
    module: str


@functools.cache
def all_limits():
    found = []
    for path in sorted((ROOT / "Sources").rglob("*.swift")):
        for block in BLOCK.findall(path.read_text(encoding="utf-8")):
            for comment, name, expression in DECLARATION.findall(block):
                reason = " ".join(line.strip().removeprefix("///").strip() for line in comment.splitlines())
                relative = path.relative_to(ROOT / "Sources")
                found.append(Limit(name, " ".join(expression.split()), reason, "/".join(relative.parts[2:]),
                                   relative.parts[1]))
    return found


def value(expression, depth=0):
    """The number of an arithmetic expression over literals and other limits; None if it is something else."""
    names = {one.name: one for one in all_limits()}

    def number(found):
        one = names.get(found[1])
        inner = value(one.expression, depth + 1) if one and depth < 4 else None
        return "nothing" if inner is None else repr(inner)
    text = re.sub(r"\b(?:Limits\.)?([a-z]\w+)\b", number, expression.replace("_", ""))
    if not re.fullmatch(r"[\d\s.()*/+-]+", text):
        return None
    return eval(text.replace("/", "//") if "." not in text else text)  # noqa: S307: digits and operators only


def shown(limit):
    """The value with its unit, from the limit's name."""
    number = value(limit.expression)
    if number is None and limit.expression.startswith("["):
        parts = [value(part) for part in limit.expression.strip("[], ").split(",")]
        return ", ".join(f"{part:,}" for part in parts) + (" s" if "Seconds" in limit.name else "")
    if number is None:
        return f"`{limit.expression}`"
    number = int(number) if number == int(number) else number
    unit = next((unit for word, unit in UNITS.items() if word in limit.name), "")
    words = f"{number:,} {unit}".strip()
    if unit == "s" and number >= 7_200:
        days, hours = number / 86_400, number / 3_600
        words += f" ({days:g} d)" if number % 86_400 == 0 else f" ({hours:g} h)"
    return words
