"""Workers on a Ray cluster whose nodes share the study's folder: a step goes out, and whether it is done comes back."""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path

from assay.base import CodeFile, RunFailed, loaded_files
from assay.exchange import Call, Cluster, Died
from assay.lab.studies.local_workers import Poll
from assay.lab.studies.study import DataStep, RunStep
from assay.lab.studies.work import Outcome, Report, Step, perform


@dataclass(frozen=True)
class RayWorkers:
    """The workers of a cluster: `auto` for the one of this machine, `local` to start one now, or its address."""

    address: str

    @cached_property
    def cluster(self) -> Cluster:
        """The cluster, which is connected to when first used."""
        return Cluster(self.address)

    @property
    def count(self) -> int:
        """How many steps are done at once."""
        return max(1, self.cluster.processors)

    def check(self, steps: Sequence[RunStep], output: Path) -> None:
        """Refuse nothing: each node judges for itself, as it may be another machine than this one."""

    def make(self, step: DataStep, output: Path, watch: Report) -> Outcome:
        """Make a dataset, its shards on all nodes at once."""
        return perform(step, output, pool=self.cluster, watch=watch)

    def run(self, steps: Sequence[Step], output: Path, poll: Poll) -> Iterator[Outcome]:
        """Do the steps in any order and give each outcome as it comes; a worker or node that dies loses no step."""
        if not steps:
            return
        folder = output.resolve()
        folder.mkdir(parents=True, exist_ok=True)
        code = tuple(loaded.file for loaded in loaded_files())
        calls = [Call(step.name, _perform, (step, folder, code)) for step in steps]
        for call, outcome in self.cluster.run(calls, poll, gpus=True):
            if isinstance(outcome, Died):
                fault = f"its worker died {outcome.times} times (killed, out of memory, or its node is gone)"
                outcome = Outcome(call.name, False, 0.0, fault)
            yield outcome


def _perform(step: Step, output: Path, code: Sequence[CodeFile] = ()) -> Outcome:
    """Do a step in one thread, as on a single machine, so that the numbers are the same."""
    from assay.models import one_thread

    if not output.is_dir():
        raise RunFailed(
            f"a node does not see {str(output)!r}; a study on a cluster needs a folder that all nodes share"
        )
    one_thread()
    return perform(step, output, code=code)
