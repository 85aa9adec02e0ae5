"""One file at a time with each tool: speed, memory and quality of the thumbnail."""

from page.markup import element
from page.quantity import milliseconds, size
from page.table import table


def tools(report):
    note = next((note for note in report.get("notes", []) if note.get("row") == "tools"), None)
    if not note:
        return None
    rows = [line(file, tool, found) for file, each in note["details"].items() for tool, found in each.items()]
    return [element("h3", "One file at a time"),
            element("p", "Each run is a new process, so attachprep's start is included. The table also has the "
                    "similarity of the thumbnail to the best possible one (SSIM, 1 is equal) and its size in bytes."),
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
