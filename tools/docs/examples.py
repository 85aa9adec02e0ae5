"""Checks the commands in documents: each subcommand and each option of an `attachprep` command exists.

Commands are found in fenced blocks and in code spans. What they print is not compared: it depends on the machine.
"""

import re
import shlex

from commands import help_of_all
from program import ROOT, tracked

COMMAND = re.compile(r"(?:^|[\s(`;|&=/])attachprep +((?:[a-z-]+)(?: [^`|;&#()<>\n]*)?)")
OPTION = re.compile(r"(?<!\S)(--?[a-z][\w-]*)")


def documents():
    return [path for path in tracked("*.md", "deploy") if path.name != "CHANGELOG.md"]


def lines(path):
    """The lines of code with their numbers; lines that end with a backslash are joined with the next."""
    text = path.read_text(encoding="utf-8")
    is_fenced, start, pending = not path.name.endswith(".md"), 0, ""
    for number, line in enumerate(text.splitlines(), 1):
        if line.lstrip().startswith(("```", "~~~")):
            is_fenced = not is_fenced
            continue
        if is_fenced:
            start = start or number
            pending += line.removesuffix("\\")
            if not line.endswith("\\"):
                yield start, pending
                start, pending = 0, ""
        else:
            yield from ((number, span) for span in re.findall(r"`([^`]*)`", line))


def known(command):
    names = {"-h", "--help", "--version", "--generate-completion-script", "--experimental-dump-help"}
    for argument in command.get("arguments", []):
        names |= {("--" if name["kind"] == "long" else "-") + name["name"] for name in argument.get("names", [])}
    return names


def finding(words, is_command):
    """What is wrong with the words after `attachprep`; None if nothing is, or if it is not a command."""
    command, path = help_of_all(), "attachprep"
    try:
        words = shlex.split(words)
    except ValueError:
        words = words.split()
    while words and command.get("subcommands"):
        name = words[0].rstrip('.,;:"')
        found = [one for one in command["subcommands"] if one["commandName"] == name]
        if not found and path == "attachprep" and not (is_command and name.isalpha()):
            return None
        if not found and name.isalpha():
            return f"{path} has no {name}"
        if not found:
            break
        command, path, words = found[0], f"{path} {name}", words[1:]
    options = known(command)
    for one in command.get("subcommands", []):
        options |= known(one)
    unknown = [word for word in OPTION.findall(" ".join(words)) if word not in options]
    return f"{path} has no option {', '.join(unknown)}" if unknown else None


def findings():
    for path in documents():
        for number, line in lines(path):
            for found in COMMAND.finditer(line):
                if wrong := finding(found[1].strip(), found.start() == 0 or line.startswith("$ attachprep")):
                    yield f"{path.relative_to(ROOT)}:{number}: {wrong}"
