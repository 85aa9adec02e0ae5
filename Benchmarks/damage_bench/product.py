"""Prepares all files with `attachprep batch` and collects the outcomes.

The first pass rejects conversion, so that a damaged file is detected without spending time on its repair. A second pass
with default options processes undamaged files that were not delivered unchanged, to find how they are delivered.
"""

import json
import os
import shutil
import tempfile

import locations  # noqa: F401
import process
from delivery import delivered
from locations import FILES, RESULTS
from origin import Origin

CONCURRENCY, BUDGET = 8, "300s"
# The outcome of a file.
UNNOTICED, REPAIRED, REJECTED = "unnoticed", "repaired", "rejected"
# Start of the error message for a damaged file that may not be repaired.
IS_DAMAGED = "The source is damaged"


def measure(binary, cases, judgement):
    """Outcomes by file name, and the cost of the first pass."""
    process.adopt_orphans()
    with Origin(FILES) as origin:
        spent, manifests = batch(binary, origin, cases, ["--unsupported", "reject"])
        intact = {case.base: manifests[case.name] for case in cases if case.damage == "intact"}
        results = {case.name: result(manifests[case.name], intact[case.base]) for case in cases}
        alarms = [case for case in cases if results[case.name]["became"] != UNNOTICED
                  and (case.is_control or judgement[case.name]["class"] == "same")]
        if alarms:
            batch(binary, origin, alarms, [], lambda case, manifest, folder: results[case.name].update(
                delivered=delivered(case, manifest, folder)))
    cost = {"files": len(cases), "wallSeconds": round(spent.wall, 2), "cpuSeconds": round(spent.cpu, 2)}
    return results, cost


def batch(binary, origin, cases, options, each=None):
    """One run of the command; `each` is called for every result while its files exist."""
    folder = tempfile.mkdtemp(prefix="damage-", dir=RESULTS)
    path, output = os.path.join(folder, "list.jsonl"), os.path.join(folder, "prepared")
    try:
        with open(path, "w", encoding="utf-8") as file:
            file.writelines(json.dumps({"source": origin.address(case.name), "id": f"f{number}"}) + "\n"
                            for number, case in enumerate(cases))
        spent = process.run([binary, "batch", path, "--allow-private-network", "--output", output, "--format", "json",
                             "--data", os.path.join(folder, "state"), "--concurrency", str(CONCURRENCY), "--budget",
                             BUDGET, *options], may_fail=True)
        found = {manifest["id"]: manifest for manifest in map(json.loads, spent.output.splitlines())}
        if len(found) != len(cases):
            raise SystemExit(f"damage: {binary} gave {len(found)} results of {len(cases)}")
        manifests = {case.name: found[f"f{number}"] for number, case in enumerate(cases)}
        for case in cases if each else []:
            each(case, manifests[case.name], os.path.join(output, manifests[case.name]["id"]))
        return spent, manifests
    finally:
        shutil.rmtree(folder)


def result(manifest, intact):
    """The outcome, compared with that of the intact file: a MOV is converted in any case."""
    error = manifest["error"] or {}
    return {"became": became(manifest, intact), "outcome": manifest["outcome"], "code": error.get("code"),
            "reason": (manifest["reasons"] or [error.get("message")])[0], "warnings": manifest["warnings"],
            "inspect": manifest["timings"]["inspect"], "total": manifest["timings"]["total"]}


def became(manifest, intact):
    if manifest["error"] == intact["error"] and manifest["outcome"] == intact["outcome"]:
        return UNNOTICED
    if manifest["outcome"] == "passed":
        return UNNOTICED
    error = manifest["error"] or {}
    return REPAIRED if not error or error["message"].startswith(IS_DAMAGED) else REJECTED
