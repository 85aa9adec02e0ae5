"""The generated parts that come from the program: its commands, settings and dialects."""

import functools
import importlib.machinery
import importlib.util
import json
import re
import subprocess
import textwrap

from program import ROOT, program
from text import cell, code, sentence, table

# `(ATTACHPREP_PORT; default: 8080)` at the end of a setting's help.
VARIABLE = re.compile(r"\s*\((ATTACHPREP_\w+)(?:; default: (.*))?\)$")
DEFAULT = re.compile(r"\s*\((?:([^()]*); )?default: ([^()]*)\)\.?$")


@functools.cache
def help_of_all():
    dump = subprocess.run([program(), "--experimental-dump-help"], check=True, capture_output=True, text=True).stdout
    return json.loads(dump)["command"]


@functools.cache
def manual():
    """The script that writes the manual pages; it has the examples."""
    loader = importlib.machinery.SourceFileLoader("manual", str(ROOT / "tools/manual"))
    module = importlib.util.module_from_spec(importlib.util.spec_from_loader("manual", loader))
    loader.exec_module(module)
    return module


def subcommands(command):
    return [one for one in command.get("subcommands", []) if one["commandName"] != "help" and one["shouldDisplay"]]


def arguments(command):
    return [one for one in command.get("arguments", []) if one["shouldDisplay"]
            and not {"help", "version"} & {name["name"] for name in one.get("names", [])}]


def names(argument):
    """`--output DIR`, as code."""
    value = argument["valueName"].upper() if "|" not in argument["valueName"] else argument["valueName"]
    if argument["kind"] == "positional":
        return code(value + ("..." if argument["isRepeating"] else ""))
    written = ", ".join(("--" if name["kind"] == "long" else "-") + name["name"] for name in argument["names"])
    return code(written + (f" {value}" if argument["kind"] == "option" else ""))


def meaning(argument):
    """The help of an argument without its default, and the default."""
    words = " ".join([argument.get("abstract") or "", argument.get("discussion") or ""]).strip()
    default = argument.get("defaultValue") or ""
    if found := VARIABLE.search(words):
        words, default = words[:found.start()], found[2] or default
    elif found := DEFAULT.search(words):
        words, default = words[:found.start()].rstrip(".") + (f" ({found[1]})" if found[1] else ""), found[2]
    values = argument.get("allValues")
    if values and not all(value in words for value in values):
        words = f"{sentence(words)} One of {', '.join(values)}."
    if argument["isRepeating"] and argument["kind"] == "option" and "repeatable" not in words:
        words = f"{words.rstrip('.')}; repeatable."
    return cell(sentence(words)), cell(default)


def rows(options):
    return [[names(one), *meaning(one)] for one in options]


def sections(options):
    """The options below a title for each section of the help."""
    lines, titles = [], []
    for one in options:
        if one.get("sectionTitle") not in titles:
            titles.append(one.get("sectionTitle"))
    for title in titles:
        lines += [f"**{title}**", ""] if title else []
        lines += [table(["option", "meaning", "default"],
                        rows([one for one in options if one.get("sectionTitle") == title])), ""]
    return lines


def overview():
    return table(["command", "what it does"], [
        [f"[`attachprep {one['commandName']}`](#attachprep-{one['commandName']})", cell(one["abstract"])]
        for one in subcommands(help_of_all())])


def paragraphs(command):
    words = [part for part in (command.get("discussion") or "").strip().split("\n\n") if not part.startswith("  ")]
    return [line for part in words if part for line in (cell(part), "")]


def page(command):
    path = f"attachprep {command['commandName']}"
    extras = manual().EXTRAS[path]
    lines = [f"## {path}", "", cell(command["abstract"]), "", *paragraphs(command)]
    if subcommands(command):
        listed, without = manual().shared(command)
        for sub in subcommands(command):
            own = [one for one in arguments(sub) if json.dumps(one, sort_keys=True) not in listed]
            lines += [f"### {path} {sub['commandName']}", "", cell(sub.get("abstract") or ""), "", *paragraphs(sub)]
            lines += sections(own) if own else []
        exceptions = f" but {', '.join(without)}" if without else ""
        lines += [f"Options of all these commands{exceptions}:", "", *sections([json.loads(one) for one in listed])]
    elif command["commandName"] in ("serve", "worker"):
        lines += ["Its options are in [Settings](settings.md).", ""]
    else:
        lines += sections(arguments(command))
    lines += ["**Examples**", "", "```sh"]
    lines += [f"# {words}\n{example}" for words, example in extras["examples"]]
    lines += ["```", "", "**Environment**", "", table(["variable", "meaning"], [
        [", ".join(code(name) for name in variable.split(", ")), cell(words)]
        for variable, words in extras["environment"]]), ""]
    return lines


def pages():
    lines = [line for command in subcommands(help_of_all()) for line in page(command)]
    return re.sub(r"\n{3,}", "\n\n", "\n".join(lines))


