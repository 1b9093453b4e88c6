"""The layers around a child: namespaces, Landlock, seccomp, limits. Runs inside the worker; standard library only.

Each layer is probed where it will be used, because kernels, containers and systems differ in what they let one do.
"""

from __future__ import annotations

import contextlib
import ctypes
import os
import platform
import resource
import signal
import socket
import sys
from collections.abc import Callable, Iterable
from typing import NoReturn

from codestress.sandbox import seccomp

PR_SET_PDEATHSIG, PR_SET_DUMPABLE, PR_SET_SECCOMP, PR_SET_NO_NEW_PRIVS, SECCOMP_MODE_FILTER = 1, 4, 22, 38, 2
CLONE_NEWUSER, CLONE_NEWPID, CLONE_NEWNET, CLONE_NEWIPC = 0x10000000, 0x20000000, 0x40000000, 0x08000000
LANDLOCK_CREATE, LANDLOCK_ADD, LANDLOCK_RESTRICT = 444, 445, 446
"""The same numbers on every machine."""
READ_FILE, READ_DIR, EXECUTE = 1 << 2, 1 << 3, 1 << 0
EVERYTHING = {1: (1 << 13) - 1, 2: (1 << 14) - 1, 3: (1 << 15) - 1, 4: (1 << 15) - 1}
"""File rights that Landlock governs, by version; from 5 on one more."""

libc = ctypes.CDLL(None, use_errno=True)


def _call(result: int) -> int:
    if result < 0:
        raise OSError(ctypes.get_errno(), os.strerror(ctypes.get_errno()))
    return result


def die_with_parent() -> None:
    """Ends this process with the one that started it."""
    if sys.platform == "linux":
        _call(libc.prctl(PR_SET_PDEATHSIG, signal.SIGKILL, 0, 0, 0))


def drop_privileges() -> None:
    """Gives up for good what root may do beyond its own files: to read the memory of others, to raise limits, …

    No program started from here gains rights, which Landlock and seccomp ask for, and none can look into this process
    (/proc/PID/mem, /proc/PID/fd), with or without Landlock.
    """
    if sys.platform == "linux":
        header = (ctypes.c_uint32 * 2)(0x20080522, 0)  # _LINUX_CAPABILITY_VERSION_3, this process
        _call(libc.capset(header, (ctypes.c_uint32 * 6)()))
        _call(libc.prctl(PR_SET_DUMPABLE, 0, 0, 0, 0))
        _call(libc.prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0))


def enter_namespaces() -> None:
    """Own users, processes, network and IPC, without bubblewrap; the caller goes on as a child in them."""
    user, group = os.getuid(), os.getgid()
    _call(libc.unshare(CLONE_NEWUSER | CLONE_NEWPID | CLONE_NEWNET | CLONE_NEWIPC))
    with contextlib.suppress(OSError):
        for name, line in (("setgroups", "deny"), ("uid_map", f"{user} {user} 1"), ("gid_map", f"{group} {group} 1")):
            with open(f"/proc/self/{name}", "w") as file:  # noqa: PTH123  (pathlib is not worth its import here)
                file.write(line)
    first = os.fork()  # the first process of the new process namespace
    if first:
        _, status = os.waitpid(first, 0)
        os._exit(os.waitstatus_to_exitcode(status) & 0xFF)
    die_with_parent()


def landlock_rules(readable: Iterable[str]) -> int:
    """A descriptor of rules that let a process read below `readable` and nothing else; made once, applied per child.

    Where the kernel can, the rules also refuse TCP, and signals and abstract sockets to processes outside.
    """
    version = _call(libc.syscall(LANDLOCK_CREATE, None, 0, 1))
    files = EVERYTHING.get(version, (1 << 16) - 1)
    network = 3 if version >= 4 else 0
    scoped = 3 if version >= 6 else 0
    attributes = (ctypes.c_uint64 * 3)(files, network, scoped)
    size = 24 if version >= 6 else 16 if version >= 4 else 8
    rules = _call(libc.syscall(LANDLOCK_CREATE, attributes, size, 0))
    for path in readable:
        with contextlib.suppress(FileNotFoundError):
            folder = os.open(path, getattr(os, "O_PATH", 0) | os.O_CLOEXEC)
            rights = READ_FILE | EXECUTE | (READ_DIR if os.path.isdir(path) else 0)  # noqa: PTH112
            beneath = (ctypes.c_uint8 * 12).from_buffer_copy(
                rights.to_bytes(8, sys.byteorder) + folder.to_bytes(4, sys.byteorder)
            )
            _call(libc.syscall(LANDLOCK_ADD, rules, 1, beneath, 0))
            os.close(folder)
    return rules


