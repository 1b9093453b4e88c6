"""System-call filters (seccomp BPF), written out because no package in common use makes them without libseccomp.

Two of them: `PYTHON` lists what a Python program that only computes needs, and everything else is refused with
EPERM; `RUNTIME`, for Node and Java, which need threads and much else, lists what is refused.
"""

from __future__ import annotations

import ctypes
import os
import struct

ARCHITECTURES = {"x86_64": 0xC000003E, "aarch64": 0xC00000B7}
"""Audit numbers of the machines whose system-call numbers stand below."""

PYTHON = {
    "x86_64": (
        # read write close stat fstat lstat poll lseek mmap mprotect munmap brk rt_sigaction rt_sigprocmask rt_sigreturn
        *(0, 1, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15),
        # pread64 readv writev access select sched_yield mremap madvise dup nanosleep getpid exit uname
        *(17, 19, 20, 21, 23, 24, 25, 28, 32, 35, 39, 60, 63),
        # getcwd readlink getrlimit getrusage sysinfo times getuid getgid geteuid getegid getppid sigaltstack gettid
        *(79, 89, 97, 98, 99, 100, 102, 104, 107, 108, 110, 131, 186),
        # time futex sched_getaffinity getdents64 clock_gettime clock_getres clock_nanosleep exit_group newfstatat
        *(201, 202, 204, 217, 228, 229, 230, 231, 262),
        # readlinkat faccessat pselect6 ppoll set_robust_list getrandom statx rseq faccessat2
        *(267, 269, 270, 271, 273, 318, 332, 334, 439),
    ),
    "aarch64": (
        # getcwd dup faccessat close getdents64 lseek read write readv writev pread64 pselect6 ppoll readlinkat
        *(17, 23, 48, 57, 61, 62, 63, 64, 65, 66, 67, 72, 73, 78),
        # newfstatat fstat exit exit_group futex set_robust_list nanosleep clock_gettime clock_getres clock_nanosleep
        *(79, 80, 93, 94, 98, 99, 101, 113, 114, 115),
        # sched_getaffinity sched_yield sigaltstack rt_sigaction rt_sigprocmask rt_sigreturn times uname getrlimit
        *(123, 124, 132, 134, 135, 139, 153, 160, 163),
        # getrusage getpid getppid getuid geteuid getgid getegid gettid sysinfo brk munmap mremap mmap mprotect madvise
        *(165, 172, 173, 174, 175, 176, 177, 178, 179, 214, 215, 216, 222, 226, 233),
        # getrandom statx rseq faccessat2
        *(278, 291, 293, 439),
    ),
}
OPEN_READ_ONLY = {"x86_64": ((2, 1), (257, 2)), "aarch64": ((56, 2),)}
"""open and openat with the index of their flags: allowed when these only read."""
OWN_LIMITS = {"x86_64": ((302, 0),), "aarch64": ((261, 0),)}
"""prlimit64 with the index of its process: allowed for oneself (0)."""
FCNTL = {"x86_64": (72, 1), "aarch64": (25, 1)}
"""fcntl with the index of its command."""
HARMLESS = (0, 1, 2, 3, 1030)
"""F_DUPFD F_GETFD F_SETFD F_GETFL F_DUPFD_CLOEXEC; of the others, F_SETOWN with F_SETSIG kills any process of the user,
and leases and locks keep others from their files."""
WRITING = os.O_WRONLY | os.O_RDWR | os.O_CREAT | os.O_TRUNC

RUNTIME = {
    "x86_64": (
        *(57, 58),  # fork vfork
        # socket connect accept sendto bind listen kill ptrace mount umount2 reboot init_module tkill
        *(41, 42, 43, 44, 49, 50, 62, 101, 165, 166, 169, 175, 200),
        # mknod chroot add_key request_key keyctl unshare perf_event_open setns process_vm_readv process_vm_writev
        *(133, 161, 248, 249, 250, 272, 298, 308, 310, 311),
        # bpf userfaultfd io_uring_setup pidfd_open pidfd_getfd pidfd_send_signal
        *(321, 323, 425, 434, 438, 424),
    ),
    "aarch64": (
        # mknodat umount2 mount chroot unshare ptrace kill tkill reboot init_module socket bind listen accept connect
        *(33, 39, 40, 51, 97, 117, 129, 130, 142, 105, 198, 200, 201, 202, 203),
        # sendto add_key request_key keyctl perf_event_open setns process_vm_readv process_vm_writev bpf userfaultfd
        *(206, 217, 218, 219, 241, 268, 270, 271, 280, 282),
        # io_uring_setup pidfd_open pidfd_getfd pidfd_send_signal
        *(425, 434, 438, 424),
    ),
}

