"""The lock on a result folder: held while its owner lives, gone when it is dead."""

import errno
import fcntl
import os
import signal
import subprocess
import sys

import pytest

from metrack.cli import run
from metrack.runs.lock import LOCK, FolderLock, check_unlocked

HOLD = "import sys, time; from pathlib import Path; from metrack.runs.lock import FolderLock\n"
HOLD += "FolderLock(Path(sys.argv[1])).acquire(); print('held', flush=True); time.sleep(600)"


@pytest.fixture
def holder(tmp_path):
    process = subprocess.Popen([sys.executable, "-c", HOLD, str(tmp_path)], stdout=subprocess.PIPE, text=True)
    assert process.stdout.readline() == "held\n"
    yield process
    process.kill()
    process.communicate()


def test_a_second_owner_is_refused_and_told_who_has_it(tmp_path, holder):
    for attempt in (FolderLock(tmp_path).acquire, lambda: check_unlocked(tmp_path)):
        with pytest.raises(ValueError, match=rf"another run \(process {holder.pid}\) is writing into"):
            attempt()
    assert (tmp_path / LOCK).exists()


def test_the_lock_of_a_killed_owner_is_free(tmp_path, holder):
    os.kill(holder.pid, signal.SIGKILL)
    holder.wait()
    assert (tmp_path / LOCK).exists()
    check_unlocked(tmp_path)
    with FolderLock(tmp_path):
        assert (tmp_path / LOCK).read_text() == f"{os.getpid()}\n"
    assert not (tmp_path / LOCK).exists()


@pytest.mark.parametrize(
    "words", [["demo"], ["evaluate", "builtin"], ["reproduce", "sampling"], ["track", "clip.mp4", "--box", "1,1,9,9"]]
)
def test_no_command_writes_into_a_folder_in_use(tmp_path, holder, words, capsys):
    assert run([*words, "-o", str(tmp_path)]) == 1
    assert f"another run (process {holder.pid}) is writing into" in " ".join(capsys.readouterr().err.split())
    assert [path.name for path in tmp_path.iterdir()] == [LOCK]


def test_one_process_cannot_take_it_twice(tmp_path):
    with FolderLock(tmp_path) as lock:
        lock.acquire()  # it has it
        with pytest.raises(ValueError, match="must not be in use"):
            FolderLock(tmp_path).acquire()
    with FolderLock(tmp_path):
        pass


def test_nothing_is_left_where_nothing_was_locked(tmp_path):
    check_unlocked(tmp_path)
    check_unlocked(tmp_path / "missing")
    FolderLock(tmp_path).release()
    assert list(tmp_path.iterdir()) == []


def test_a_folder_that_is_gone_takes_its_lock_with_it(tmp_path):
    folder = tmp_path / "out"
    folder.mkdir()
    lock = FolderLock(folder)
    lock.acquire()
    (folder / LOCK).unlink()
    folder.rmdir()
    lock.release()


def test_many_owners_one_after_the_other_never_overlap(tmp_path):
    code = "import sys; from pathlib import Path; from metrack.runs.lock import FolderLock\n"
    code += "folder = Path(sys.argv[1]); wins = 0\n"
    code += "for _ in range(300):\n"
    code += "    try:\n        lock = FolderLock(folder); lock.acquire()\n    except ValueError: continue\n"
    code += "    (folder / 'inside').touch(exist_ok=False); (folder / 'inside').unlink(); wins += 1; lock.release()\n"
    code += "print(wins)"
    crowd = [
        subprocess.Popen([sys.executable, "-c", code, str(tmp_path)], stdout=subprocess.PIPE, text=True)
        for _ in range(3)
    ]
    wins = [int(process.communicate(timeout=60)[0]) for process in crowd]
    assert all(process.returncode == 0 for process in crowd)
    assert sum(wins) > 30


def test_where_a_file_system_has_no_locks_a_run_goes_on_without(tmp_path, monkeypatch):
    def missing(*_):
        raise OSError(errno.ENOSYS, os.strerror(errno.ENOSYS))

    monkeypatch.setattr(fcntl, "flock", missing)
    with FolderLock(tmp_path):
        check_unlocked(tmp_path)
    assert not (tmp_path / LOCK).exists()
