"""Processes of kernels: which of them have ended, and how."""

from __future__ import annotations

import signal
import time

from codestress.pipeline.kernels import Kernel


def test_a_forked_process_says_how_it_ended() -> None:
    running = Kernel(target=time.sleep, args=(600,))
    running.start()
    assert running.poll() is None
    running.send_signal(signal.SIGKILL)
    assert running.wait() == running.poll() == -signal.SIGKILL
    running.send_signal(signal.SIGKILL)  # to nobody
