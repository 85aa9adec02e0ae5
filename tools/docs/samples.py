"""The generated parts that come from the table of samples: a row for each file, with its results and requests."""

import functools
import json

from program import ROOT
from text import code, table

# Tools replace the port by the one that their server has.
SERVER = "http://127.0.0.1:8765/"


@functools.cache
def rows():
    return json.loads((ROOT / "samples/samples.json").read_text(encoding="utf-8"))


def files():
    heads = ["file", "content", "outcome", "attachment", "thumbnail shows"]
    return table(heads, [[code(row["file"]), row["content"], row["outcome"], row.get("attachment", ""),
                          row.get("thumbnail", "none" if "attachment" in row else "")] for row in rows()])


def requests():
    return table(["id", "request", "result"], [[code(one["id"]), one["asks"], one["result"]]
                                               for row in rows() for one in row.get("requests", [])])


def batch():
    """A request for each file, and those with options."""
    listed = [{"source": SERVER + row["file"]} | one for row in rows()
              for one in [{"id": row["file"].replace(".", "-")},
                          *({"id": each["id"]} | each["request"] for each in row.get("requests", []))]]
    return "".join(json.dumps(one, ensure_ascii=False) + "\n" for one in listed)