CLONE = {"x86_64": (56, 0), "aarch64": (220, 0)}
"""clone with the index of its flags: threads are allowed, processes are not."""
CLONE_THREAD = 0x10000
CLONE3 = 435
"""Its flags cannot be looked at; told that it does not exist, C libraries use clone."""

ALLOW = 0x7FFF0000
REFUSE = 0x00050000 | 1  # SECCOMP_RET_ERRNO with EPERM
UNKNOWN = 0x00050000 | 38  # with ENOSYS
KILL = 0x80000000

LOAD, EQUAL, AT_LEAST, ANY_BIT, RETURN = 0x20, 0x15, 0x35, 0x45, 0x06


def python_filter(machine: str) -> bytes:
    """The filter for Python programs, as BPF instructions."""
    program = _head(machine)
    for number, index in OPEN_READ_ONLY[machine]:
        program += _when_argument(number, index, ANY_BIT, WRITING, REFUSE, ALLOW)
    for number, index in OWN_LIMITS[machine]:
        program += _when_argument(number, index, EQUAL, 0, ALLOW, REFUSE)
    number, index = FCNTL[machine]
    allowed = [step for command in HARMLESS for step in ((EQUAL, 0, 1, command), (RETURN, 0, 0, ALLOW))]
    program += [(EQUAL, 0, len(allowed) + 2, number), (LOAD, 0, 0, 16 + 8 * index), *allowed, (RETURN, 0, 0, REFUSE)]
    for number in PYTHON[machine]:
        program += [(EQUAL, 0, 1, number), (RETURN, 0, 0, ALLOW)]
    return _assembled([*program, (RETURN, 0, 0, REFUSE)])


def runtime_filter(machine: str) -> bytes:
    """The filter for Node and Java, as BPF instructions."""
    number, index = CLONE[machine]
    program = [*_head(machine), *_when_argument(number, index, ANY_BIT, CLONE_THREAD, ALLOW, REFUSE)]
    program += [(EQUAL, 0, 1, CLONE3), (RETURN, 0, 0, UNKNOWN)]
    for number in RUNTIME[machine]:
        program += [(EQUAL, 0, 1, number), (RETURN, 0, 0, REFUSE)]
    return _assembled([*program, (RETURN, 0, 0, ALLOW)])


Instruction = tuple[int, int, int, int]
"""Operation, jump if true, jump if false, operand."""


def _head(machine: str) -> list[Instruction]:
    """Kills on a foreign architecture; refuses x86-64's second set of numbers, which would go round the list."""
    head = [(LOAD, 0, 0, 4), (EQUAL, 1, 0, ARCHITECTURES[machine]), (RETURN, 0, 0, KILL), (LOAD, 0, 0, 0)]
    return [*head, (AT_LEAST, 0, 1, 0x40000000), (RETURN, 0, 0, REFUSE)]


def _when_argument(number: int, index: int, test: int, operand: int, yes: int, no: int) -> list[Instruction]:
    """For one system call, decides by the low half of one argument."""
    offset = 16 + 8 * index
    return [
        (EQUAL, 0, 4, number),
        (LOAD, 0, 0, offset),
        (test, 0, 1, operand),
        (RETURN, 0, 0, yes),
        (RETURN, 0, 0, no),
    ]


def _assembled(program: list[Instruction]) -> bytes:
    return b"".join(struct.pack("<HBBI", *instruction) for instruction in program)


class Filter(ctypes.Structure):
    """`struct sock_fprog`."""

    _fields_ = [("length", ctypes.c_ushort), ("program", ctypes.c_char_p)]


def prepared(program: bytes) -> Filter:
    """What prctl takes; keep it alive while it is used."""
    return Filter(len(program) // 8, program)
