"""What the two programs consist of: Swift packages that are linked in, and Debian packages that are loaded at run time.

Shared by `notices` and `sbom`.
"""

import dataclasses
import json
import os
import pathlib
import re
import subprocess

PROGRAMS = ("attachprep", "attachprep-media")
ROOT = pathlib.Path(__file__).resolve().parent.parent.parent


@dataclasses.dataclass(frozen=True)
class SwiftPackage:
    identity: str
    version: str
    revision: str
    url: str
    folder: pathlib.Path

    def texts(self):
        """License and notice files, the package's own first, then those of code that it includes."""
        files = [file for file in self.folder.rglob("*") if re.match(r"(LICEN[CS]E|NOTICE|COPYING)", file.name)]
        own = [file for file in files if file.is_file() and file.parent == self.folder]
        included = [file for file in files if file.is_file() and file.is_relative_to(self.folder / "Sources")]
        return sorted(own) + sorted(included)

    @property
    def license(self):
        """The SPDX identifier of the package's own license."""
        text = next((file.read_text() for file in self.texts() if not file.name.startswith("NOTICE")), "")
        if "Runtime Library Exception" in text:
            return "Apache-2.0 WITH Swift-exception"
        if "Apache License" in text:
            return "Apache-2.0"
        if "Permission is hereby granted, free of charge" in text:
            return "MIT"
        raise SystemExit(f"{self.folder}: unknown license; add it to tools/packages/components.py")


@dataclasses.dataclass(frozen=True)
class DebianPackage:
    name: str
    version: str
    architecture: str
    source: str
    source_version: str
    homepage: str
    is_direct: bool

    def licenses(self):
        """The license names of its copyright file, sorted; empty if that is not in the machine-readable form."""
        file = pathlib.Path(f"/usr/share/doc/{self.name}/copyright")
        if not file.exists():
            return []
        text = file.read_text(errors="replace")
        if "copyright-format" not in text[:400]:
            return []
        return sorted({line.split(":", 1)[1].strip() for line in text.splitlines() if line.startswith("License: ")})


def version():
    text = (ROOT / "Sources/Preparation/AttachPrep/ProductVersion.swift").read_text()
    return re.search(r'static let text = "([^"]+)"', text).group(1)


def swift_packages(build):
    """The Swift packages with a module in one of the programs, according to the linker's list of objects."""
    build = pathlib.Path(build)
    resolved = build.parent / "Package.resolved"
    if not resolved.exists():
        raise SystemExit(f"{resolved} is missing; run swift package resolve, or make build")
    pins = json.loads(resolved.read_text())["pins"]
    modules = linked_modules(build)
    packages = []
    for pin in pins:
        name = pin["location"].rstrip("/").split("/")[-1].removesuffix(".git")
        folder = build / "checkouts" / name
        if not folder.is_dir():
            raise SystemExit(f"{folder} is missing; run swift package resolve, or make build")
        own = {entry.name for entry in (folder / "Sources").iterdir()} | {name.removesuffix(".swift")}
        # Modules in a folder of another name.
        own |= {module for module, path in FOLDERS.items() if (folder / path).is_dir()}
        if modules & own:
            state = pin["state"]
            packages.append(SwiftPackage(
                pin["identity"], state.get("version", state["revision"]), state["revision"],
                pin["location"].removesuffix(".git"), folder))
    return packages


# Modules whose folder has another name than the module.
FOLDERS = {"GRDB": "GRDB", "SystemPackage": "Sources/System"}


def linked_modules(build):
    modules = set()
    for program in PROGRAMS:
        lists = list(build.glob(f"*/release/{program}.product/Objects.LinkFileList"))
        if not lists:
            raise SystemExit(f"{build} has no release build of {program}; run make build")
        for line in lists[0].read_text().splitlines():
            if match := re.search(r"/([^/]+)\.build/", line):
                modules.add(match.group(1))
    return modules


def debian_packages(binaries):
    """The Debian packages of all libraries that the programs load, directly or through another library."""
    direct, all_paths = set(), set()
    for program in PROGRAMS:
        path = str(pathlib.Path(binaries) / program)
        needed = set(re.findall(r"NEEDED.*\[(.+)\]", run("readelf", "-d", path)))
        for name, file in re.findall(r"(\S+) => (/\S+)", run("ldd", path)):
            all_paths.add(file)
            if name in needed:
                direct.add(file)
    owners = {file: owner(file) for file in all_paths}
    direct_packages = {owners[file] for file in direct}
    return [described(name, name in direct_packages) for name in sorted(set(owners.values()) - {None})]


def owner(path):
    """The Debian package of a file. ldd may name it by a path that a merged /usr has turned into a link."""
    real = os.path.realpath(path)
    for candidate in (path, real, real.removeprefix("/usr")):
        found = subprocess.run(["dpkg-query", "--search", candidate], capture_output=True, text=True)
        if found.returncode == 0:
            return found.stdout.split(":", 1)[0]
    return None


def described(name, is_direct):
    fields = "${Version}\\t${Architecture}\\t${source:Package}\\t${source:Version}\\t${Homepage}\\n"
    line = run("dpkg-query", "--show", f"--showformat={fields}", name).splitlines()[0]
    return DebianPackage(name, *line.split("\t"), is_direct)


def run(*command):
    return subprocess.run(command, capture_output=True, text=True, check=True).stdout
