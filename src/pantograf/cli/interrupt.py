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
def prompt_exit() -> Iterator[threading.Event]:
    """Yield what says whether Ctrl-C was pressed.

    Python acts on a signal between two of its own instructions; where that takes too long, a thread that the signal wakes
    at once ends the process.
    """
    if threading.current_thread() is not threading.main_thread():
        yield threading.Event()
        return
    reading, writing = os.pipe()
    os.set_blocking(writing, False)
    pressed, done = threading.Event(), threading.Event()
    thread = threading.Thread(target=_watch, args=(reading, pressed, done), name="interrupt", daemon=True)
    previous = signal.set_wakeup_fd(writing, warn_on_full_buffer=False)
    complain = sys.unraisablehook

    def quietly(lost: sys.UnraisableHookArgs) -> None:
        if lost.exc_type is not KeyboardInterrupt:  # in a library's callback; the thread ends the process
            complain(lost)

    sys.unraisablehook = quietly
    thread.start()
    try:
        yield pressed
    finally:
        done.set()
        sys.unraisablehook = complain
        signal.set_wakeup_fd(previous)
        os.close(writing)
        thread.join()
        os.close(reading)


def _watch(reading: int, pressed: threading.Event, done: threading.Event) -> None:
    while signals := os.read(reading, 64):
        if signal.SIGINT not in signals:
            continue
        pressed.set()
        if not done.wait(GRACE_SECONDS):
            show_cursor = "\r\x1b[K\x1b[?25h" if sys.stderr.isatty() else ""
            sys.stderr.write(f"{show_cursor}interrupted\n")
            sys.stderr.flush()
            os._exit(EXIT_CODE)
