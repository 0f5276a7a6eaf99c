"""TensorFlow 1's conditionals and loops as functional ones.

`Switch` sends a tensor one way or the other, `Merge` takes whichever arrives, and a loop is a cycle of `Enter`,
`Merge`, `Switch`, `NextIteration` and `Exit` nodes. Here each `Merge` with the nodes between it and its `Switch`es
becomes an `If`, and each loop a `While`, the innermost first, so that what is left between the ends of a construct
is always plain. The names of `Merge` and `Exit` nodes stay, as those of identities.
"""

from __future__ import annotations

from collections.abc import Iterable

from tapeflow.core import errors
from tapeflow.core.types.dtypes import DType, bool_
from tapeflow.graph.graphdef.node_protos import Function, Node, Output, definition_of, in_order, output_dtypes

_SWITCH, _MERGE, _ENTER, _EXIT, _NEXT, _CONDITION = (
    frozenset({name, f"Ref{name}"}) for name in ("Switch", "Merge", "Enter", "Exit", "NextIteration", "LoopCond")
)
_CONTROL_FLOW = _SWITCH | _MERGE | _ENTER | _EXIT | _NEXT | _CONDITION


def functional(nodes: list[Node]) -> list[Node]:
    """The nodes of a graph without TensorFlow 1's control flow.

    Raises:
        UnimplementedError: it is used in another way than by `tf.cond` and `tf.while_loop`.
    """
    if not any(node.op in _CONTROL_FLOW for node in nodes):
        return nodes
    return _Rewriting(nodes).run()


class _Region:
    """Nodes between the ends of a construct.

    Attributes:
        nodes: those that depend on where it begins.
        ends: where it begins: outputs of `Switch`es, loop variables, constants of a loop.
        outside: outputs of other nodes that its nodes take.
        controls: the nodes outside that its nodes run after.
    """

    def __init__(self) -> None:
        self.nodes: list[Node] = []
        self.ends: list[Output] = []
        self.outside: list[Output] = []
        self.controls: list[str] = []


