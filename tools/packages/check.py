"""Checks what can be checked of packages, image and workflow without building them: tools/packages/check

Versions agree; the paths that the Dockerfile copies exist; its users, ports and programs agree with its commands; names
of Debian packages exist (where apt has its lists); hadolint and actionlint find nothing (where they are installed).
"""

import contextlib
import json
import pathlib
import re
import shlex
import shutil
import subprocess
import sys

ROOT = pathlib.Path(__file__).resolve().parent.parent.parent
faults = []


def expect(is_true, sentence):
    if not is_true:
        faults.append(sentence)


def read(path):
    return (ROOT / path).read_text()


def instructions():
    """The Dockerfile's instructions: name and rest, comments and continuations removed."""
    lines = [line for line in read("deploy/Dockerfile").splitlines() if not line.lstrip().startswith("#")]
    text = "\n".join(lines).replace("\\\n", " ")
    return [tuple(line.split(None, 1)) for line in text.splitlines() if line.strip()]


def versions():
    version = subprocess.run([ROOT / "tools/packages/version"], capture_output=True, text=True).stdout.strip()
    expect(re.fullmatch(r"\d+\.\d+\.\d+", version), f"ProductVersion.swift: {version!r} is no version")
    debian = re.match(r"attachprep \(([^)]+)\)", read("debian/changelog")).group(1)
    expect(debian == version, f"debian/changelog has {debian}, ProductVersion.swift {version}")
    headings = re.findall(r"(?m)^## (\S+)", read("CHANGELOG.md"))
    expect(version in headings, f"CHANGELOG.md has no section ## {version}")
    chart = re.findall(r"(?m)^(?:version|appVersion): (\S+)$", read("deploy/helm/attachprep/Chart.yaml"))
    expect(chart == [version, version], f"Chart.yaml has the versions {chart}, ProductVersion.swift {version}")
    expect(f"attachprep_{version}_" in read("docs/operations/packages.md"),
           f"docs/operations/packages.md does not show the package of {version}")


def dockerfile():
    all_instructions = instructions()
    final = max(index for index, (name, _) in enumerate(all_instructions) if name == "FROM")
    stage = all_instructions[final:]
    value = lambda name: next((rest for key, rest in stage if key == name), "")
    for name, rest in all_instructions:
        if name != "COPY" or "--from=" in rest:
            continue
        *sources, _ = [word for word in shlex.split(rest) if not word.startswith("--")]
        for source in sources:
            # A pattern such as Package.resolve[d] makes a file optional.
            expect("[" in source or (ROOT / source).exists(), f"Dockerfile copies {source}, which does not exist")
    run = value("RUN")
    uid = re.search(r"useradd --uid (\d+)", run)
    expect(uid and value("USER") == f"{uid.group(1)}:{uid.group(1)}", "Dockerfile: USER is not the user it creates")
    expect("0" != value("USER").split(":")[0], "Dockerfile: the image runs as root")
    state = re.search(r"ATTACHPREP_DATA=(\S+)", value("ENV")).group(1)
    expect(state == value("VOLUME"), "Dockerfile: ATTACHPREP_DATA is not the VOLUME")
    expect(f"ATTACHPREP_PORT={value('EXPOSE')}" in value("ENV"), "Dockerfile: EXPOSE is not ATTACHPREP_PORT")
    prefix = re.search(r"PREFIX=(\S+)", read("deploy/Dockerfile")).group(1)
    program = json.loads(value("ENTRYPOINT"))[0]
    expect(program == f"{prefix}/bin/attachprep", f"Dockerfile: nothing installs {program}")
    health = json.loads(re.search(r"CMD (\[.*\])", value("HEALTHCHECK")).group(1))[0]
    expect(any("attachprep-health" in rest and rest.endswith("/usr/local/libexec/") for key, rest in stage
               if key == "COPY") and health == "/usr/local/libexec/attachprep-health",
           f"Dockerfile: nothing installs {health}")
    # Sources come after the packages that they need, so that a change of sources fetches nothing again.
    order = [f"{name} {rest}" for name, rest in all_instructions[:final]]
    index = lambda text: next(number for number, line in enumerate(order) if text in line)
    expect(index("make deps") < index("swift package resolve") < index("COPY . ."),
           "Dockerfile: Debian packages, Swift packages and sources are not in this order")


def runtime_packages():
    run = next(rest for name, rest in reversed(instructions()) if name == "RUN")
    words = run.split("--no-install-recommends", 1)[1].split("&&", 1)[0].split()
    return words


def debian_packages():
    names = set(runtime_packages())
    for variable in ("build_packages", "package_packages"):
        names |= set(re.search(rf"{variable} := (.*)", read("Makefile").replace("\\\n", " ")).group(1).split())
    control = read("debian/control").split("Build-Depends:")[1].split("Standards-Version")[0]
    names |= {entry.split("(")[0].split(":")[0].strip() for entry in control.split(",")} - {"debhelper-compat"}
    known = subprocess.run(["apt-cache", "pkgnames"], capture_output=True, text=True).stdout.split()
    if "libvips42" not in known:
        return "apt has no lists of packages; run apt-get update to check their names"
    missing = sorted(names - set(known))
    expect(not missing, f"Debian has no package {', '.join(missing)}")
    return f"{len(names)} names of Debian packages"


def workflow():
    text = read(".github/workflows/release.yml")
    for script in re.findall(r"tools/packages/[\w-]+", text):
        expect((ROOT / script).exists(), f"release.yml runs {script}, which does not exist")
    with contextlib.suppress(ImportError):
        import yaml
        for name, job in yaml.safe_load(text)["jobs"].items():
            expect(job.get("timeout-minutes"), f"release.yml: job {name} has no time limit")
            expect(all("run" in step or "uses" in step for step in job["steps"]),
                   f"release.yml: a step of {name} is empty")
    targets = set(re.findall(r"(?m)^([a-z-]+):", read("Makefile")))
    for target in re.findall(r"make ([a-z-]+)", text):
        expect(target in targets or target == "git", f"release.yml runs make {target}, which does not exist")
    for architecture in ("amd64", "arm64"):
        expect(text.count(f"architecture: {architecture}") == 2, f"release.yml does not build all for {architecture}")


def linter(name, *files):
    program = shutil.which(name)
    if program is None:
        return f"{name} is not installed"
    finished = subprocess.run([program, *files], capture_output=True, text=True, cwd=ROOT)
    expect(finished.returncode == 0, f"{name}: {finished.stdout}{finished.stderr}")
    return name


def main():
    versions()
    dockerfile()
    workflow()
    notes = [debian_packages(), linter("hadolint", "deploy/Dockerfile"),
             linter("actionlint", ".github/workflows/release.yml")]
    for fault in faults:
        print(f"check: {fault}", file=sys.stderr)
    print("; ".join(notes))
    sys.exit(1 if faults else 0)


if __name__ == "__main__":
    main()
