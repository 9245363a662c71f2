"""The machine: which device, how many threads, and an allocator that keeps freed memory."""

from __future__ import annotations

import ctypes
import sys
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from functools import cache
from typing import Any

import torch

from adgcl.core.errors import ConfigError
from adgcl.parallel.own_cores import cores_per_process
from adgcl.parallel.world import world

# Below this width a step is too small to share between cores: a process per core is faster.
_NARROW = 64


def pick_device(name: str) -> torch.device:
    """The device called `name`; `auto` takes the best one there is."""
    if name == "auto":
        if torch.cuda.is_available():
            return _own_gpu()
        return torch.device("mps" if torch.backends.mps.is_available() and world().size == 1 else "cpu")
    try:
        device = torch.device(name)
    except RuntimeError as error:
        raise ConfigError(f"There is no device called {name!r}.", "Use auto, cpu, cuda, cuda:1 or mps.") from error
    here = {"cpu": True, "cuda": torch.cuda.is_available(), "mps": torch.backends.mps.is_available()}
    if not here.get(device.type, False):
        raise ConfigError(f"This machine has no {device.type} device.", "Use --device auto or --device cpu.")
    if world().size > 1 and (device.type == "mps" or device.index is not None):
        raise ConfigError(f"Several processes cannot share {name}.", "Use --device auto, cpu or cuda.")
    return _own_gpu() if device.type == "cuda" and device.index is None else device


def _own_gpu() -> torch.device:
    """The GPU; each of several processes on a machine has its own."""
    if world().size == 1:
        return torch.device("cuda")
    if world().local_rank >= torch.cuda.device_count():
        raise ConfigError(
            f"This machine has {torch.cuda.device_count()} GPUs for {world().local_size} processes.",
            "Start one process per GPU, or use --device cpu.",
        )
    return torch.device("cuda", world().local_rank)


def is_narrow(width: int) -> bool:
    """Whether one core per network is faster than all cores for one."""
    return width <= _NARROW


def set_threads(threads: int, width: int) -> int:
    """Set the number of CPU threads; 0 chooses one for narrow networks and every core for wide ones.

    Processes that train together divide the cores of their machine among themselves.
    """
    chosen = threads or (1 if is_narrow(width) else cores_per_process(world().local_size))
    torch.set_num_threads(chosen)
    if chosen == 1:
        _blas_libraries().limit(limits=1, user_api="blas")  # NumPy's, which the products of wide layers may use
    return chosen


class _Threads:
    """How many threads torch and BLAS had before the first user entered, and how many users are inside."""

    def __init__(self) -> None:
        self.lock, self.users = threading.Lock(), 0
        self.torch, self.blas = 0, [0]

    def enter(self) -> None:
        with self.lock:
            if self.users == 0:
                self.torch = torch.get_num_threads()
                self.blas = [library.num_threads for library in _blas_libraries().lib_controllers]
            self.users += 1

    def leave(self) -> None:
        with self.lock:
            self.users -= 1
            if self.users == 0:
                torch.set_num_threads(self.torch)
                for library, count in zip(_blas_libraries().lib_controllers, self.blas, strict=True):
                    library.set_num_threads(count)


_threads = _Threads()


@contextmanager
def scoped_threads() -> Iterator[None]:
    """Restore the numbers of threads afterwards, for code that runs inside other people's programs.

    If several threads are inside at once, the last one out restores them, so that no training changes midway.
    """
    _threads.enter()
    try:
        yield
    finally:
        _threads.leave()


@cache
def keep_freed_memory() -> bool:
    """Ask glibc to keep freed buffers instead of returning them to the system after every operation.

    Buffers above 128 KB are otherwise mapped, zeroed and unmapped again each time, which costs more than many of
    the operations themselves. Does nothing elsewhere.
    """
    if not sys.platform.startswith("linux"):
        return False
    trim_threshold, mmap_threshold, limit = -1, -3, 1 << 30
    try:
        libc = ctypes.CDLL("libc.so.6")
        return bool(libc.mallopt(mmap_threshold, limit)) and bool(libc.mallopt(trim_threshold, limit))
    except (OSError, AttributeError):
        return False


@contextmanager
def one_blas_thread() -> Iterator[None]:
    """Keep NumPy and SciPy to one thread: the small problems of a probe gain nothing from more.

    When other processes competed for the cores, OpenBLAS's waiting threads made a probe 30 times slower.
    """
    with _blas_libraries().limit(limits=1, user_api="blas"):
        yield


@contextmanager
def one_thread() -> Iterator[None]:
    """Keep torch, in this thread and those it starts, and BLAS to one thread each."""
    before = torch.get_num_threads()
    torch.set_num_threads(1)
    try:
        with one_blas_thread():
            yield
    finally:
        torch.set_num_threads(before)


@cache
def _blas_libraries() -> Any:
    from threadpoolctl import ThreadpoolController

    return ThreadpoolController()
