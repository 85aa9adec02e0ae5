"""One file at a time through each tool: how fast, how much memory, and how good the thumbnail is."""

from page.markup import element
from page.quantity import milliseconds, size
from page.table import table


def tools(report):
    note = next((note for note in report.get("notes", []) if note.get("row") == "tools"), None)
    if not note:
        return None
    rows = [line(file, tool, found) for file, each in note["details"].items() for tool, found in each.items()]
    return [element("h3", "One file at a time"),
            element("p", "A new process each, so that attachprep's start is counted, too. Beside speed stands how near "
                    "the thumbnail is to the best there is (SSIM, 1 is the same) and how many bytes it takes."),
            table("Medians; peak memory is that of the whole process tree",
                  ["file, tool", "wall", "processor", "peak memory", "thumbnail", "SSIM"], rows)]


def line(file, tool, found):
    label = [element("b", file), f" {tool}"]
    if "notHere" in found:
        return [label, found["notHere"], "", "", "", ""]
    ssim = found.get("ssim")
    return [label, seconds(found, "wall"), seconds(found, "cpu"), size(found.get("peakPSS")), size(found.get("bytes")),
            "–" if ssim is None else f"{ssim:.4f}"]


def seconds(found, key):
    return milliseconds(found[key] * 1000) if found.get(key) is not None else "–"
