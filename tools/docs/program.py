"""Where the project and its program are."""

import os
import pathlib
import subprocess
import sys

ROOT = pathlib.Path(__file__).resolve().parent.parent.parent


def program():
    """The binary in ATTACHPREP, else the newer one of the debug and release builds."""
    if os.environ.get("ATTACHPREP"):
        return pathlib.Path(os.environ["ATTACHPREP"]).resolve()
    built = [ROOT / ".build" / name / "attachprep" for name in ("debug", "release")]
    built = sorted((path for path in built if path.exists()), key=lambda path: path.stat().st_mtime)
    if not built:
        sys.exit("docs: there is no attachprep below .build; run `swift build`, or set ATTACHPREP to a binary")
    return built[-1]


def tracked(*patterns):
    """The files that git has or would add, by pattern; in an unpacked archive, all files but what building makes."""
    git = subprocess.run(["git", "-c", "safe.directory=*", "ls-files", "--cached", "--others", "--exclude-standard",
                          *patterns], cwd=ROOT, capture_output=True, text=True)
    if git.returncode == 0:
        paths = [ROOT / name for name in git.stdout.split("\n") if name]
    else:
        paths = [path for pattern in patterns for path in ROOT.rglob(pattern if "*" in pattern else f"{pattern}/*")
                 if not any(part.startswith(".build") for part in path.parts)]
    return [path for path in paths if path.is_file()]
