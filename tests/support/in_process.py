"""Workers that execute the runs of an evaluation in this process."""

from metrack.evaluation.execute import execute


class InProcess:
    """Notes label and name of what it executes; may be interrupted, as by Ctrl-C, after so many runs."""

    def __init__(self, stop_after=None):
        self.executed, self.stop_after = [], stop_after

    def execute(self, runs):
        for run in runs:
            if len(self.executed) == self.stop_after:
                raise KeyboardInterrupt
            self.executed.append((run.spec.label, run.name))
            yield run, execute(run)
