"""Ctrl-C ends the process within a second, also while compiled code holds the main thread."""

from __future__ import annotations

import contextlib
import os
import signal
import sys
import threading
from collections.abc import Iterator

EXIT_CODE = 130
GRACE_SECONDS = 0.7


@contextlib.contextmanager
def prompt_exit() -> Iterator[None]:
    """Python acts on a signal between two of its own instructions; a thread that the signal wakes at once ends the rest."""
    if threading.current_thread() is not threading.main_thread():
        yield
        return
    reading, writing = os.pipe()
    os.set_blocking(writing, False)
    done = threading.Event()
    thread = threading.Thread(target=_watch, args=(reading, done), name="interrupt", daemon=True)
    previous = signal.set_wakeup_fd(writing, warn_on_full_buffer=False)
    thread.start()
    try:
        yield
    finally:
        done.set()
        signal.set_wakeup_fd(previous)
        os.close(writing)
        thread.join()
        os.close(reading)


def _watch(reading: int, done: threading.Event) -> None:
    while signals := os.read(reading, 64):
        if signal.SIGINT in signals and not done.wait(GRACE_SECONDS):
            sys.stderr.write("interrupted\n")
            sys.stderr.flush()
            os._exit(EXIT_CODE)
