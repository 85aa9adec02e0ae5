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


def judged(cases, jobs):
    """By the name of a file: its class, measures, and what methods notice."""
    known = load()
    with multiprocessing.Pool(jobs, initializer=os.nice, initargs=(NICE,)) as pool:
        add(known, pool, look, [case for case in cases if stamp(case) != known.get(case.name, {}).get("of")])
        add(known, pool, walk, [case for case in cases if walk_stamp(case) != known[case.name].get("structureOf")])
    return {case.name: known[case.name] for case in cases}


def add(known, pool, work, cases):
    """Does the work for these files, and saves now and then what has come of it."""
    started = time.monotonic()
    # Files of one origin follow each other, so that it is decoded once by each process.
    for number, (name, entry) in enumerate(pool.imap_unordered(work, cases, 25), 1):
        known.setdefault(name, {}).update(entry)
        if number % SAVED_EVERY == 0 or number == len(cases):
            save(known)
            print(f"{work.__doc__}: {number} of {len(cases)} in {time.monotonic() - started:.0f} s", file=sys.stderr,
                  flush=True)


def stamp(case):
    return f"{case.sha256} {judge.VERSION} {methods.VERSION}"


def walk_stamp(case):
    return f"{case.sha256} {methods.STRUCTURE_VERSION}"


def look(case):
    """Judged"""
    verdict = judge.judge(case)
    noticed = methods.noticed(case, judge.reference(case.base), verdict["messages"])
    return case.name, {"of": stamp(case), **verdict, "noticed": noticed}


def walk(case):
    """Structure read"""
    return case.name, {"structureOf": walk_stamp(case), "structure": methods.structure(case)}


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
