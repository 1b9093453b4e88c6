"""System-call filters (seccomp BPF), written out because no package in common use makes them without libseccomp.

They list what is allowed; everything else is refused with EPERM. Python programs that only compute need little; Node
and Java need threads, and what their event loops and garbage collectors use.
"""

from __future__ import annotations

import ctypes
import os
import struct
from collections.abc import Sequence

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


def python_filter(machine: str) -> bytes:
    """The filter for Python programs, as BPF instructions."""
    return _assembled([*_common(machine), *_allowed(CALLS, machine), (RETURN, 0, 0, REFUSE)])


def runtime_filter(machine: str, own: int, path: int) -> bytes:
    """The filter for Node and Java in the process `own`, which may become the program whose path lies at `path`.

    It may start threads, and no process; signal itself, and nobody else.
    """
    program = _common(machine)
    program += _when("clone 56 220", machine, 0, ANY_BIT, [CLONE_THREAD], ALLOW, REFUSE)
    # The flags of clone3 cannot be looked at; told that it does not exist, C libraries use clone.
    program += _when("clone3 435 435", machine, 0, AT_LEAST, [0], UNKNOWN, UNKNOWN)
    program += _when("execve 59 221", machine, 0, EQUAL, [path & 0xFFFFFFFF], ALLOW, REFUSE)
    program += _when("tgkill 234 131", machine, 0, EQUAL, [own], ALLOW, REFUSE)
    program += _when("socketpair 53 199", machine, 0, EQUAL, [1], ALLOW, REFUSE)  # Java closes files with one
    # PR_SET_NAME PR_GET_NAME PR_SET_VMA; TCGETS FIONREAD FIONBIO FIONCLEX FIOCLEX
    program += _when("prctl 157 167", machine, 0, EQUAL, [15, 16, 0x53564D41], ALLOW, REFUSE)
    program += _when("ioctl 16 29", machine, 1, EQUAL, [0x5401, 0x541B, 0x5421, 0x5450, 0x5451], ALLOW, REFUSE)
    return _assembled([*program, *_allowed(CALLS + "," + RUNTIME_CALLS, machine), (RETURN, 0, 0, REFUSE)])


def _common(machine: str) -> list[Instruction]:
    """Kills on a foreign architecture, refuses x86-64's second set of numbers, which would go round the list; files
    are opened to be read, limits changed of oneself, and of fcntl's commands those are left that concern no other.

    F_SETOWN with F_SETSIG kills any process of the user; leases and locks keep others from their files.
    """
    program = [(LOAD, 0, 0, 4), (EQUAL, 1, 0, ARCHITECTURES[machine]), (RETURN, 0, 0, KILL), (LOAD, 0, 0, 0)]
    program += [(AT_LEAST, 0, 1, 0x40000000), (RETURN, 0, 0, REFUSE)]
    program += _when("open 2 -", machine, 1, ANY_BIT, [WRITING], REFUSE, ALLOW)
    program += _when("openat 257 56", machine, 2, ANY_BIT, [WRITING], REFUSE, ALLOW)
    program += _when("prlimit64 302 261", machine, 0, EQUAL, [0], ALLOW, REFUSE)
    # F_DUPFD F_GETFD F_SETFD F_GETFL F_DUPFD_CLOEXEC
    return program + _when("fcntl 72 25", machine, 1, EQUAL, [0, 1, 2, 3, 1030], ALLOW, REFUSE)


def _numbers(calls: str, machine: str) -> list[int]:
    column = 1 + list(ARCHITECTURES).index(machine)
    found = [entry.split()[column] for entry in calls.split(",")]
    return [int(number) for number in found if number != "-"]


def _allowed(calls: str, machine: str) -> list[Instruction]:
    return [step for number in _numbers(calls, machine) for step in ((EQUAL, 0, 1, number), (RETURN, 0, 0, ALLOW))]


def _when(
    call: str, machine: str, index: int, test: int, operands: Sequence[int], yes: int, no: int
) -> list[Instruction]:
    """For one system call, decides by the low half of one argument: whether one of the operands fits."""
    tests = [step for operand in operands for step in ((test, 0, 1, operand), (RETURN, 0, 0, yes))]
    program = [(LOAD, 0, 0, 16 + 8 * index), *tests, (RETURN, 0, 0, no)]
    return [step for number in _numbers(call, machine) for step in ((EQUAL, 0, len(program), number), *program)]


def _assembled(program: list[Instruction]) -> bytes:
    return b"".join(struct.pack("<HBBI", *instruction) for instruction in program)


class Filter(ctypes.Structure):
    """`struct sock_fprog`."""

    _fields_ = [("length", ctypes.c_ushort), ("program", ctypes.c_char_p)]


def prepared(program: bytes) -> Filter:
    """What prctl takes; keep it alive while it is used."""
    return Filter(len(program) // 8, program)
