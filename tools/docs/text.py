"""Markdown tables and cells."""

import html
import re

# What is shown as code in prose: flags, variables, URL schemes, paths and names with dots or underscores.
CODE = re.compile(
    r"(?<![\w`/.$])(--[a-z0-9][a-z0-9-]*|ATTACHPREP_[A-Z0-9_]+|AWS_[A-Z0-9_]+|NO_COLOR|\$[A-Z_]+(?:/[\w./]+)?"
    r"|~/[\w./]*\w|(?:s3|postgres)://[\w,./]*\w|file:(?!\w)|/v1/[a-z]+|whsec_\w*)(?![\w`])")


def cell(words):
    """Text for one cell of a table: on one line, with its pipes and angle brackets escaped outside code."""
    pieces = re.split(r"`([^`]*)`", " ".join(str(words).split()))
    return "".join(code(piece) if index % 2 else CODE.sub(r"`\1`", piece).replace("|", r"\|").replace("<", "&lt;")
                   for index, piece in enumerate(pieces))


def code(words):
    """A code span for a cell of a table. A forge and mkdocs escape a pipe in a code span differently, HTML alike."""
    if "|" in str(words):
        return "<code>" + html.escape(str(words), quote=False).replace("|", "&#124;") + "</code>"
    return f"`{words}`"


def table(heads, rows):
    """A table; cells are written as they are."""
    lines = ["| " + " | ".join(heads) + " |", "| " + " | ".join("---" for _ in heads) + " |"]
    lines += ["| " + " | ".join(row).replace("  ", " ") + " |" for row in rows]
    return "\n".join(line.replace(" |  |", " | |").replace(" |  |", " | |") for line in lines)


def sentence(words):
    """With a period, unless there is one."""
    words = words.strip()
    return words if not words or words[-1] in ".!?:" else words + "."
