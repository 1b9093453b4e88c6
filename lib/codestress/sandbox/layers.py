"""The layers around a child: namespaces, Landlock, seccomp, limits. Runs inside the worker; standard library only.

Each layer is probed where it will be used, because kernels, containers and systems differ in what they let one do.

The filters of system calls (seccomp BPF) are written out because no package in common use makes them without
libseccomp. They list what is allowed; everything else is refused with EPERM. Python programs that only compute need
little; Node and Java need threads, and what their event loops and garbage collectors use.
"""

from __future__ import annotations

import contextlib
import ctypes
import os
import platform
import resource
import signal
import socket
import struct
import sys
from collections.abc import Callable, Iterable, Sequence
from typing import NoReturn

PR_SET_PDEATHSIG, PR_SET_DUMPABLE, PR_SET_SECCOMP, PR_SET_NO_NEW_PRIVS, SECCOMP_MODE_FILTER = 1, 4, 22, 38, 2
CLONE_NEWUSER, CLONE_NEWPID, CLONE_NEWNET, CLONE_NEWIPC = 0x10000000, 0x20000000, 0x40000000, 0x08000000
LANDLOCK_CREATE, LANDLOCK_ADD, LANDLOCK_RESTRICT = 444, 445, 446
"""The same numbers on every machine."""
READ_FILE, READ_DIR, EXECUTE = 1 << 2, 1 << 3, 1 << 0
EVERYTHING = {1: (1 << 13) - 1, 2: (1 << 14) - 1, 3: (1 << 15) - 1, 4: (1 << 15) - 1}
"""File rights that Landlock governs, by version; from 5 on one more."""
ARCHITECTURES = {"x86_64": 0xC000003E, "aarch64": 0xC00000B7}
"""Audit numbers of the machines whose system-call numbers stand below, in this order."""
CALLS = """
read 0 63, write 1 64, close 3 57, stat 4 -, fstat 5 80, lstat 6 -, poll 7 -, lseek 8 62, mmap 9 222, mprotect 10 226,
munmap 11 215, brk 12 214, rt_sigaction 13 134, rt_sigprocmask 14 135, rt_sigreturn 15 139, pread64 17 67, readv 19 65,
writev 20 66, access 21 -, select 23 -, sched_yield 24 124, mremap 25 216, madvise 28 233, dup 32 23, nanosleep 35 101,
getpid 39 172, exit 60 93, uname 63 160, getcwd 79 17, readlink 89 -, getrlimit 97 163, getrusage 98 165,
sysinfo 99 179, times 100 153, getuid 102 174, getgid 104 176, geteuid 107 175, getegid 108 177, getppid 110 173,
sigaltstack 131 132, gettid 186 178, time 201 -, futex 202 98, sched_getaffinity 204 123, getdents64 217 61,
clock_gettime 228 113, clock_getres 229 114, clock_nanosleep 230 115, exit_group 231 94, newfstatat 262 79,
readlinkat 267 78, faccessat 269 48, pselect6 270 72, ppoll 271 73, set_robust_list 273 99, getrandom 318 278,
statx 332 291, rseq 334 293, faccessat2 439 439
"""
RUNTIME_CALLS = """
arch_prctl 158 -, capget 125 90, dup3 292 24, epoll_create1 291 20, epoll_ctl 233 21, epoll_pwait 281 22,
epoll_wait 232 -, eventfd2 290 19, fstatfs 138 44, getcpu 309 168, membarrier 324 283, mincore 27 232, pipe2 293 59,
pkey_alloc 330 289, pkey_free 331 290, pkey_mprotect 329 288, restart_syscall 219 128, rt_sigtimedwait 128 137,
sched_getparam 143 121, sched_getscheduler 145 120, set_tid_address 218 96, statfs 137 43
"""
"""Beside `CALLS`, for Node and Java."""
WRITING = os.O_WRONLY | os.O_RDWR | os.O_CREAT | os.O_TRUNC
CLONE_THREAD = 0x10000

ALLOW = 0x7FFF0000
REFUSE = 0x00050000 | 1  # SECCOMP_RET_ERRNO with EPERM
UNKNOWN = 0x00050000 | 38  # with ENOSYS
KILL = 0x80000000

LOAD, EQUAL, AT_LEAST, ANY_BIT, RETURN = 0x20, 0x15, 0x35, 0x45, 0x06

Instruction = tuple[int, int, int, int]
"""Operation, jump if true, jump if false, operand."""

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
            _call(libc.syscall(LANDLOCK_ADD, rules, 1, struct.pack("=Qi", rights, folder), 0))
            os.close(folder)
    return rules


