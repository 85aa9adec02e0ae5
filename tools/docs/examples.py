"""Checks the commands in documents and in deploy/: each subcommand and each option of an `attachprep` command exists,
each option that needs a value has one that it allows, and there are no more arguments than the command takes.

Commands are found in fenced blocks and in code spans, in other files on each line. What they print is not compared: it
depends on the machine. `AlertCommandTests` runs those of alerts and incidents.
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


def named(command):
    """The options of a command by name."""
    options = {name: {"kind": "flag"} for name in
               ("-h", "--help", "--version", "--experimental-dump-help")}
    options["--generate-completion-script"] = {"kind": "option"}
    for argument in command.get("arguments", []):
        options |= {("--" if name["kind"] == "long" else "-") + name["name"]: argument
                    for name in argument.get("names", [])}
    return options


def known(command):
    return set(named(command))


def value_finding(name, value, argument):
    """What is wrong with the value of an option; placeholders and variables of a shell can be anything."""
    allowed = argument.get("allValues")
    if not re.fullmatch(r"[a-z][\w.-]*", value):
        return None
    if allowed and value not in allowed:
        return f"{name} has no value {value}; it has {', '.join(allowed)}"
    return None


def arguments_finding(command, words):
    """What is wrong with a command's arguments, read in the way the program does."""
    options, given, words = named(command), 0, list(words)
    positional = [one for one in command.get("arguments", []) if one["kind"] == "positional"]
    while words:
        word = words.pop(0)
        name, has_value, value = word.partition("=")
        if not word.startswith("-") or word == "-":
            given += 1
        elif name in options and options[name]["kind"] == "option":
            # Without a value it is an option that a sentence is about.
            value = value if has_value else words.pop(0) if words else ""
            if wrong := value_finding(name, value, options[name]):
                return wrong
        elif name in options and has_value:
            return f"{name} takes no value"
    if given > len(positional) and not any(one["isRepeating"] for one in positional):
        return f"{given} arguments are too many: {' '.join(one['valueName'] for one in positional) or 'it has none'}"
    return None


def finding(words, is_command):
    """What is wrong with the words after `attachprep`; None if nothing is, or if it is not a command.

    `is_command`: whether the words are a whole command, not a part of a sentence.
    """
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
    if unknown:
        return f"{path} has no option {', '.join(unknown)}"
    if not is_command or command.get("subcommands") or {"...", "…"} & set(words):
        return None
    wrong = arguments_finding(command, words)
    return f"{path}: {wrong}" if wrong else None


# What comes before `attachprep` in the line of a command: nothing, a prompt, variables, or a unit's key with the folder.
BEFORE = re.compile(r"(?:\$ )?(?:[A-Z_]+=\S+ )*|ExecStart=[\w/]*/")


def findings():
    for path in documents():
        for number, line in lines(path):
            for found in COMMAND.finditer(line):
                before = line[:found.start(1)].rstrip().removesuffix("attachprep")
                # Alerts have their commands in backticks.
                is_command = BEFORE.fullmatch(before) or (before.endswith("`") and path.suffix == ".yml")
                if wrong := finding(found[1].strip(), bool(is_command)):
                    yield f"{path.relative_to(ROOT)}:{number}: {wrong}"