def landlock(rules: int) -> None:
    """Applies the rules to this process and all it starts."""
    _call(libc.syscall(LANDLOCK_RESTRICT, rules, 0))


def filter_calls(prepared: seccomp.Filter) -> None:
    """Applies a filter of system calls to this process and all it starts."""
    _call(libc.prctl(PR_SET_SECCOMP, SECCOMP_MODE_FILTER, ctypes.byref(prepared), 0, 0))


def become(command: list[str], environment: dict[str, str], prepare: Callable[[int], None]) -> NoReturn:
    """Becomes a program. `prepare` gets the address of its path: a filter may let this process become nothing else."""
    path = ctypes.create_string_buffer(command[0].encode())
    arguments = (ctypes.c_char_p * (len(command) + 1))(*[part.encode() for part in command])
    variables = (ctypes.c_char_p * (len(environment) + 1))(*[f"{k}={v}".encode() for k, v in environment.items()])
    prepare(ctypes.addressof(path))
    _call(libc.execve(path, arguments, variables))
    raise AssertionError("execve came back")


def limit(*, memory: int, cpu_s: int, runtime: bool, soft_only: bool) -> None:
    """Memory, CPU seconds, file size, open files, core dumps; a CPU limit that is `soft_only` can be moved.

    A `runtime` (Node, Java) reserves more addresses than it uses and starts threads: of its memory that is limited
    which it may write to.
    """
    bounds = [
        (resource.RLIMIT_CPU, (cpu_s, resource.RLIM_INFINITY if soft_only else cpu_s + 1)),
        (resource.RLIMIT_DATA if runtime else resource.RLIMIT_AS, (memory, memory)),
        (resource.RLIMIT_FSIZE, (0, 0)),
        (resource.RLIMIT_NOFILE, (256, 256)),
        (resource.RLIMIT_CORE, (0, 0)),
        *([] if runtime else [(resource.RLIMIT_NPROC, (0, 0))]),
    ]
    for which, (soft, hard) in bounds:
        # macOS refuses some of these; the others still hold.
        with contextlib.suppress(ValueError, OSError):
            ceiling = resource.getrlimit(which)[1]
            if ceiling != resource.RLIM_INFINITY:
                soft, hard = min(soft, ceiling), ceiling if hard == resource.RLIM_INFINITY else min(hard, ceiling)
            resource.setrlimit(which, (soft, hard))


def machine() -> str:
    """The architecture whose filters fit this process, or an error that names it."""
    name = platform.machine()
    if sys.platform != "linux" or name not in seccomp.ARCHITECTURES or sys.maxsize < 2**32:
        raise OSError(f"no filter for {sys.platform} on {name}")
    return name


def holds(apply: Callable[[], None], attempt: Callable[[], object]) -> str:
    """Empty when `attempt` succeeds in a child without the layer, and is refused in a child with it; else why not."""
    reader, writer = os.pipe()
    child = os.fork()
    if child == 0:
        told = "the layer lets through what it should refuse"
        try:
            apply()
            try:
                attempt()
            except OSError:
                told = ""
        except BaseException as error:
            told = f"{type(error).__name__}: {error}"
        os.write(writer, told.encode()[:500] or b"-")
        os._exit(0)
    os.close(writer)
    told = os.read(reader, 500).decode(errors="replace")
    os.close(reader)
    os.waitpid(child, 0)
    return {"-": "", "": "the child died"}.get(told, told)


def open_socket() -> None:
    """What a network layer refuses."""
    socket.socket(socket.AF_INET, socket.SOCK_STREAM).close()
