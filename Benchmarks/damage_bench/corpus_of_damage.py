"""All files of the benchmark, written once: intact, odd and damaged."""

import hashlib
import json
import os

from base_media import bases, make_bases, read
from case import ODDITY, Case, file_name
from damage import damaged
from locations import FILES, WORK
from oddities import oddities

CATALOGUE = os.path.join(WORK, "catalogue.json")


def make_cases():
    """Makes the missing files and returns all cases."""
    make_bases()
    os.makedirs(FILES, exist_ok=True)
    cases = [case for base in bases() for case in cases_of(base)]
    kept = {case.name for case in cases}
    for name in os.listdir(FILES):
        if name not in kept:
            os.remove(os.path.join(FILES, name))
    with open(CATALOGUE, "w", encoding="utf-8") as file:
        json.dump({case.name: case.sha256 for case in cases}, file, indent=0)
    return cases


def cases_of(base):
    data = read(base)
    for damage, variant, content in damaged(base, data):
        yield write(base, damage, variant, content)
    for variant, content in oddities(base, data):
        yield write(base, ODDITY, variant, content)


def write(base, damage, variant, content):
    path = os.path.join(FILES, file_name(base, damage, variant))
    if not os.path.exists(path) or not holds(path, content):
        with open(path, "wb") as file:
            file.write(content)
    return Case(base, damage, variant, hashlib.sha256(content).hexdigest(), len(content))


def holds(path, content):
    with open(path, "rb") as file:
        return file.read() == content
