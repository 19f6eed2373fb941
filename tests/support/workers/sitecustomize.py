"""Read by child processes of one test: the run on the sequence named by METRACK_KILL_ON kills its process."""

import os
import signal

if victim := os.environ.get("METRACK_KILL_ON"):
    from metrack.evaluation import crew, perform

    made = perform.perform

    def deadly(run):
        if run.sequence.name == victim:
            os.kill(os.getpid(), signal.SIGKILL)
        return made(run)

    perform.perform = crew.perform = deadly
