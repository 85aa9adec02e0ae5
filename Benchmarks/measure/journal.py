"""JSON Lines files to which runs append."""

import json
import os


def clear(*paths):
    for path in paths:
        if os.path.exists(path):
            os.remove(path)


def append(path, values):
    os.makedirs(os.path.dirname(path), exist_ok=True)
    with open(path, "a", encoding="utf-8") as file:
        file.writelines(json.dumps(value) + "\n" for value in values)


def read(path):
    if not os.path.exists(path):
        return []
    with open(path, encoding="utf-8") as lines:
        return [json.loads(line) for line in lines]
