"""The knobs of the CPU: one class for every label, `cpu{direction=pull, segments=4}`."""

from __future__ import annotations

import dataclasses
from dataclasses import dataclass
from typing import ClassVar, Literal

from pantograf import schedule
from pantograf.errors import UserError
from pantograf.schedule import Mixed, Schedule, Traversal

Direction = Literal["auto", "push", "dense_push", "pull", "hybrid"]


@dataclass(frozen=True)
class Traverse(Schedule):
    """How the CPU runs an apply, a loop that is a fixpoint, a priority queue or an intersection.

    direction     auto: chosen by program and graph; push from a list, or from a map of the frontier (dense_push); pull; hybrid: pull
                  while the frontier is dense, else push
    parallelism   vertex: a vertex's edges stay together; edge: the edges of hubs are shared among the threads; serial
    dealing       dynamic: threads take chunks of `grain` vertices (0: chosen); static: one equal part each
    frontier      the map that pull and dense_push look up: one bit or one byte a vertex
    deduplicate   false: a frontier may hold a vertex twice where nothing observes it (less bookkeeping, more edges)
    segments      pull one part of the sources after the other, so that a part's values stay in the cache (0: all at once)
    segment_bytes the same, by the size of a part: eight bytes a source
    balance       cut the parts so that they have as many vertices, or as many edges
    fixpoint      rounds, or async: a thread goes on with what it has just changed before it waits for the others
    priority      auto: fused in a fixpoint over a graph of mean degree below 4, constant_sum where one constant is added, else eager;
                  eager: a changed vertex goes into a bucket at once; lazy: once, after the apply; fused: eager, and a thread goes on
                  with its own part of the current bucket; constant_sum: count, then add once
    delta         width of a bucket, instead of the program's
    buckets       how many buckets are kept open
    merge         fused, async: the largest own part that a thread goes on with
    intersection  merge two lists, gallop in the longer, a bitmap of one, or auto: merge or gallop by length
    prefetch      how many edges ahead memory is asked for that is read at their far ends (0: not at all; none: chosen)
    lookahead     how many vertices ahead memory is asked for that holds their edges (0: not at all; none: chosen); a pull, unless
                  it is 0: a word of 64
    threshold     hybrid: pull while the frontier and its out-edges are more than the edges divided by this
    fuse          names of properties that lie side by side in memory, a record for each vertex
    """

    spec_name: ClassVar[str] = "cpu"
    direction: Direction = "auto"
    parallelism: Literal["vertex", "edge", "serial"] = "vertex"
    dealing: Literal["dynamic", "static"] = "dynamic"
    grain: int = 0
    frontier: Literal["bitmap", "boolmap"] = "bitmap"
    deduplicate: bool = True
    segments: int = 0
    segment_bytes: int = 0
    balance: Literal["vertex", "edge"] = "vertex"
    fixpoint: Literal["rounds", "async"] = "rounds"
    priority: Literal["auto", "eager", "lazy", "fused", "constant_sum"] = "auto"
    delta: int | float | None = None
    buckets: int = 128
    merge: int = 1000
    intersection: Literal["auto", "merge", "gallop", "bitmap"] = "auto"
    prefetch: int | None = None
    lookahead: int | None = None
    threshold: int = 20
    fuse: tuple[str, ...] = ()

    def __post_init__(self) -> None:
        """Refuse numbers and combinations that have no meaning."""
        for name, low, high in (
            ("grain", 0, 2**31),
            ("segments", 0, 1024),
            ("segment_bytes", 0, 2**40),
            ("buckets", 1, 2**16),
            ("merge", 0, 2**31),
            ("prefetch", 0, 1024),
            ("lookahead", 0, 1024),
            ("threshold", 1, 2**31),
        ):
            value = getattr(self, name)
            if value is not None and not low <= value <= high:
                raise UserError(f"cpu.{name} cannot be {getattr(self, name)}", hint=f"from {low} to {high}")
        if self.delta is not None and not self.delta > 0:
            raise UserError(f"cpu.delta cannot be {self.delta}", hint="a number above 0")
        for wrong, message, hint in self._contradictions():
            if wrong:
                raise UserError(message, hint=hint)

    def _contradictions(self) -> list[tuple[bool, str, str]]:
        """Pairs of knobs that cannot both be obeyed: whether they are set, what is wrong, and what would do."""
        onward = self.fixpoint == "async" or self.priority == "fused"
        return [
            (
                self.cuts and self.direction not in ("auto", "pull", "hybrid"),
                f"cpu.segments is for pulling, and the direction is {self.direction}",
                "add direction=pull, or leave segments out",
            ),
            (
                self.segments > 1 and self.segment_bytes > 0,
                "cpu.segments and cpu.segment_bytes both say how many parts there are",
                "give one of them",
            ),
            (
                self.balance == "edge" and not self.cuts,
                "cpu.balance says where parts are cut, and there are none",
                "add segments=4, or leave balance out",
            ),
            (
                self.frontier == "boolmap" and self.direction not in ("pull", "dense_push", "hybrid"),
                f"cpu.frontier is the map of pull, dense_push and hybrid, and the direction is {self.direction}",
                "add direction=pull, or leave frontier out",
            ),
            (
                self.threshold != 20 and self.direction != "hybrid",
                f"cpu.threshold says when a hybrid pulls, and the direction is {self.direction}",
                "add direction=hybrid, or leave threshold out",
            ),
            (
                self.merge != 1000 and self.priority != "fused" and self.fixpoint != "async",
                "cpu.merge is the largest part that a thread goes on with, and here none goes on",
                "add priority=fused (or fixpoint=async), or leave merge out",
            ),
            (
                self.fixpoint == "async" and self.direction not in ("auto", "push"),
                f"an asynchronous fixpoint pushes; the direction cannot be {self.direction}",
                "fixpoint=rounds, or direction=push",
            ),
            (
                self.lookahead is not None and self.direction == "dense_push",
                f"cpu.lookahead is for pulling, or pushing from a list, and the direction is {self.direction}",
                "direction=push, or leave lookahead out",
            ),
            (
                self.parallelism == "edge" and self.direction == "dense_push",
                "hubs are shared when a frontier is a list; dense_push walks a map",
                "direction=push with parallelism=edge, or parallelism=vertex",
            ),
            (
                self.parallelism == "edge" and onward,
                "a thread that goes on by itself keeps a vertex's edges together; parallelism cannot be edge",
                "parallelism=vertex",
            ),
            (
                self.parallelism == "edge" and self.dealing == "static",
                "hubs are shared as threads become free; dealing cannot be static",
                "dealing=dynamic, or parallelism=vertex",
            ),
            (
                self.grain > 0 and (self.dealing == "static" or self.parallelism == "serial"),
                "grain is the size of a chunk that is dealt, and here none is",
                "leave grain out, or dealing=dynamic with parallelism=vertex or edge",
            ),
            (
                self.parallelism == "serial" and self.dealing == "static",
                "a serial apply has nothing to deal",
                "leave dealing out, or parallelism=vertex",
            ),
        ]

    @property
    def cuts(self) -> bool:
        """Whether a pull goes through the sources in parts."""
        return self.segments > 1 or self.segment_bytes > 0

    def going(self, direction: Direction) -> Traverse:
        """The same in one direction, without what is said for others."""
        kept: dict[str, object] = {"direction": direction}
        other = ["segments", "segment_bytes", "balance"] if direction in ("push", "dense_push") else []
        other += ["fixpoint", "merge"] if direction != "push" else ["frontier"]
        other += ["lookahead"] if direction == "dense_push" else []
        other += ["threshold"] if direction != "hybrid" else []
        kept |= {f.name: f.default for f in dataclasses.fields(self) if f.name in other}
        if self.priority == "fused":
            kept.pop("merge", None)
        return dataclasses.replace(self, **kept)  # type: ignore[arg-type]

    def traversal(self) -> Traversal | Mixed:
        """What this says to the passes; `auto` pushes until the machine has decided."""
        layout: schedule.Layout = self.frontier
        pull = Traversal("pull", self.parallelism, layout, self.deduplicate)
        push = Traversal(
            "push", self.parallelism, layout if self.direction == "dense_push" else "list", self.deduplicate
        )
        if self.direction == "hybrid":
            return Mixed(pull, push, self.threshold)
        return pull if self.direction == "pull" else push
