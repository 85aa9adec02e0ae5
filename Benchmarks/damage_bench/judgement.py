"""What the judge says of every file, and what other methods notice, kept between runs: it is the slow part.

It is known by a file's content and the versions of judge and methods, and does not depend on attachprep.
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
# What is done with each file, in this order; a number changes with what would come of the same file.
STEPS = {"judge": judge.VERSION, **{name: version for name, (version, _) in methods.STEPS.items()}}


def judged(cases, jobs):
    """By the name of a file: its class, measures, and what methods notice."""
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
    """Takes a step for these files, and saves now and then what has come of it."""
    started = time.monotonic()
    work = [(step, case, known.get(case.name)) for case in cases]
    # Files of one origin follow each other, so that it is decoded once by each process.
    for number, (name, entry) in enumerate(pool.imap_unordered(taken, work, 25), 1):
        known[name] = entry
        if number % SAVED_EVERY == 0 or number == len(cases):
            save(known)
            seconds = time.monotonic() - started
            print(f"{step}: {number} of {len(cases)} in {seconds:.0f} s", file=sys.stderr, flush=True)


def taken(work):
    """The entry of a file after one step more."""
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