def landlock(rules: int) -> None:
    """Applies the rules to this process and all it starts."""
    _call(libc.syscall(LANDLOCK_RESTRICT, rules, 0))


def filter_calls(prepared: Filter) -> None:
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
    if sys.platform != "linux" or name not in ARCHITECTURES or sys.maxsize < 2**32:
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


class Filter(ctypes.Structure):
    """`struct sock_fprog`: what prctl takes; keep it alive while it is used."""

    _fields_ = [("length", ctypes.c_ushort), ("program", ctypes.c_char_p)]


def python_filter() -> Filter:
    """The filter for Python programs."""
    return _assembled(_common(), CALLS)


def runtime_filter(own: int, path: int) -> Filter:
    """The filter for Node and Java in the process `own`, which may become the program whose path lies at `path`.

    It may start threads, and no process; signal itself, and nobody else.
    """
    program = _common()
    program += _when("clone 56 220", 0, ANY_BIT, [CLONE_THREAD], ALLOW, REFUSE)
    # The flags of clone3 cannot be looked at; told that it does not exist, C libraries use clone.
    program += _when("clone3 435 435", 0, AT_LEAST, [0], UNKNOWN, UNKNOWN)
    program += _when("execve 59 221", 0, EQUAL, [path & 0xFFFFFFFF], ALLOW, REFUSE)
    program += _when("tgkill 234 131", 0, EQUAL, [own], ALLOW, REFUSE)
    program += _when("socketpair 53 199", 0, EQUAL, [1], ALLOW, REFUSE)  # Java closes files with one
    # PR_SET_NAME PR_GET_NAME PR_SET_VMA; TCGETS FIONREAD FIONBIO FIONCLEX FIOCLEX
    program += _when("prctl 157 167", 0, EQUAL, [15, 16, 0x53564D41], ALLOW, REFUSE)
    program += _when("ioctl 16 29", 1, EQUAL, [0x5401, 0x541B, 0x5421, 0x5450, 0x5451], ALLOW, REFUSE)
    return _assembled(program, f"{CALLS},{RUNTIME_CALLS}")


def _common() -> list[Instruction]:
    """Kills on a foreign architecture, refuses x86-64's second set of numbers, which would go round the list; files
    are opened to be read, limits changed of oneself, and of fcntl's commands those are left that concern no other.

    F_SETOWN with F_SETSIG kills any process of the user; leases and locks keep others from their files.
    """
    program = [(LOAD, 0, 0, 4), (EQUAL, 1, 0, ARCHITECTURES[machine()]), (RETURN, 0, 0, KILL), (LOAD, 0, 0, 0)]
    program += [(AT_LEAST, 0, 1, 0x40000000), (RETURN, 0, 0, REFUSE)]
    program += _when("open 2 -", 1, ANY_BIT, [WRITING], REFUSE, ALLOW)
    program += _when("openat 257 56", 2, ANY_BIT, [WRITING], REFUSE, ALLOW)
    program += _when("prlimit64 302 261", 0, EQUAL, [0], ALLOW, REFUSE)
    # F_DUPFD F_GETFD F_SETFD F_GETFL F_DUPFD_CLOEXEC
    return program + _when("fcntl 72 25", 1, EQUAL, [0, 1, 2, 3, 1030], ALLOW, REFUSE)


def _numbers(calls: str) -> list[int]:
    column = 1 + list(ARCHITECTURES).index(machine())
    found = [entry.split()[column] for entry in calls.split(",")]
    return [int(number) for number in found if number != "-"]


def _when(call: str, index: int, test: int, operands: Sequence[int], yes: int, no: int) -> list[Instruction]:
    """For one system call, decides by the low half of one argument: whether one of the operands fits."""
    tests = [step for operand in operands for step in ((test, 0, 1, operand), (RETURN, 0, 0, yes))]
    program = [(LOAD, 0, 0, 16 + 8 * index), *tests, (RETURN, 0, 0, no)]
    return [step for number in _numbers(call) for step in ((EQUAL, 0, len(program), number), *program)]


def _assembled(program: Sequence[Instruction], calls: str) -> Filter:
    """The program, and all other calls allowed or refused."""
    allowed = [step for number in _numbers(calls) for step in ((EQUAL, 0, 1, number), (RETURN, 0, 0, ALLOW))]
    whole = [struct.pack("<HBBI", *instruction) for instruction in (*program, *allowed, (RETURN, 0, 0, REFUSE))]
    return Filter(len(whole), b"".join(whole))
