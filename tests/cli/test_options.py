"""Errors of the library in the words of the command line, and a command line without the studio."""

import subprocess
import sys

import pytest

from metrack.cli.options import in_options

SENTENCES = [
    ("track", "boxes must be given, at least one", "--box must be given, at least one"),
    ("track", "folder must be new, but 'folder' is not", "--out must be new, but 'folder' is not"),
    ("track", "source must be a video, got 'source.mp4'", "SOURCE must be a video, got 'source.mp4'"),
    ("track", "stop must come after start=5, got 3", "--stop must come after --start 5, got 3"),
    ("track", "resume goes on with changes={} as it began, got 3", "--resume goes on with --set {} as it began, got 3"),
    ("track", "video must be False, because", "--no-video must be given, because"),
    ("track", "start.mp4 ends early: 3 of 9 frames", "start.mp4 ends early: 3 of 9 frames"),
    ("track", "setting motion.start=3 is unknown", "setting motion.start=3 is unknown"),
    ("report", "folder must be a folder made by metrack track", "RESULTS must be a folder made by metrack track"),
    ("map", "path must be a picture", "--out must be a picture"),
    ("studio", "runs must be a folder that can be made", "--runs must be a folder that can be made"),
]


@pytest.mark.parametrize(("command", "said", "told"), SENTENCES, ids=[each[1][:30] for each in SENTENCES])
def test_arguments_are_told_as_options(command, said, told):
    assert in_options(said, command) == told


def test_the_command_line_works_where_there_is_no_studio():
    without = "import sys; sys.modules['metrack.studio'] = None; from metrack.cli import run; sys.exit(run({}))"
    for words, code in ((["info"], 0), (["studio"], 1)):
        done = subprocess.run(
            [sys.executable, "-c", without.format(words)], capture_output=True, text=True, check=False
        )
        assert (done.returncode, "Traceback" in done.stderr) == (code, False)
    assert "studio needs packages that are not installed (metrack.studio" in done.stderr
