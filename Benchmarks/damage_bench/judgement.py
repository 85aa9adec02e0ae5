"""The judge's result for every file, and what other methods detect, stored between runs because they are slow.

The key is the file's content with the version of the judge or method; attachprep does not affect it.
"""

import json
import multiprocessing
import os
import sys
import time

import judge
import methods
from locations import JUDGEMENT

NICE = 19
SAVED_EVERY = 100
# The steps for each file, in order; increment a number when its results for the same file change.
STEPS = {"judge": judge.VERSION, **{name: version for name, (version, _) in methods.STEPS.items()}}


def judged(cases, jobs):
    """By file name: class, measurements, and what the methods detect."""
    known = load()
    with multiprocessing.Pool(jobs, initializer=os.nice, initargs=(NICE,)) as pool:
        for step in STEPS:
            add(known, pool, step, [case for case in cases if not is_done(step, case, known.get(case.name))])
    return {case.name: known[case.name] for case in cases}


def is_done(step, case, entry):
    return entry is not None and entry["stamps"].get(step) == stamp(step, case)


def stamp(step, case):
    return f"{case.sha256} {STEPS[step]}"


def add(known, pool, step, cases):
    """Runs a step for these files and saves the results regularly."""
    started = time.monotonic()
    work = [(step, case, known.get(case.name)) for case in cases]
    # Variants of the same intact file are consecutive, so that each process decodes it once.
    for number, (name, entry) in enumerate(pool.imap_unordered(taken, work, 25), 1):
        known[name] = entry
        if number % SAVED_EVERY == 0 or number == len(cases):
            save(known)
            seconds = time.monotonic() - started
            print(f"{step}: {number} of {len(cases)} in {seconds:.0f} s", file=sys.stderr, flush=True)


def taken(work):
    """The entry of a file after the next step."""
    step, case, entry = work
    if step == "judge":
        entry = {**judge.judge(case), "noticed": {}, "stamps": {}}
    else:
        _, method = methods.STEPS[step]
        entry["noticed"][step] = method(case, entry["messages"])
    entry["stamps"][step] = stamp(step, case)
    return case.name, entry


def load():
    try:
        with open(JUDGEMENT, encoding="utf-8") as file:
            return json.load(file)
    except FileNotFoundError:
        return {}


def save(known):
    part = JUDGEMENT + ".part"
    with open(part, "w", encoding="utf-8") as file:
        json.dump(known, file, indent=0)
    os.replace(part, JUDGEMENT)
