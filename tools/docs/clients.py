"""The generated parts that are taken from samples/clients: the function of each client that submits a source."""

import re
import textwrap

from program import ROOT

FUNCTIONS = {
    "sh": ("prepare.sh", r"^# Prints the manifest.*?^submit\(\) \{\n.*?^\}\n", "bash"),
    "python": ("prepare.py", r"^def prepare\(.*?\n(?=\n\n)", "python"),
    "node": ("prepare.mjs", r"^/\*\* Returns the manifest.*?^\}\n", "javascript"),
    "go": ("prepare.go", r"^// prepare returns.*?^\}\n", "go"),
    "swift": ("swift/Sources/prepare/main.swift", r"^    /// Returns the manifest.*?^    \}\n", "swift"),
}


def client(name):
    """A function without arguments that returns the excerpt as a fenced block."""
    def part():
        path, pattern, language = FUNCTIONS[name]
        text = (ROOT / "samples/clients" / path).read_text(encoding="utf-8")
        found = re.search(pattern, text, re.DOTALL | re.MULTILINE)
        if not found:
            raise SystemExit(f"docs: samples/clients/{path} has no such function; correct tools/docs/clients.py")
        return f"```{language}\n{textwrap.dedent(found[0]).rstrip()}\n```"
    return part
