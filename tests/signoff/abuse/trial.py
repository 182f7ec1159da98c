# SPDX-License-Identifier: Apache-2.0
"""One try: files in a folder, a command line, what is done to it; and what came of it."""

import os
import shlex
import shutil
import signal
import subprocess
import time
from dataclasses import dataclass, field

PROGRAM = "$GEMM64"
PATIENCE = 5


@dataclass
class Trial:
    kind: str
    arguments: list
    files: dict = field(default_factory=dict)     # name: bytes, there before
    links: list = field(default_factory=list)     # (name, how, target): symbolic, hard, pipe, folder
    outputs: dict = field(default_factory=dict)   # name: format, as asked for
    extra: list = field(default_factory=list)    # names that may appear too
    helpers: list = field(default_factory=list)   # shell commands that run next to it
    before: str = ""                              # shell text before the command, such as ulimit
    streams: str = ""                             # redirections
    reader: str = ""                              # of standard output, in place of a file: head, nobody
    kill: tuple = None                            # (signal, seconds)
    free: int = None                              # bytes that are left on the disk
    trusted: bool = False                         # files and values are right: exit 1 is a failure
    codes: set = None                             # exit codes that are right, where less than all are

    def line(self):
        """The command as a shell takes it."""
        command = " ".join([PROGRAM] + [shlex.quote(argument) for argument in self.arguments])
        text = "".join(f"{helper} & " for helper in self.helpers) + self.before + "exec " + command
        return text + (" " + self.streams if self.streams else "")

    def reproduction(self):
        """The same for a person, with what cannot be said in that line next to it."""
        text = self.line()
        if self.reader:
            text = f"({text}) | " + ("head -1" if self.reader == "head" else "true")
        if self.kill:
            text = f"timeout -s {self.kill[0].name[3:]} {self.kill[1]:.4f} sh -c {shlex.quote(text)}"
        return text + (f"   # with {self.free} bytes left on the disk" if self.free is not None else "")


@dataclass
class Result:
    code: int = None      # exit code, negative: the signal that ended it
    out: bytes = b""
    err: bytes = b""
    seconds: float = 0.0
    mebibytes: int = 0
    hung: bool = False
    was_killed: bool = False  # by us
    skipped: str = ""         # why, where it could not be tried


def prepare(trial, folder):
    os.makedirs(folder)
    for name, data in trial.files.items():
        path = os.path.join(folder, name)
        os.makedirs(os.path.dirname(path), exist_ok=True)
        with open(path, "wb") as file:
            file.write(data)
    for name, how, target in trial.links:
        path = os.path.join(folder, name)
        if how == "symbolic":
            os.symlink(target, path)
        elif how == "hard":
            os.link(os.path.join(folder, target), path)
        elif how == "pipe":
            os.mkfifo(path)
        elif how == "folder":
            os.makedirs(path, exist_ok=True)
        elif how == "mode":
            os.chmod(path, target)


def fill(folder, free):
    """Leaves `free` bytes, in whole pages, on the disk of `folder`."""
    with open(os.path.join(folder, "filler"), "wb", buffering=0) as file:
        found = os.statvfs(folder)
        rest = found.f_bavail * found.f_bsize - free
        if rest > 0:
            file.write(bytes(rest))


def processor_seconds(pid):
    """What a process has used so far; 0 where it is gone."""
    try:
        with open(f"/proc/{pid}/stat", "rb") as file:
            used = file.read().rsplit(b")", 1)[1].split()
        return (int(used[11]) + int(used[12])) / os.sysconf("SC_CLK_TCK")
    except OSError:
        return 0


def run(trial, folder, logs, program, limit):
    """Runs it in `folder`; its output goes to `logs`. It has hung after `limit` seconds of processor time,
    or PATIENCE times as long on a machine that gives it less."""
    result = Result()
    begun = time.monotonic()
    environment = dict(os.environ, GEMM64=program, TMPDIR=folder, LC_ALL="C",
                       ASAN_OPTIONS="detect_leaks=0:allocator_may_return_null=1:exitcode=99:handle_segv=1:handle_sigfpe=0",
                       UBSAN_OPTIONS="print_stacktrace=1:exitcode=99")
    out_path, err_path = os.path.join(logs, "out"), os.path.join(logs, "err")
    reading, writing = os.pipe() if trial.reader else (None, None)
    with open(out_path, "wb") as out, open(err_path, "wb") as err:
        child = subprocess.Popen(["sh", "-c", trial.line()], cwd=folder, env=environment,
                                 stdin=subprocess.DEVNULL, stdout=writing if trial.reader else out,
                                 stderr=err, start_new_session=True)
    if trial.reader:
        os.close(writing)

    def send(kill, number):
        try:
            kill(child.pid, number)
        except ProcessLookupError:
            pass

    def on_alarm(number, frame):
        if child.returncode is not None:
            return  # it came as the program ended by itself
        if trial.kill and not result.was_killed:
            result.was_killed = True
            send(os.kill, trial.kill[0])
            signal.setitimer(signal.ITIMER_REAL, limit)
        elif processor_seconds(child.pid) < limit and time.monotonic() - begun < PATIENCE * limit:
            signal.setitimer(signal.ITIMER_REAL, limit)
        else:
            result.hung = True
            send(os.killpg, signal.SIGKILL)

    signal.signal(signal.SIGALRM, on_alarm)
    signal.setitimer(signal.ITIMER_REAL, trial.kill[1] if trial.kill else limit)
    if trial.reader:
        if trial.reader == "head":
            while result.out.count(b"\n") == 0 and (more := os.read(reading, 4096)):
                result.out += more
        os.close(reading)
    _, status, used = os.wait4(child.pid, 0)
    signal.setitimer(signal.ITIMER_REAL, 0)
    child.returncode = result.code = os.waitstatus_to_exitcode(status)
    send(os.killpg, signal.SIGKILL)  # helpers that still wait
    result.seconds = used.ru_utime + used.ru_stime
    result.mebibytes = used.ru_maxrss // 1024
    if not trial.reader:
        with open(out_path, "rb") as out:
            result.out = out.read(1 << 22)
    with open(err_path, "rb") as err:
        result.err = err.read(1 << 20)
    return result


def keep(trial, result, problems, folder, where):
    """Keeps a try that failed: its files as they were, what it said, and how to run it again."""
    shutil.rmtree(where, ignore_errors=True)
    prepare(trial, os.path.join(where, "files"))
    shutil.copytree(folder, os.path.join(where, "afterwards"), symlinks=True,
                    ignore=lambda at, names: [name for name in names
                                              if not os.path.isfile(os.path.join(at, name)) and
                                              not os.path.isdir(os.path.join(at, name))])
    for name, text in (("out", result.out), ("err", result.err),
                       ("problems", "\n".join(problems).encode() + b"\n"),
                       ("again", trial.reproduction().encode() + b"\n")):
        with open(os.path.join(where, name), "wb") as file:
            file.write(text)
