"""A real Slurm of one node, started for a test without systemd or cgroups: `python -m tests.slurm.cluster FOLDER`."""

from __future__ import annotations

import ctypes
import os
import secrets
import shutil
import signal
import socket
import subprocess
import sys
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from pathlib import Path

_PROGRAMS = ("munged", "slurmctld", "slurmd", "sbatch", "squeue")
_PATIENCE = 20.0  # seconds
_CONF = """
ClusterName=adgcl
SlurmctldHost={host}
SlurmUser=root
AuthType=auth/munge
# How long a job that goes back to the queue must wait, too.
AuthInfo=socket={folder}/munge.socket,cred_expire=5
SlurmctldPort={ports[0]}
SlurmdPort={ports[1]}
StateSaveLocation={folder}/state
SlurmdSpoolDir={folder}/spool
SlurmctldPidFile={folder}/slurmctld.pid
SlurmdPidFile={folder}/slurmd.pid
SlurmctldLogFile={folder}/slurmctld.log
SlurmdLogFile={folder}/slurmd.log
ProctrackType=proctrack/linuxproc
TaskPlugin=task/none
JobAcctGatherType=jobacct_gather/none
SwitchType=switch/none
MpiDefault=none
SelectType=select/cons_tres
SelectTypeParameters=CR_CPU
SchedulerParameters=sched_interval=1,bf_interval=1
ReturnToService=2
KillWait=5
NodeName={host} NodeAddr=127.0.0.1 CPUs=2 State=UNKNOWN
PartitionName=test Nodes=ALL Default=YES MaxTime=INFINITE State=UP
"""


class NoSlurm(Exception):
    """Why none can be started here."""


@contextmanager
def slurm(folder: Path) -> Iterator[dict[str, str]]:
    """A running cluster, and the environment variables by which commands find it."""
    path = os.pathsep.join((os.environ.get("PATH", ""), "/usr/sbin", "/sbin"))
    programs = {name: shutil.which(name, path=path) for name in _PROGRAMS}
    absent = [name for name, found in programs.items() if found is None]
    if absent:
        raise NoSlurm(f"not installed (slurm-wlm, munge): {', '.join(absent)}")
    if os.geteuid() != 0:
        raise NoSlurm("its daemons must be started by root")
    folder.chmod(0o755)
    for name in ("state", "spool"):
        (folder / name).mkdir()
    (folder / "munge.key").write_bytes(secrets.token_bytes(128))
    (folder / "munge.key").chmod(0o600)
    conf = folder / "slurm.conf"
    conf.write_text(_CONF.format(host=socket.gethostname().partition(".")[0], folder=folder, ports=_free_ports(2)))
    environment = {"SLURM_CONF": str(conf)}
    files = ("key", "socket", "pid", "seed", "log")
    munge = [f"--{name}{'' if name == 'socket' else '-file'}={folder}/munge.{name}" for name in files]
    daemons: list[subprocess.Popen[bytes]] = []
    commands = (
        ([programs["munged"], "--foreground", "--force", *munge], folder / "munge.socket"),
        ([programs["slurmctld"], "-D"], None),
        ([programs["slurmd"], "-D"], None),
    )
    try:
        for command, made in commands:
            with (folder / f"{Path(str(command[0])).name}.out").open("wb") as out:
                daemons.append(
                    subprocess.Popen(
                        list(map(str, command)),
                        env={**os.environ, **environment},
                        stdout=out,
                        stderr=out,
                        start_new_session=True,
                        preexec_fn=_end_with_parent,
                    )
                )
            if made is not None and not _soon(made.exists):
                raise NoSlurm(f"munged does not start: {_last_line(folder / 'munged.out')}")
        if not _soon(lambda: _is_idle(environment)):
            logs = (folder / "slurmctld.log", folder / "slurmd.log", folder / "slurmd.out")
            raise NoSlurm("its node does not become idle: " + " | ".join(_last_line(log) for log in logs))
        yield environment
        _ask(environment, "scancel", "--user=root")
        _soon(lambda: not _ask(environment, "squeue", "--noheader"))
    finally:
        for daemon in reversed(daemons):
            daemon.send_signal(signal.SIGTERM)
            try:
                daemon.wait(10)
            except subprocess.TimeoutExpired:
                daemon.kill()
                daemon.wait()


def _end_with_parent() -> None:
    """Have Linux end this daemon when the tests are killed."""
    ctypes.CDLL(None).prctl(1, signal.SIGTERM)  # PR_SET_PDEATHSIG


def _is_idle(environment: dict[str, str]) -> bool:
    return _ask(environment, "sinfo", "--noheader", "--format=%T") == "idle"


def _ask(environment: dict[str, str], *command: str) -> str:
    everything = {**os.environ, **environment}
    return subprocess.run(command, env=everything, capture_output=True, text=True, check=False).stdout.strip()


def _soon(holds: Callable[[], bool]) -> bool:
    limit = time.monotonic() + _PATIENCE
    while not holds():
        if time.monotonic() > limit:
            return False
        time.sleep(0.2)
    return True


def _free_ports(count: int) -> list[int]:
    sockets = [socket.socket() for _ in range(count)]
    for one in sockets:
        one.bind(("127.0.0.1", 0))
    ports = [int(one.getsockname()[1]) for one in sockets]
    for one in sockets:
        one.close()
    return ports


def _last_line(path: Path) -> str:
    with suppress(OSError):
        return (path.read_text(errors="replace").strip().splitlines() or ["silence"])[-1]
    return "no log"


if __name__ == "__main__":
    with slurm(Path(sys.argv[1]).absolute()) as found:
        print(*(f"export {name}={text}" for name, text in found.items()), sep="\n", flush=True)
        signal.signal(signal.SIGTERM, signal.default_int_handler)
        with suppress(KeyboardInterrupt):
            signal.pause()
