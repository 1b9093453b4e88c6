"""Whole programs that attack: what a sandbox must hold. They are run where the layers that refuse them hold.

Places: {guess}, a value that the program would like to be believed, {mark}, a file that must not appear, {port}, a
server that must not be reached.
"""

from __future__ import annotations

import contextlib
import os
from pathlib import Path

from codestress.sandbox.executor import Program

TRIED = """
import os
def tried(call, *arguments):
    try:
        return call(*arguments)
    except (OSError, ValueError, RuntimeError, MemoryError):
        pass
"""
"""Stands before every attack: what is refused keeps none from going on."""
ATTACKS = {
    "sys.exit": "import sys\nsys.exit(0)",
    "os._exit": "os._exit(0)",
    "os._exit after a line": "os.write(3, b'[\"returned\", 1]\\n')\nos._exit(0)",
    "abort": "os.abort()",
    "verdicts to every descriptor": """
for number in range(256):
    for text in (b'ok', b'right', b'passed', b'["returned", 1]\\n', b'1\\n', b'true\\n', b'\\x00' * 8):
        tried(os.write, number, text)
""",
    "verdicts for ever": """
while True:
    for number in range(9):
        tried(os.write, number, b'["returned", 1]\\n' * 1000)
""",
    "claim a backstop": "import codestress.sandbox.child as c\nc.json.dumps = lambda outcome: '[\"CPU time\"]'",
    "take the result back": """
def f(x):
    reader = os.open('/proc/self/fd/3', os.O_RDONLY)
    os.write(3, b'x' * 60000)
    while True:
        os.read(reader, 1 << 16)
""",
    "values that collide": "def f(x): return {(2 ** 61 - 1) * i for i in range(40000)}",
    "signals by fcntl": """
import fcntl
for command, argument in ((10, 15), (8, os.getppid())):
    fcntl.fcntl(3, command, argument)
""",
    "close every descriptor": "os.closerange(0, 256)\nimport time\ntime.sleep(99)",
    "kill the parent": "os.kill(os.getppid(), 9)",
    "kill everybody": "os.kill(-1, 9)",
    "kill every number": "for number in range(1, 5000): tried(os.kill, number, 9)",
    "stop the parent": "import signal\nos.kill(os.getppid(), signal.SIGSTOP)",
    "starve the parent": "import resource\nresource.prlimit(os.getppid(), resource.RLIMIT_CPU, (0, 0))",
    "raise its own limits": """
import resource
for which in (resource.RLIMIT_AS, resource.RLIMIT_CPU, resource.RLIMIT_FSIZE):
    tried(resource.setrlimit, which, (resource.RLIM_INFINITY, resource.RLIM_INFINITY))
x = 9 ** 9 ** 9
""",
    "fork": "os.fork()",
    "fork bomb": "while True: tried(os.fork)",
    "threads": "import threading\nthreading.Thread(target=lambda: 0).start()",
    "threads for ever": "import _thread\nwhile True: tried(_thread.start_new_thread, lambda: 0, ())",
    "subprocess": "import subprocess\nsubprocess.run(['/bin/sh', '-c', 'echo > /tmp/{mark}'])",
    "execv": "os.execv('/bin/sh', ['sh', '-c', 'echo > /tmp/{mark}'])",
    "memfd and exec": "fd = os.memfd_create('x')\nos.execve(fd, ['x'], {})",
    "socket": "import socket\nsocket.create_connection(('127.0.0.1', {port}), 1)",
    "unix socket": "import socket\nsocket.socket(socket.AF_UNIX)",
    "netlink": "import socket\nsocket.socket(16, socket.SOCK_RAW)",
    "socket pair": "import socket\nsocket.socketpair()",
    "read passwd": "text = open('/etc/passwd').read()\nassert not text",
    "read the home": "assert not os.listdir(os.path.expanduser('~root'))",
    "read the root": "assert not os.listdir('/')",
    "read the parent's memory": "open(f'/proc/{os.getppid()}/mem', 'rb').read(1)",
    "read the parent's environment": "assert not open(f'/proc/{os.getppid()}/environ').read()",
    "read the environment": "assert any('KEY' in n or 'TOKEN' in n or 'HOME' in n for n in os.environ)",
    "write a file": "open('/tmp/{mark}', 'w').write('x')",
    "write shared memory": "open('/dev/shm/{mark}', 'w').write('x')",
    "write beside itself": "open('{mark}', 'w').write('x')",
    "read the command lines": "open('/proc/1/cmdline').read()",
    "append to the kit": "import codestress.sandbox.child as c\nopen(c.__file__, 'a').write('#')",
    "link": "os.symlink('/etc/passwd', '/tmp/{mark}')",
    "make a folder": "os.mkdir('/tmp/{mark}')",
    "mount": "import ctypes\nassert ctypes.CDLL(None).mount(b'x', b'/tmp', b'tmpfs', 0, 0) == 0",
    "unshare": "import ctypes\nassert ctypes.CDLL(None).unshare(0x10000000) == 0",
    "ptrace": "import ctypes\nassert ctypes.CDLL(None).ptrace(16, os.getppid(), 0, 0) == 0",
    "write into the parent": "import ctypes\nassert ctypes.CDLL(None).process_vm_writev(os.getppid(), *[0] * 5) == 0",
    "raw fork": "import ctypes\nassert ctypes.CDLL(None).syscall(57) >= 0",
    "raw clone3": "import ctypes\nassert ctypes.CDLL(None).syscall(435, 0, 0) >= 0",
    "raw clone": "import ctypes\nassert ctypes.CDLL(None).syscall(56, 17, 0, 0, 0, 0) >= 0",
    "raw x32 open": "import ctypes\nassert ctypes.CDLL(None).syscall(0x40000002, b'/etc/passwd', 0) >= 0",
    "io_uring": "import ctypes\nassert ctypes.CDLL(None).syscall(425, 8, 0) >= 0",
    "another seccomp": "import ctypes\nassert ctypes.CDLL(None).prctl(22, 0, 0, 0, 0) == 0",
    "bad pointer": "import ctypes\nctypes.string_at(0)",
    "patch builtins": "import builtins\nbuiltins.len = lambda x: 1\nbuiltins.compile = builtins.exec = None",
    "patch json": "import json\njson.dumps = lambda *a: '[\"returned\", 1]'\njson.JSONEncoder = None",
    "patch the encoder": "import codestress.sandbox.child as c\nc.encode = lambda value: {guess}",
    "patch the runner": "import codestress.sandbox.child as c\nc._value = lambda *a: {guess}",
    "patch the modules": "import sys\nsys.modules.clear()",
    "remove the tracer": "import sys\nsys.settrace(None)\nwhile True:\n    x = 1",
    "remove the tracer of frames": """
import sys
frame = sys._getframe()
while frame:
    frame.f_trace = None
    frame = frame.f_back
sys.settrace(None)
""",
    "another tracer": "import sys\nsys.settrace(lambda *a: None)\nwhile True:\n    x = 1",
    "a profiler": "import sys\nsys.setprofile(lambda *a: None)",
    "an audit hook": "import sys\ndef hook(*a):\n    raise RuntimeError\nsys.addaudithook(hook)",
    "catch everything": """
def f(x):
    while True:
        try:
            while True:
                x = 1
        except BaseException:
            pass
""",
    "ignore signals": """
import signal
for number in range(1, 65):
    tried(signal.signal, number, signal.SIG_IGN)
x = 9 ** 9 ** 9
""",
    "an alarm": "import signal\nsignal.setitimer(signal.ITIMER_REAL, 0.001)\nwhile True:\n    x = 1",
    "sleep": "import time\ntime.sleep(99)",
    "read standard input": "import sys\nassert not sys.stdin.read()",
    "endless in C": "sum(iter(int, 1))",
    "endless without a line": "while True: pass",
    "endless text": "import re\nre.match('(a+)+$', 'a' * 60 + 'b')",
    "huge power": "x = 9 ** 9 ** 9",
    "all memory": "x = [0]\nwhile True:\n    x += x",
    "all memory, mapped": "import mmap\nkeep = [mmap.mmap(-1, 1 << 28) for _ in range(999)]",
    "all memory, kept after an error": "keep = []\nwhile True: keep.append(tried(bytearray, 1 << 20))",
    "deep recursion": "import sys\nsys.setrecursionlimit(10 ** 9)\ndef g(n): return g(n + 1)\ng(0)",
    "deep in C": "x = []\nfor _ in range(10 ** 5): x = [x]\nhash(str(repr(x)))",
    "walk all objects": """
import gc, sys
seen = [o for o in gc.get_objects()]
frame = sys._getframe()
while frame:
    seen += list(frame.f_locals.values()) + list(frame.f_globals.values())
    frame = frame.f_back
def f(x):
    for found in seen:
        for part in found if type(found) in (list, tuple, set, dict) else [found]:
            if type(part) in (str, bytes, int) and len(str(part)) == 18 and str(part).isdigit():
                return str(part)
""",
    "a huge value": "def f(x): return 'a' * 10 ** 8",
    "many values": "def f(x): return list(range(10 ** 7))",
    "a value in itself": "def f(x):\n    x = []\n    x.append(x)\n    return x",
    "a list of its own kind": """
class L(list):
    def __iter__(self): return iter([{guess}])
    def __len__(self): return 1
    __class__ = int
    def __eq__(self, other): return True
def f(x): return L()
""",
    "an integer of its own kind": """
class I(int):
    def __eq__(self, other): return True
    def __hash__(self): return 0
    def __int__(self): return {guess}
    def __index__(self): return {guess}
    def __repr__(self): return '{guess}'
def f(x): return I(0)
""",
    "an object that equals all": "class E:\n    def __eq__(self, other): return True\ndef f(x): return E()",
    "a class that hides its name": """
class M(type):
    @property
    def __name__(self): raise SystemExit
class E(metaclass=M): pass
def f(x): return E()
""",
    "an error that speaks": """
class E(BaseException):
    def __str__(self): raise KeyboardInterrupt
    def __repr__(self): return '["returned", {guess}]'
    __class__ = SystemExit
def f(x): raise E
""",
    "an error with a long story": "def f(x): raise ValueError('a' * 10 ** 8)",
    "at exit": "import atexit\natexit.register(lambda: os.write(3, b'[\"returned\", 1]\\n'))",
    "when deleted": """
class D:
    def __del__(self):
        for number in range(9):
            tried(os.write, number, b'["returned", 1]\\n')
keep = D()
""",
    "a second line after the result": """
import codestress.sandbox.child as c
def f(x):
    old = c.json.dumps
    c.json.dumps = lambda v: old(v) + '\\n["returned", 1]'
    return 0
""",
    "deep source": "(" * 5000 + ")" * 5000,
    "long source": "x = " + "-" * 200_000 + "1",
    "NUL": "x = '\0'",
}

