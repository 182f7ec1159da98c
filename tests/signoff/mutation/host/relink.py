# SPDX-License-Identifier: Apache-2.0
"""Compiles the objects that hold mutated sources, and links programs of an existing build with them.

All else is taken as the build has it, so that a draw costs some twenty objects and not the whole host.
"""

import collections
import concurrent.futures
import json
import os
import re
import shlex
import shutil
import subprocess

HERE = os.path.dirname(os.path.abspath(__file__))
NEXT_TO = ("libgemm64_ep_local.so", "onnxruntime")  # what programs look for in their own folder
INCLUDED = re.compile(r'^#include "(.*)"$', re.M)

# An object of a library: its path in the build, its compiler's command, the compiled file, the sources of the project in it
Object = collections.namedtuple("Object", "output command file sources")


def objects_of(root, build):
    """The objects of the host's libraries."""
    found = []
    for entry in json.loads(tool("ninja", "-C", build, "-t", "compdb")):
        if not re.match(r"host/(?!.*cmake_pch).*\.o$", entry["output"]):
            continue
        file = os.path.join(build, entry["file"])
        files = [file]
        if "/Unity/" in file:
            with open(file, encoding="utf-8") as unity:
                files = INCLUDED.findall(unity.read())
        sources = tuple(os.path.relpath(os.path.realpath(path), root) for path in files)
        found.append(Object(entry["output"], entry["command"], file, sources))
    return found


def tool(*command, cwd=None):
    done = subprocess.run(command, cwd=cwd, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True, check=False)
    if done.returncode:
        raise SystemExit(f"{done.stdout}{done.stderr}\nhost-mutants: this failed: {' '.join(command)}")
    return done.stdout


def compiled(command, file, output):
    """The command for another file and output; without a list of dependencies, and soon done. An access outside a container of
    the standard library ends the process, so that no test depends on what is stored there."""
    words = shlex.split(command)
    for option, length in (("-MD", 1), ("-MT", 2), ("-MF", 2)):
        if option in words:
            at = words.index(option)
            del words[at:at + length]
    words[words.index("-c") + 1] = file
    words[words.index("-o") + 1] = output
    return words + ["-O1", "-w", "-D_GLIBCXX_ASSERTIONS"]


def source_of(made, folder):
    """The file to compile in place of an object's: with mutated sources where `folder` has them, None if it has none."""
    mutated = {source: os.path.join(folder, source) for source in made.sources if os.path.exists(os.path.join(folder, source))}
    if not mutated:
        return None
    if "/Unity/" not in made.file:
        return mutated[made.sources[0]]
    with open(made.file, encoding="utf-8") as unity:
        text = unity.read()
    for source, path in mutated.items():
        text = re.sub(rf'^#include ".*/{re.escape(source)}"$', f'#include "{path}"', text, flags=re.M)
    file = os.path.join(folder, made.output[:-len(".o")])
    os.makedirs(os.path.dirname(file), exist_ok=True)
    with open(file, "w", encoding="utf-8") as out:
        out.write(text)
    return file


def build(objects, of, folder, programs, jobs):
    """Writes each program to `folder`, linked with the sources of FOLDER/source in place of the project's."""
    for name in NEXT_TO:
        if not os.path.lexists(os.path.join(folder, name)):
            os.symlink(os.path.join(of, name), os.path.join(folder, name))
    changed = {made: file for made in objects if (file := source_of(made, os.path.join(folder, "source")))}
    usual = next(made.command for made in objects if made.file.endswith(".cxx"))
    own = [os.path.join(folder, f"{name}.o") for name in ("mutant", "reached")]
    commands = [compiled(usual, os.path.join(HERE, os.path.basename(file)[:-1] + "cpp"), file) for file in own]
    archives = collections.defaultdict(list)
    for made, file in changed.items():
        library, name = re.fullmatch(r"(.*/)CMakeFiles/(\w+)\.dir/.*", made.output).groups()
        output = os.path.join(folder, "objects", name, os.path.basename(made.output))
        os.makedirs(os.path.dirname(output), exist_ok=True)
        # A copy of the driver includes its headers from the folder of the original.
        commands.append([*compiled(made.command, file, output), "-iquote", os.path.dirname(made.file)])
        archives[f"{library}lib{name}.a"].append(output)
    with concurrent.futures.ThreadPoolExecutor(jobs) as pool:
        list(pool.map(lambda command: tool(*command, cwd=of), commands))
        for archive, members in archives.items():
            shutil.copyfile(os.path.join(of, archive), os.path.join(folder, os.path.basename(archive)))
            tool("ar", "r", os.path.join(folder, os.path.basename(archive)), *members)
        # Programs of tests also note which of them comes by which place.
        list(pool.map(lambda program: link(program, archives, own if program.endswith("_test") else own[:1], of, folder), programs))


def link(program, archives, own, of, folder):
    steps = tool("ninja", "-C", of, "-t", "commands", program).splitlines()[-1].split("&&")
    words = next(words for words in map(shlex.split, steps) if "-o" in words)
    words = [os.path.join(folder, os.path.basename(word)) if word in archives else word for word in words]
    at = words.index("-o")
    tool(*words[:at], *own, "-o", os.path.join(folder, program), *words[at + 2:], cwd=of)
