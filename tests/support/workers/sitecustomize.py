"""Read by child processes of one test: the run on the sequence named by METRACK_KILL_ON kills its process."""

import os
import signal

if victim := os.environ.get("METRACK_KILL_ON"):
    from metrack.evaluation import execute, workers

    real = execute.execute

    def deadly(run):
        if run.sequence.name == victim:
            os.kill(os.getpid(), signal.SIGKILL)
        return real(run)

    execute.execute = workers.execute = deadly