ENDLESS = "while True: x = 1"
UNCOUNTED = {
    "trace off": "sys.settrace(None)\n    {endless}",
    "trace off at the deepest": """
    def deeper():
        try:
            deeper()
        except RecursionError:
            sys.settrace(None)
    tried(deeper)
    {endless}""",
    "no lines of a frame": "sys._getframe().f_trace_lines = False\n    {endless}",
    "code named otherwise": "exec(compile('{endless}', 'other.py', 'exec'))",
    "code named as the library's": "exec(compile('{endless}', os.__file__, 'exec'))",
    "the counter's cells": """
    for cell in sys.gettrace().__closure__ or ():
        cell.cell_contents = lambda *a: None
    {endless}""",
    "another interpreter": """
    import _xxsubinterpreters as others
    others.run_string(others.create(), '{endless}')""",
    "a tree without lines": """
    import ast
    tree = ast.parse('{endless}')
    for node in ast.walk(tree):
        if hasattr(node, 'lineno'):
            node.lineno = node.end_lineno = -1
    exec(compile(tree, 'x', 'exec'))""",
    "a signal": """
    import signal
    def handler(*a):
        {endless}
    signal.signal(signal.SIGALRM, handler)
    signal.setitimer(signal.ITIMER_REAL, 0.001)
    signal.pause()""",
    "by C": "import ctypes\n    ctypes.pythonapi.PyEval_SetTrace(None, None)\n    {endless}",
}
"""Bodies of an endless function whose steps are not to be counted."""
ATTACKS |= {
    name: f"import os, sys\ndef f(x):\n    {body.strip().replace('{endless}', ENDLESS)}\n    return x"
    for name, body in UNCOUNTED.items()
}


def attack(name: str, *, guess: str, mark: str, port: int) -> Program:
    """An attack as a program; where it defines no function to call, one that returns the guess."""
    source = TRIED + ATTACKS[name]
    places = {"{guess}": guess, "{mark}": mark, "{port}": str(port)}
    for place, value in places.items():
        source = source.replace(place, value)
    if "def f(" not in source:
        source += f"\n\ndef f(x):\n    return {guess}\n"
    return Program(source, "f", (0,))


def descendants(process: int = 0) -> set[int]:
    """`process`, by default this one, and the processes that it has started, or that those have."""
    parents = {}
    for entry in Path("/proc").iterdir():
        if entry.name.isdigit():
            with contextlib.suppress(OSError):
                status = (entry / "stat").read_text()
                parents[int(entry.name)] = int(status.rpartition(")")[2].split()[1])
    found = {process or os.getpid()}
    while (
        more := {child for child, parent in parents.items() if parent in found} - found
    ):
        found |= more
    return found
