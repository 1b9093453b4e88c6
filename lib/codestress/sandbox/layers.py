"""The layers of protection around a child: namespaces, Landlock, seccomp, limits. This
module runs inside the worker and imports only the standard library.

Each layer is probed on the machine that will use it, because kernels, containers and
systems differ in the protection that they offer.

The filters of system calls (seccomp BPF) are written out because no package in common
use makes them without libseccomp. The filters list the allowed calls; every other call
is refused with EPERM. Python programs that only compute need few calls. Node needs
threads, and the calls of its event loop and garbage collector.

Files are opened only to read, and a process changes only its own limits. fcntl keeps
F_DUPFD, F_GETFD, F_SETFD, F_GETFL and F_DUPFD_CLOEXEC, which concern no other process.
F_SETOWN with F_SETSIG could kill any process of the user. Leases and locks could keep
other processes from their files. ioctl keeps TCGETS, FIONREAD, FIONBIO, FIONCLEX and
FIOCLEX; prctl keeps PR_SET_NAME, PR_GET_NAME and PR_SET_VMA. Event loops
(`asyncio.run`) wake themselves up through a pair of sockets. A filter cannot read the
flags of clone3, which lie in memory; C libraries use clone if clone3 seems not to
exist.
"""

from __future__ import annotations

import contextlib
import ctypes
import os
import platform
import resource
import signal
import struct
import sys
from collections.abc import Callable, Iterable
from typing import NoReturn

PR_SET_PDEATHSIG, PR_SET_DUMPABLE, PR_SET_SECCOMP, PR_SET_NO_NEW_PRIVS = 1, 4, 22, 38
SECCOMP_MODE_FILTER = 2
CLONE_NEWUSER, CLONE_NEWPID = 0x10000000, 0x20000000
CLONE_NEWNET, CLONE_NEWIPC = 0x40000000, 0x08000000
LANDLOCK_CREATE, LANDLOCK_ADD, LANDLOCK_RESTRICT = 444, 445, 446
"""Numbers of Landlock's system calls, which are the same on every machine."""
READ_FILE, READ_DIR, EXECUTE = 1 << 2, 1 << 3, 1 << 0
FILE_RIGHTS = {1: 13, 2: 14, 3: 15, 4: 15}
"""Number of file rights that Landlock governs, by Landlock's version; 16 from version 5
on."""
ARCHITECTURES = {"x86_64": 0xC000003E, "aarch64": 0xC00000B7}
"""Audit numbers of the machines whose system-call numbers `CALLS` lists, in the order
of its columns."""
with open(f"{__file__.rpartition('/')[0]}/system_calls.txt", encoding="ascii") as file:  # noqa: PTH123
    CALLS, RUNTIME_CALLS = file.read().rstrip().split("\n\n")
"""Allowed system calls, one per line: for all programs, and additionally for Node.

A line has the call's name, its number on each machine (-: none) and, for some calls, a
condition: the index of an argument, a key of `CONDITIONS`, and operands.
"""

ENVIRONMENT = (b"PATH=/usr/bin:/bin", b"LANG=C.UTF-8", b"HOME=/nowhere")
"""Environment of Node."""

ALLOW = 0x7FFF0000
# SECCOMP_RET_ERRNO with EPERM.
REFUSE = 0x00050000 | 1
# SECCOMP_RET_ERRNO with ENOSYS.
UNKNOWN = 0x00050000 | 38
KILL = 0x80000000

LOAD, EQUAL, AT_LEAST, ANY_BIT, RETURN = 0x20, 0x15, 0x35, 0x45, 0x06
CONDITIONS = {
    "among": (EQUAL, ALLOW, REFUSE),
    "with": (ANY_BIT, ALLOW, REFUSE),
    "without": (ANY_BIT, REFUSE, ALLOW),
    "never": (EQUAL, UNKNOWN, UNKNOWN),
}
"""For each condition of a call in `CALLS`: the test of an argument's low half with each
operand, the decision if a test passes, and the decision if none does."""

Instruction = tuple[int, int, int, int]
"""An instruction of a filter: operation, instructions to skip if true, instructions to
skip if false, operand."""

Layer = Callable[[], object]
"""A function that applies a layer of protection to this process and its later children.
The function raises `OSError` if the kernel refuses."""

libc = ctypes.CDLL(None, use_errno=True)


