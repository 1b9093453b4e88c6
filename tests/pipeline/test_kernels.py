"""Processes of kernels: which of them have ended, and how."""

from __future__ import annotations

import os
import signal
import time

from codestress.pipeline.kernels import Kernel


def test_a_forked_process_says_how_it_ended() -> None:
    ended = Kernel(target=os._exit, args=(3,))
    ended.start()
    assert ended.wait() == ended.poll() == 3
    ended.send_signal(signal.SIGKILL)  # to nobody


def test_a_forked_process_runs_until_a_signal_ends_it() -> None:
    running = Kernel(target=time.sleep, args=(600,))
    running.start()
    assert running.poll() is None
    running.send_signal(signal.SIGKILL)
    assert running.wait() == running.poll() == -signal.SIGKILL
