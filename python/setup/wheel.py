# SPDX-License-Identifier: MIT
"""`make wheel` makes a wheel for machines without the libraries. auditwheel copies the
libraries into the wheel under unique names, since a process may have loaded other copies.
auditwheel also finds the oldest glibc with which the wheel runs. This file adds the
libraries' licences. auditwheel puts only a Python script into bin/, which starts the
viewer. Therefore this file puts the viewer itself into bin/.

    wheel.py EXTENSION VIEWER DIRECTORY
"""

import os
import re
import shutil
import subprocess
import sys
import tempfile
import zipfile
from pathlib import Path

import package

LIBRARIES = f"{package.FILES}.libs"
# Lists folders that may hold the libraries, relative to the folder that holds bin/. The
# folders are those of pip, Fedora's pip, Debian's pip, Debian's packages and pip --target.
PYTHON = f"python{sys.version_info[0]}.{sys.version_info[1]}"
PLACES = (
    f"lib/{PYTHON}/site-packages",
    f"lib64/{PYTHON}/site-packages",
    f"lib/{PYTHON}/dist-packages",
    "lib/python3/dist-packages",
    "",
)
NOTICE = f"""\
This wheel contains copies of shared libraries, in {LIBRARIES}/. They come from the packages
named below, of the system that the wheel was built on, and are unmodified, except for
their file names, the entries by which they find each other, and symbols for debuggers,
which were removed. You may replace each by another version under the same file name. The
licences are beside this file. The source code is that of the named source packages.
"""
TOO_NEW = """
make wheel: the C library of this system is newer than auditwheel knows. Build the wheel
on an older system: it runs on newer ones, too."""


def run(*command):
    """Returns the output of a command. If the command fails, prints its output and
    exits."""
    done = subprocess.run(command, capture_output=True, text=True)
    if done.returncode:
        sys.exit(
            f"{done.stdout}{done.stderr}make wheel: {command[0]} has failed."
            + (TOO_NEW if "too-recent versioned symbols" in done.stderr else "")
        )
    return done.stdout


def ask(*command):
    """Returns the output of a command, or "" if the command fails or does not exist."""
    try:
        return subprocess.run(command, capture_output=True, text=True, check=True).stdout
    except (OSError, subprocess.CalledProcessError):
        return ""


def repair(tree, plain):
    """Runs auditwheel, and unpacks its wheel into `tree`. Returns the wheel's name."""
    with tempfile.TemporaryDirectory() as repaired:
        run("auditwheel", "repair", "--strip", "-w", repaired, plain)
        (wheel,) = Path(repaired).iterdir()
        with zipfile.ZipFile(wheel) as archive:
            for entry in archive.infolist():
                path = Path(archive.extract(entry, tree))
                if not entry.is_dir():
                    path.chmod(entry.external_attr >> 16 & 0o777)
        return wheel.name


def place_viewer(tree):
    """Puts the viewer in place of auditwheel's script, with a path to the libraries."""
    moved = tree / f"{package.FILES}.scripts" / "ocular-top"
    moved.replace(tree / package.SCRIPTS / "ocular-top")
    moved.parent.rmdir()
    paths = ":".join(os.path.join("$ORIGIN/..", place, LIBRARIES) for place in PLACES)
    run("patchelf", "--set-rpath", paths, tree / package.SCRIPTS / "ocular-top")


# --- Licences -----------------------------------------------------------------


def origins(programs):
    """Returns a dict from the file name to the path of all libraries with which these
    programs are linked."""
    found = {}
    for program in programs:
        for path in re.findall(r"=> (/.*) \(0x", run("ldd", program)):
            found[os.path.basename(path)] = path
            found[os.path.basename(os.path.realpath(path))] = path
    return found


def of_debian(path):
    """Asks dpkg for a library's source package and version, and for its licence files.
    Returns None if dpkg does not know the library. dpkg may know the path with /usr if
    ldd prints it without /usr, or the other way round."""
    real = os.path.realpath(path)
    for name in real, real.removeprefix("/usr"), path:
        owner = ask("dpkg-query", "-S", name).partition(": ")[0]
        if owner:
            break
    else:
        return None
    form = "${source:Package} ${source:Version} ${Package}"
    source, version, binary = ask("dpkg-query", "-W", "-f", form, owner).split()
    copyright = Path("/usr/share/doc", binary, "copyright")
    if not copyright.exists():
        return None
    words = copyright.read_text("utf-8", "replace")
    common = set(re.findall(r"/usr/share/common-licenses/([\w.+-]*\w)", words))
    texts = [Path("/usr/share/common-licenses", name) for name in sorted(common)]
    return f"{source} {version}", [copyright, *filter(Path.exists, texts)]


def of_fedora(path):
    """Asks rpm for a library's package and version, and for its licence files."""
    form = "%{NAME} %{VERSION}-%{RELEASE}"
    owner = ask("rpm", "-qf", "--qf", form, os.path.realpath(path))
    texts = ask("rpm", "-qL", owner.split()[0]).splitlines() if owner else []
    return (owner, [Path(text) for text in texts]) if texts else None


def add_licences(tree, programs):
    """Adds the licences of the copied libraries. Exits if a library has no known
    licence."""
    folder = tree / package.INFO / "licenses" / "libraries"
    known = origins(programs)
    system = ask("sh", "-c", '. /etc/os-release; echo "$PRETTY_NAME"').strip()
    lines = [NOTICE]
    for library in sorted((tree / LIBRARIES).iterdir()):
        name = re.sub("-[0-9a-f]{8}(?=[.])", "", library.name, count=1)
        found = of_debian(known[name]) or of_fedora(known[name])
        if found is None:
            sys.exit(
                f"make wheel: no licence is known for {known[name]}, so it must not go on."
            )
        owner, texts = found
        place = folder / owner.split()[0]
        place.mkdir(parents=True, exist_ok=True)
        for text in texts:
            shutil.copyfile(text, place / text.name)
        lines.append(f"{library.name}: {owner} of {system}")
    (folder / "NOTICE").write_text("\n".join(lines) + "\n", "utf-8")
    files = sorted(path for path in folder.rglob("*") if path.is_file())
    named = [f"License-File: {path.relative_to(folder.parent)}\n" for path in files]
    metadata = tree / package.INFO / "METADATA"
    text = metadata.read_text("utf-8")
    metadata.write_text(
        text.replace("Classifier: ", "".join(named) + "Classifier: ", 1), "utf-8"
    )


def main(extension, viewer, directory):
    directory = Path(directory)
    directory.mkdir(parents=True, exist_ok=True)
    with tempfile.TemporaryDirectory() as work:
        plain, tree = Path(work, "plain"), Path(work, "tree")
        package.write_tree(plain, extension, viewer)
        name = package.pack(plain, work, f"{package.STEM}-{package.tag()}.whl")
        name = repair(tree, Path(work, name))
        place_viewer(tree)
        add_licences(tree, (*package.libraries(extension), viewer))
        print(directory / package.pack(tree, directory, name))


if __name__ == "__main__":
    main(Path(sys.argv[1]), Path(sys.argv[2]), sys.argv[3])