def _call(result: int) -> int:
    if result < 0:
        raise OSError(ctypes.get_errno(), os.strerror(ctypes.get_errno()))
    return result


def die_with_parent() -> None:
    """Make the kernel kill this process when its parent ends; do nothing except on
    Linux."""
    if sys.platform == "linux":
        _call(libc.prctl(PR_SET_PDEATHSIG, signal.SIGKILL, 0, 0, 0))


def drop_privileges() -> None:
    """Give up root's rights beyond its own files (to read the memory of other
    processes, to raise limits, …), for this process and for good.

    Programs that this process starts gain no rights, which Landlock and seccomp
    require. No process can look into this one (/proc/PID/mem, /proc/PID/fd), with or
    without Landlock. Nothing happens except on Linux.
    """
    if sys.platform == "linux":
        # _LINUX_CAPABILITY_VERSION_3, this process
        header = (ctypes.c_uint32 * 2)(0x20080522, 0)
        _call(libc.capset(header, (ctypes.c_uint32 * 6)()))
        _call(libc.prctl(PR_SET_DUMPABLE, 0, 0, 0, 0))
        _call(libc.prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0))


def enter_namespaces() -> None:
    """Enter new namespaces of users, processes, network and IPC without bubblewrap.

    Code after the call runs in a child inside the namespaces; this process waits and
    ends with the child's exit status. Raises `OSError` if the system refuses.
    """
    user, group = os.getuid(), os.getgid()
    _call(libc.unshare(CLONE_NEWUSER | CLONE_NEWPID | CLONE_NEWNET | CLONE_NEWIPC))
    with contextlib.suppress(OSError):
        for name, line in (
            ("setgroups", "deny"),
            ("uid_map", f"{user} {user} 1"),
            ("gid_map", f"{group} {group} 1"),
        ):
            # This process stays small without pathlib.
            with open(f"/proc/self/{name}", "w") as file:  # noqa: PTH123
                file.write(line)
    # The first process of the new process namespace.
    first = os.fork()
    if first:
        _, status = os.waitpid(first, 0)
        os._exit(os.waitstatus_to_exitcode(status) & 0xFF)
    die_with_parent()


def landlock(readable: Iterable[str]) -> Layer:
    """Return the layer of Landlock: a process may read and execute files below the
    paths `readable`, and use no other files.

    If the kernel can, the layer also refuses TCP, and signals and abstract sockets to
    processes outside. Raises `OSError` if the kernel has no Landlock.
    """
    version = _call(libc.syscall(LANDLOCK_CREATE, None, 0, 1))
    files = (1 << FILE_RIGHTS.get(version, 16)) - 1
    # Files, network, scopes; older versions know only files, or files and network.
    attributes = (ctypes.c_uint64 * 3)(files, 3, 3)
    size = 24 if version >= 6 else 16 if version >= 4 else 8
    rules = _call(libc.syscall(LANDLOCK_CREATE, attributes, size, 0))
    for path in readable:
        with contextlib.suppress(FileNotFoundError):
            folder = os.open(path, getattr(os, "O_PATH", 0) | os.O_CLOEXEC)
            rights = READ_FILE | EXECUTE | (READ_DIR if os.path.isdir(path) else 0)  # noqa: PTH112
            rule = struct.pack("=Qi", rights, folder)
            _call(libc.syscall(LANDLOCK_ADD, rules, 1, rule, 0))
            os.close(folder)
    return lambda: _call(libc.syscall(LANDLOCK_RESTRICT, rules, 0))


def become(command: list[str], *, filtered: bool) -> NoReturn:
    """Replace this process with the program `command[0]` (Node), started with the
    arguments in `command`; do not return.

    With `filtered`, a filter of system calls is applied: the process may become only
    that program, start threads but no processes, and signal only itself. Raises
    `OSError` if the program cannot start.
    """
    path = ctypes.create_string_buffer(command[0].encode())
    parts = [part.encode() for part in command]
    arguments = (ctypes.c_char_p * (len(parts) + 1))(*parts)
    variables = (ctypes.c_char_p * (len(ENVIRONMENT) + 1))(*ENVIRONMENT)
    if filtered:
        start = ctypes.addressof(path) & 0xFFFFFFFF
        runtime = RUNTIME_CALLS.format(own=os.getpid(), path=start)
        call_filter(f"{CALLS}\n{runtime}")()
    _call(libc.execve(path, arguments, variables))
    raise AssertionError("execve returned")