class _Rewriting:
    """The rewriting of one graph."""

    def __init__(self, nodes: list[Node]) -> None:
        self.nodes = {node.name: node for node in nodes}
        self.used: set[str] = set()  # Switches that a construct begins with
        self.made: dict[Output, DType] = {}  # the dtypes of what Ifs and Whiles give

    def run(self) -> list[Node]:
        """Rewrites constructs, innermost first, until none is left."""
        waiting = [n.name for n in self.nodes.values() if n.op in _MERGE and not self._is_loop_variable(n)]
        frames = {self._frame(n): None for n in self.nodes.values() if n.op in _ENTER}
        progress = True
        while (waiting or frames) and progress:
            progress = False
            for name in list(waiting):
                if name not in waiting:
                    continue
                together = self._conditional(name, waiting)
                if together:
                    waiting = [n for n in waiting if n not in together]
                    progress = True
            for frame in list(frames):
                if self._loop(frame):
                    del frames[frame]
                    progress = True
        if waiting or frames:
            raise _unimplemented(self.nodes[waiting[0]] if waiting else self._enters(next(iter(frames)))[0])
        return self._without_remains()

    # ---- what there is -----------------------------------------------------------------------------------------------

    def _frame(self, enter: Node) -> bytes:
        return enter.attrs["frame_name"].s

    def _enters(self, frame: bytes) -> list[Node]:
        return [n for n in self.nodes.values() if n.op in _ENTER and self._frame(n) == frame]

    def _is_loop_variable(self, merge: Node) -> bool:
        return any(self.nodes[name].op in _NEXT for name, _ in merge.inputs)

    def _region(self, targets: Iterable[Output], ends: set[str]) -> _Region | None:
        """What leads to `targets` from the nodes `ends`; None if there is control flow in between."""
        region = _Region()
        seen: set[str] = set()
        stack = [name for name, _ in targets if name not in ends]
        while stack:
            node = self.nodes[stack.pop()]
            if node.name in seen:
                continue
            seen.add(node.name)
            if node.op in _CONTROL_FLOW:
                return None
            stack.extend(n for n in (*(n for n, _ in node.inputs), *node.controls) if n not in ends)
        inside = self._depending(seen, ends)
        for name in (n for n in self.nodes if n in inside):
            node = self.nodes[name]
            region.nodes.append(node)
            for output in node.inputs:
                found = region.ends if output[0] in ends else region.outside if output[0] not in inside else None
                if found is not None and output not in found:
                    found.append(output)
            region.controls += [
                c for c in node.controls if c not in inside and c not in ends and c not in region.controls
            ]
        for output in targets:
            found = region.ends if output[0] in ends else region.outside if output[0] not in inside else None
            if found is not None and output not in found:
                found.append(output)
        return region

    def _depending(self, names: set[str], ends: set[str]) -> set[str]:
        """Those of the nodes that depend on one of `ends`."""
        found: set[str] = set()
        takers: dict[str, list[str]] = {}
        for name in names:
            node = self.nodes[name]
            for source in {*(n for n, _ in node.inputs), *node.controls}:
                takers.setdefault(source, []).append(name)
        stack = [taker for end in ends for taker in takers.get(end, ())]
        while stack:
            name = stack.pop()
            if name not in found:
                found.add(name)
                stack.extend(takers.get(name, ()))
        return found

    def _dtype(self, output: Output) -> DType:
        """The dtype of a node's output."""
        node = self.nodes[output[0]]
        if node.op in _CONDITION:
            return bool_
        if node.functions:
            return self.made[output]
        return output_dtypes(node, definition_of(node.op))[output[1]]

    # ---- conditionals ------------------------------------------------------------------------------------------------

    def _predicate(self, switch: Node) -> Output:
        """What decides, before it was passed along."""
        found = switch.inputs[1]
        while self.nodes[found[0]].op == "Identity":
            found = self.nodes[found[0]].inputs[0]
        return found

    def _first_switches(self, output: Output) -> list[Output] | None:
        """The Switches nearest before an output; None if other control flow comes first."""
        found: list[Output] = []
        seen: set[str] = set()
        stack = [output]
        while stack:
            name, index = stack.pop()
            node = self.nodes[name]
            if node.op in _SWITCH:
                if (name, index) not in found:
                    found.append((name, index))
                continue
            if name in seen:
                continue
            seen.add(name)
            if node.op in _ENTER:
                continue
            if node.op in _CONTROL_FLOW:
                return None
            stack.extend(node.inputs)
            stack.extend((c, 0) for c in node.controls)
        return found

    def _sides(self, name: str) -> tuple[Output, list[Output], list[set[str]]] | None:
        """A Merge's predicate, its inputs (for false, for true), and the Switches before each."""
        merge = self.nodes[name]
        if len(merge.inputs) != 2:
            raise _unimplemented(merge)
        switches = [self._first_switches(output) for output in merge.inputs]
        if switches[0] is None or switches[1] is None:
            return None
        predicates = {self._predicate(self.nodes[n]) for side in switches for n, _ in side or ()}
        chosen = [{i for _, i in side or ()} for side in switches]
        if len(predicates) != 1 or len(chosen[0]) > 1 or len(chosen[1]) > 1 or chosen[0] == chosen[1]:
            raise _unimplemented(merge)
        swap = chosen[0] == {1} or chosen[1] == {0}
        names = [{n for n, _ in side or ()} for side in switches]
        order = (1, 0) if swap else (0, 1)
        return predicates.pop(), [merge.inputs[i] for i in order], [names[i] for i in order]

    def _conditional(self, name: str, waiting: list[str]) -> set[str]:
        """Makes an If of a Merge, and of those that merge the same branches; gives their names, if it can be done
        yet."""
        first = self._sides(name)
        if first is None:
            return set()
        predicate = first[0]
        members: list[str] = []
        results: list[list[Output]] = [[], []]
        switches: set[str] = set()
        for other in waiting:
            sides = first if other == name else self._sides(other)
            if sides is not None and sides[0] == predicate and self._beside(name, other):
                members.append(other)
                for i in (0, 1):
                    results[i].append(sides[1][i])
                    switches |= sides[2][i]
        regions = [self._region(results[i], switches) for i in (0, 1)]
        if regions[0] is None or regions[1] is None:
            return set()
        taken: list[Output] = []
        for region in (r for r in regions if r is not None):
            taken += [self.nodes[n].inputs[0] for n, _ in region.ends] + region.outside
        taken = list(dict.fromkeys(taken))
        functions = {
            label: self._branch(f"{name}_{label}", region, taken, results[i])
            for label, i, region in (("then_branch", 1, regions[1]), ("else_branch", 0, regions[0]))
            if region is not None
        }
        controls = list(dict.fromkeys(c for r in regions if r is not None for c in r.controls))
        node = Node(self._new_name(f"{name}/If"), "If", [predicate, *taken], controls, {}, "", functions)
        self.used |= switches
        self._insert(node, {member: (node.name, i) for i, member in enumerate(members)})
        return set(members)

    def _beside(self, name: str, other: str) -> bool:
        """Whether neither of two Merges needs the other."""
        return name == other or not (self._reaches(name, other) or self._reaches(other, name))

    def _reaches(self, source: str, target: str) -> bool:
        seen: set[str] = set()
        stack = [target]
        while stack:
            name = stack.pop()
            if name == source:
                return True
            if name not in seen:
                seen.add(name)
                node = self.nodes[name]
                stack.extend(n for n, _ in node.inputs)
                stack.extend(node.controls)
        return False

    def _branch(self, name: str, region: _Region, taken: list[Output], results: list[Output]) -> Function:
        places = {output: (f"arg{i}", 0) for i, output in enumerate(taken)}
        for end in region.ends:
            places[end] = places[self.nodes[end[0]].inputs[0]]
        return self._function(name, region, [self._dtype(t) for t in taken], places, results)

    def _function(
        self, name: str, region: _Region, dtypes: list[DType], places: dict[Output, Output], results: list[Output]
    ) -> Function:
        """A region as a function; `places` says which argument stands for what it takes."""
        inside = {node.name for node in region.nodes}
        nodes = [
            Node(
                n.name,
                n.op,
                [places.get(i, i) for i in n.inputs],
                [c for c in n.controls if c in inside],
                n.attrs,
                n.device,
                n.functions,
            )
            for n in region.nodes
        ]
        arguments = [f"arg{i}" for i in range(len(dtypes))]
        outputs = [places.get(r, r) for r in results]
        return Function(name, arguments, dtypes, in_order(nodes, arguments), outputs, sorted(inside))

    # ---- loops -------------------------------------------------------------------------------------------------------

    def _loop(self, frame: bytes) -> bool:
        """Makes a While of a loop, if all in it is plain by now."""
        enters = self._enters(frame)
        inside = {n.name for n in enters}
        merges = [
            n
            for n in self.nodes.values()
            if n.op in _MERGE and self._is_loop_variable(n) and any(i in inside for i, _ in n.inputs)
        ]
        names = [m.name for m in merges]
        switches = {n.inputs[0][0]: n for n in self.nodes.values() if n.op in _SWITCH and n.inputs[0][0] in names}
        conditions = {n.inputs[1] for n in switches.values()}
        if len(conditions) != 1 or self.nodes[next(iter(conditions))[0]].op not in _CONDITION:
            raise _unimplemented(enters[0])
        condition = self.nodes[next(iter(conditions))[0]]
        constants = [n for n in enters if not any(m.inputs and n.name in [i for i, _ in m.inputs] for m in merges)]
        nexts, firsts = [], []
        for merge in merges:
            sources = [self.nodes[i] for i, _ in merge.inputs]
            nexts.append(next(s for s in sources if s.op in _NEXT).inputs[0])
            firsts.append(next(s for s in sources if s.op in _ENTER).inputs[0])
        ends = {*names, *(s.name for s in switches.values()), *(c.name for c in constants), condition.name}
        regions = [self._region([condition.inputs[0]], ends), self._region(nexts, ends)]
        if regions[0] is None or regions[1] is None:
            return False
        extra = list(dict.fromkeys([*(c.inputs[0] for c in constants), *regions[0].outside, *regions[1].outside]))
        taken = [*firsts, *extra]
        places: dict[Output, Output] = {}
        for i, merge in enumerate(merges):
            places[merge.name, 0] = (f"arg{i}", 0)
            if merge.name in switches:
                places[switches[merge.name].name, 1] = (f"arg{i}", 0)
        for i, output in enumerate(extra, len(merges)):
            places[output] = (f"arg{i}", 0)
        for constant in constants:
            places[constant.name, 0] = places[constant.inputs[0]]
        dtypes = [self._dtype(t) for t in taken]
        kept = [(f"arg{i}", 0) for i in range(len(merges), len(taken))]
        label = frame.decode(errors="replace")
        functions = {
            "cond": self._function(f"{label}_cond", regions[0], dtypes, places, [condition.inputs[0]]),
            "body": self._function(f"{label}_body", regions[1], dtypes, places, [*nexts, *kept]),
        }
        controls = list(
            dict.fromkeys([*(c for n in enters for c in n.controls), *regions[0].controls, *regions[1].controls])
        )
        node = Node(self._new_name(f"{names[0]}/While"), "While", taken, controls, {}, "", functions)
        exits: dict[str, Output] = {}
        for i, name in enumerate(names):
            if name in switches:
                self.used.add(switches[name].name)
                exits |= {n.name: (node.name, i) for n in self.nodes.values()
                          if n.op in _EXIT and n.inputs[0] == (switches[name].name, 0)}  # fmt: skip
        self._insert(node, exits)
        for name in (*names, *inside, condition.name):
            self.nodes.pop(name, None)
        return True

    # ---- the graph around --------------------------------------------------------------------------------------------

    def _new_name(self, name: str) -> str:
        while name in self.nodes:
            name += "_"
        return name

    def _insert(self, node: Node, results: dict[str, Output]) -> None:
        """Adds a node, and has its outputs in place of other nodes."""
        self.nodes[node.name] = node
        for name, output in results.items():
            before = self.nodes[name]
            self.made[output] = self._dtype((name, 0))
            self.nodes[name] = Node(name, "Identity", [output], before.controls, {"T": before.attrs["T"]})

    def _without_remains(self) -> list[Node]:
        """The nodes without what was between the ends of constructs."""
        gone = {n.name for n in self.nodes.values() if n.op in _CONTROL_FLOW}
        for node in self.nodes.values():
            if node.op in _SWITCH and node.name not in self.used and self._matters(node):
                raise _unimplemented(node)
        grows = True
        while grows:
            more = {
                n.name
                for n in self.nodes.values()
                if n.name not in gone
                and (
                    any(i not in self.nodes or i in gone for i, _ in n.inputs)
                    or any(c not in self.nodes or c in gone for c in n.controls)
                )
            }
            gone |= more
            grows = bool(more)
        return [n for n in self.nodes.values() if n.name not in gone]

    def _matters(self, switch: Node) -> bool:
        """Whether anything but identities takes what a Switch gives."""
        names = {switch.name}
        while True:
            takers = [n for n in self.nodes.values() if n.name not in names
                      and (any(i in names for i, _ in n.inputs) or any(c in names for c in n.controls))]  # fmt: skip
            if any(n.op != "Identity" for n in takers):
                return True
            if not takers:
                return False
            names |= {n.name for n in takers}


def _unimplemented(node: Node) -> errors.UnimplementedError:
    return errors.UnimplementedError(
        None,
        None,
        f"Node '{node.name}' of op {node.op} is control flow of TensorFlow 1 in another form than tf.cond and "
        "tf.while_loop "
        "write: build the graph with tf.compat.v1.enable_control_flow_v2(), which writes If and While",
    )