def request_options():
    """The options that are part of a request, as `prepare` has them."""
    prepare = next(one for one in subcommands(help_of_all()) if one["commandName"] == "prepare")
    return table(["option", "meaning", "default"],
                 rows([one for one in arguments(prepare) if one.get("sectionTitle") == "Request"]))


def sections_of_settings():
    """The options of `serve` that are settings, by section, each with whether `worker` has it too."""
    commands = {one["commandName"]: arguments(one) for one in subcommands(help_of_all())}
    worked = {json.dumps(one["names"]) for one in commands["worker"]}
    groups = {}
    for one in commands["serve"]:
        # An option without a variable, such as --print-config, is no setting.
        if VARIABLE.search(one.get("abstract") or ""):
            groups.setdefault(one.get("sectionTitle") or "Other", []).append((one, json.dumps(one["names"]) in worked))
    return groups


def settings():
    """The settings of `serve` and `worker` by section; secrets have no option and come from their declaration."""
    lines, live = [], reloaded()
    for title, listed in sections_of_settings().items():
        rows = []
        for one, works in listed:
            name = one["preferredName"]["name"]
            words, default = meaning(one)
            rows.append([f"{names(one)}<br>{code(variable(name))}", words, default, "yes" if works else "no",
                         "yes" if name in live else "no"])
        lines += [f"### {title}", "",
                  table(["option and variable", "meaning", "default", "worker", "reloaded"], rows), ""]
    lines += ["### Secrets", "", "Secrets have no option, because command lines are visible to all users of a machine.",
              "", table(["key", "variable", "meaning", "reloaded"], [
                  [code(key), code(variable(key)), cell(words), "yes" if key in live else "no"]
                  for key, words in secrets()])]
    return "\n".join(lines)


def variable(key):
    return "ATTACHPREP_" + key.upper().replace("-", "_")


@functools.cache
def declaration():
    return (ROOT / "Sources/Service/AttachPrepService/Configuration/Setting.swift").read_text(encoding="utf-8")


def keys(cases):
    """The keys of cases such as `.tokenFile, .maxQueue`."""
    for name in re.findall(r"\.(\w+)", cases):
        flag = re.search(rf'case {name} = "(.*)"', declaration())
        yield flag[1] if flag else name


def secrets():
    listed = re.search(r"isSecret: Bool \{ \[(.*?)\]", declaration())[1]
    for name, key in zip(re.findall(r"\.(\w+)", listed), keys(listed)):
        yield key, re.search(rf'case \.{name}: "(.*)"', declaration())[1]


def reloaded():
    """The keys that SIGHUP applies."""
    return set(keys(re.search(r"isReloaded: Bool \{\s*switch self \{\s*case (.*?):", declaration(), re.DOTALL)[1]))


def lists():
    return set(keys(re.search(r"isList: Bool \{\s*\[([^\]]*)\]", declaration())[1]))


EXAMPLE = """\
# Settings of attachprep serve and attachprep worker: attachprep serve --config FILE, or ATTACHPREP_CONFIG=FILE.
# Options have precedence over environment variables, and those over this file; attachprep serve --print-config shows
# what is in force. SIGHUP (systemctl reload attachprep) applies changes of the keys that say so, others need a restart.
# Written by tools/docs/reference from the table of settings.
"""


def example():
    """The example of a configuration file: each key as a comment, with its default or a placeholder."""
    lines = [EXAMPLE]

    def add(key, words, value):
        words = f"{sentence(words)} Reloaded." if key in reloaded() else sentence(words)
        lines.extend(textwrap.wrap(words, 118, initial_indent="# ", subsequent_indent="# ", break_on_hyphens=False))
        lines.append(f"#{key}: [{value}]" if key in lists() else f"#{key}: {value}")
        lines.append("")

    for title, listed in sections_of_settings().items():
        if title == "Configuration":
            continue
        lines.extend([f"# {title} {'-' * (117 - len(title))}", ""])
        for one, _ in listed:
            key, words = one["preferredName"]["name"], one["abstract"]
            default = VARIABLE.search(words)[2]
            # A default in words is a consequence of other settings; a placeholder shows what to write.
            value = default if default and re.fullmatch(r"[\w:./]+", default) else f"<{one['valueName']}>"
            # YAML reads a text with a colon at its end as a key.
            value = f'"{value}"' if value.endswith(":") else value
            add(key, VARIABLE.sub("", words), value if one["kind"] == "option" else "false")
    lines.extend([f"# Secrets {'-' * 110}", "# With them, chmod 600 this file, or name a file of secrets instead.", ""])
    for key, words in secrets():
        add(key, words.replace(", separated by commas", ""), "<secret>")
    return "\n".join(lines).rstrip() + "\n"


def dialects():
    lines = subprocess.run([program(), "payload", "--list-dialects"], check=True, capture_output=True, text=True).stdout
    listed = [re.split(r" {2,}", line.strip()) for line in lines.splitlines() if line.strip()]
    return table(["dialect", "service", "keys of the media"], [
        [code(row[0]), row[1], ", ".join(code(key) for key in row[2].split(", "))] for row in listed])