def limit(*, memory: int, cpu_s: int, runtime: bool) -> None:
    """Limit this process to `memory` bytes, `cpu_s` seconds of CPU time, 256 open
    files, no written files, no core dumps and, unless `runtime`, no child processes.

    Limits that the system refuses are left out. A `runtime` (Node) reserves more
    addresses than it uses and starts threads, so that only its writable memory is
    limited.
    """
    bounds = {
        resource.RLIMIT_CPU: cpu_s,
        resource.RLIMIT_DATA if runtime else resource.RLIMIT_AS: memory,
        resource.RLIMIT_FSIZE: 0,
        resource.RLIMIT_NOFILE: 256,
        resource.RLIMIT_CORE: 0,
    }
    if not runtime:
        bounds[resource.RLIMIT_NPROC] = 0
    for which, most in bounds.items():
        # macOS refuses some limits; any system refuses one above its maximum, which holds.
        with contextlib.suppress(ValueError, OSError):
            # The soft limit of CPU time sends the child a signal, a second before its end.
            hard = most + (which == resource.RLIMIT_CPU)
            resource.setrlimit(which, (most, hard))


def holding(
    prepare: Callable[[], Layer], attempt: Callable[[], object]
) -> Layer | None:
    """Return the layer of protection that `prepare` makes; None if the kernel lacks the
    layer or it does not hold.

    To try the layer, a child applies it and calls `attempt`, which must then fail with
    `OSError`.
    """
    try:
        apply = prepare()
    except (OSError, AttributeError):
        return None
    child = os.fork()
    if child == 0:
        failed = 1
        try:
            apply()
            try:
                attempt()
            except OSError:
                failed = 0
        finally:
            os._exit(failed)
    return None if os.waitpid(child, 0)[1] else apply


class Filter(ctypes.Structure):
    """The C structure `struct sock_fprog` of a filter of system calls: the number of
    its instructions and the instructions.

    The instructions must stay alive while prctl reads them.
    """

    _fields_ = [("length", ctypes.c_ushort), ("program", ctypes.c_char_p)]


def call_filter(calls: str = CALLS) -> Layer:
    """Return the layer that allows the system calls listed in `calls`, lines as in
    `CALLS` (those for Python programs), and refuses all others.

    The filter kills a process that calls with a foreign architecture, and refuses
    x86-64's second set of call numbers, which would bypass the list. Raises `OSError`
    on an architecture without a column in `CALLS`, another system than Linux, or a
    32-bit Python.
    """
    machine = platform.machine()
    if sys.platform != "linux" or machine not in ARCHITECTURES or sys.maxsize < 2**32:
        raise OSError(f"no filter for {sys.platform} on {machine}")
    program = [
        (LOAD, 0, 0, 4),
        (EQUAL, 1, 0, ARCHITECTURES[machine]),
        (RETURN, 0, 0, KILL),
        (LOAD, 0, 0, 0),
        (AT_LEAST, 0, 1, 0x40000000),
        (RETURN, 0, 0, REFUSE),
    ]
    column = list(ARCHITECTURES).index(machine)
    for line in calls.splitlines():
        _, *numbers = line.split()
        number, decision = numbers[column], _decision(*numbers[2:])
        if number != "-":
            program += [(EQUAL, 0, len(decision), int(number)), *decision]
    program.append((RETURN, 0, 0, REFUSE))
    packed = b"".join(struct.pack("<HBBI", *instruction) for instruction in program)
    code = ctypes.byref(Filter(len(program), packed))
    return lambda: _call(libc.prctl(PR_SET_SECCOMP, SECCOMP_MODE_FILTER, code, 0, 0))


def _decision(
    index: str = "", condition: str = "", *operands: str
) -> list[Instruction]:
    """Return the instructions that decide on a system call with a condition as in
    `CALLS`, or that allow the call if there is no condition."""
    if not condition:
        return [(RETURN, 0, 0, ALLOW)]
    test, passed, failed = CONDITIONS[condition]
    program = [(LOAD, 0, 0, 16 + 8 * int(index))]
    for operand in operands:
        program += [(test, 0, 1, int(operand, 0)), (RETURN, 0, 0, passed)]
    return [*program, (RETURN, 0, 0, failed)]
