"""Work on all cores with a journal and a budget."""

import os
import time
from collections.abc import Callable, Sequence
from hashlib import blake2b
from pathlib import Path

import numpy as np
from joblib import Parallel, delayed, parallel_config
from safetensors.numpy import load_file, save_file

from bridge.consensus import Candidate, Job, Problem
from bridge.files import replacing
from bridge.transport import Map

CHUNK = 24  # candidates between two notes in the journal

Progress = Callable[[str, int, int], None]


def made_by(
    problem: Problem, make: Callable[..., Candidate], seed: Sequence[int], given: Map | None
) -> Candidate:
    return make(problem, seed, given)


def only_for_searches() -> None:
    """Keeps a search's processes apart from those of other work, which have another initializer.

    loky ends a process, with a warning, that has grown by 300 MB since its first job. One that has
    drawn a picture first would grow by that much with what a search imports and compiles.
    """


def digest_of(problem: Problem, jobs: Sequence[Job]) -> str:
    """Names a piece of work, so that a journal gives back nothing that other work has made."""
    found = blake2b(digest_size=6)
    arrays = [problem.text, problem.image, problem.known]
    for make, seed, given in jobs:
        found.update(f"{make.__name__} {tuple(seed)}".encode())
        arrays.append(given)
    for array in arrays:
        found.update(b"" if array is None else np.ascontiguousarray(array).data)
    return found.hexdigest()


class Cores:
    """Does the work of a search on all cores, keeps a journal, and stops when the time is up."""

    def __init__(
        self, workers: int | None, journal: Path | None, budget: float | None, progress: Progress
    ):
        self.workers = workers or len(os.sched_getaffinity(0))
        self.journal, self.progress = journal, progress
        self.start, self.budget = time.monotonic(), budget
        self.notes: list[str] = []

    def late(self, share: float) -> bool:
        """Whether this share of the budget is spent."""
        return self.budget is not None and time.monotonic() - self.start > share * self.budget

    def run(self, function: Callable, jobs: Sequence[tuple]) -> list:
        if self.workers == 1:
            return [function(*job) for job in jobs]
        with parallel_config("loky", inner_max_num_threads=1, initializer=only_for_searches):
            return Parallel(n_jobs=self.workers)(delayed(function)(*job) for job in jobs)

    def each(self, stage: str, function: Callable, jobs: Sequence[tuple]) -> list:
        self.progress(stage, 0, len(jobs))
        done = self.run(function, jobs)
        self.progress(stage, len(jobs), len(jobs))
        return done

    def candidates(
        self, problem: Problem, stage: str, jobs: Sequence[Job], made: Sequence[Candidate] = ()
    ) -> list[Candidate]:
        made = list(made)
        for first in range(len(made), len(jobs), CHUNK):
            if made and self.late(0.5 if stage == "candidates" else 0.8):
                self.notes.append(f"{stage}: time for {len(made)} of {len(jobs)}")
                break
            self.progress(stage, len(made), len(jobs))
            part = jobs[first : first + CHUNK]
            name = f"{stage}-{first:05d}-{digest_of(problem, part)}".replace(" ", "-")
            made += self.kept(problem, name, part)
        self.progress(stage, len(made), len(made))
        return made

    def kept(self, problem: Problem, name: str, jobs: Sequence[Job]) -> list[Candidate]:
        """Candidates of these jobs from the journal, or made and noted there."""
        file = self.journal / f"{name}.safetensors" if self.journal else None
        if file and file.exists():
            found = load_file(file)
            return [
                Candidate(*both) for both in zip(found["cross"], found["rotation"], strict=True)
            ]
        made = self.run(made_by, [(problem, *job) for job in jobs])
        if file:
            parts = {key: np.stack([getattr(one, key) for one in made]) for key in vars(made[0])}
            with replacing(file) as temporary:
                save_file(parts, temporary)
        return made
