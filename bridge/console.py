"""What a person sees in the terminal: progress, notes, tables. All of it on stderr but results."""

from collections.abc import Callable, Iterator
from contextlib import contextmanager

from rich.console import Console
from rich.progress import (
    BarColumn,
    MofNCompleteColumn,
    Progress,
    TextColumn,
    TimeElapsedColumn,
    TimeRemainingColumn,
)

Move = Callable[[int, int], None]
messages = Console(stderr=True, highlight=False)
results = Console(highlight=False)


@contextmanager
def progress_bar(title: str) -> Iterator["Move"]:
    """Yield a function of (done, total) that moves a bar with its rate and the time left."""
    columns = (
        TextColumn("{task.description}"),
        BarColumn(),
        MofNCompleteColumn(),
        TextColumn("{task.fields[rate]}"),
        TimeElapsedColumn(),
        TextColumn("left"),
        TimeRemainingColumn(),
    )
    with Progress(*columns, console=messages) as bars:
        task = bars.add_task(title, total=None, rate="")
        first: list[int] = []  # what a resumed run found done must not count as this run's speed

        def move(done: int, total: int) -> None:
            first.append(done) if not first else None
            elapsed = bars.tasks[0].elapsed or 0
            rate = f"{(done - first[0]) / elapsed:.0f}/s" if elapsed > 1 and done > first[0] else ""
            bars.update(task, completed=done, total=total, rate=rate)

        yield move


def note(text: str) -> None:
    """One plain line."""
    messages.print(text, markup=False, soft_wrap=True)


def warn(text: str) -> None:
    """One line that should not be overlooked."""
    messages.print(f"warning: {text}", style="yellow", markup=False, soft_wrap=True)
