"""TensorFlow 1's conditionals and loops as functional ones.

`Switch` forwards a tensor to one of two outputs, `Merge` forwards the input that arrives, and a loop is a cycle of
`Enter`, `Merge`, `Switch`, `NextIteration` and `Exit` nodes. Here each `Merge` with the nodes between it and its
`Switch`es becomes an `If`, and each loop a `While`. The innermost comes first: when a construct is rewritten, its
region has no control flow left. `Merge` and `Exit` nodes become identities with the same names.
"""

from __future__ import annotations

from collections.abc import Sequence

from tapeflow.core.types.dtypes import DType, bool_
from tapeflow.graph.graphdef.import_graph import CONTROL_FLOW, READS, Unstructured
from tapeflow.graph.graphdef.node_protos import (
    LibraryFunction,
    Output,
    ParsedNode,
    definition_of,
    in_order,
    output_dtypes,
    unused_name,
    without_identities,
)

_SWITCH, _MERGE, _ENTER, _EXIT, _NEXT, _CONDITION = (
    frozenset({name, f"Ref{name}"}) for name in ("Switch", "Merge", "Enter", "Exit", "NextIteration", "LoopCond")
)
_STACKS = frozenset({"StackPushV2", "StackPopV2"})  # these hand values of a loop's iterations to its gradient


def functional(nodes: Sequence[ParsedNode]) -> list[ParsedNode]:
    """Returns the nodes of a graph with TensorFlow 1's control flow rewritten.

    Raises:
        Unstructured: the control flow has another form than `tf.cond` and `tf.while_loop` write. Or their gradients are
            in the graph, which read intermediate results of branches and iterations.
    """
    if not any(node.op in CONTROL_FLOW for node in nodes):
        return list(nodes)
    if any(node.op in _STACKS for node in nodes):
        raise Unstructured
    try:
        rewritten = _Rewriting(nodes).run()
        in_order(rewritten)
    except (KeyError, StopIteration, ValueError):  # parts of constructs are missing, or depend on each other
        raise Unstructured from None
    return rewritten


class _Region:
    """The nodes between the entries and the results of a construct.

    Attributes:
        nodes: the nodes that depend on an entry.
        entries: the first outputs in it: of `Switch`es, of loop variables, of a loop's constants.
        outside: outputs of other nodes that its nodes read.
        controls: the nodes outside that its nodes run after.
    """

    def __init__(self) -> None:
        self.nodes: list[ParsedNode] = []
        self.entries: list[Output] = []
        self.outside: list[Output] = []
        self.controls: list[str] = []


class _Rewriting:
    """The rewriting of one graph."""

    def __init__(self, nodes: Sequence[ParsedNode]) -> None:
        self.nodes = {node.name: node for node in nodes}
        self.used: set[str] = set()  # the Switches of constructs that were rewritten
        self.dtypes: dict[Output, DType] = {}  # of the outputs of Ifs and Whiles
        self.moved: set[str] = set()  # the nodes that are in functions now

    def run(self) -> list[ParsedNode]:
        """Rewrites constructs, innermost first, until none is left; returns the nodes."""
        waiting = [n.name for n in self.nodes.values() if n.op in _MERGE and not self._is_loop_variable(n)]
        frames = {self._frame(n): None for n in self.nodes.values() if n.op in _ENTER}
        progress = True
        while (waiting or frames) and progress:
            progress = False
            for name in list(waiting):
                if name not in waiting:
                    continue
                merged = self._conditional(name, waiting)
                if merged:
                    waiting = [n for n in waiting if n not in merged]
                    progress = True
            for frame in list(frames):
                if self._loop(frame):
                    del frames[frame]
                    progress = True
        if waiting or frames:
            raise Unstructured
        return self._without_leftovers()

    # ---- queries -----------------------------------------------------------------------------------------------------

    def _frame(self, enter: ParsedNode) -> bytes:
        return enter.attrs["frame_name"].s

    def _enters(self, frame: bytes) -> list[ParsedNode]:
        return [n for n in self.nodes.values() if n.op in _ENTER and self._frame(n) == frame]

    def _is_loop_variable(self, merge: ParsedNode) -> bool:
        return any(self.nodes[name].op in _NEXT for name, _ in merge.inputs)

    def _region(self, targets: Sequence[Output], entries: set[str]) -> _Region | None:
        """Returns the region from the nodes `entries` to `targets`; None if there is control flow in between."""
        region = _Region()
        seen: set[str] = set()
        stack = [name for name, _ in targets if name not in entries]
        while stack:
            node = self.nodes[stack.pop()]
            if node.name in seen:
                continue
            seen.add(node.name)
            if node.op in CONTROL_FLOW:
                return None
            stack.extend(n for n in (*(n for n, _ in node.inputs), *node.controls) if n not in entries)
        inside = self._dependents(seen, entries)
        for name in (n for n in self.nodes if n in inside):
            node = self.nodes[name]
            region.nodes.append(node)
            region.controls += [
                c for c in node.controls if c not in inside and c not in entries and c not in region.controls
            ]
        for output in (*(o for node in region.nodes for o in node.inputs), *targets):
            if output[0] in entries:
                operands = region.entries
            elif output[0] not in inside:
                operands = region.outside
            else:
                continue
            if output not in operands:
                operands.append(output)
        return region

    def _dependents(self, names: set[str], sources: set[str]) -> set[str]:
        """Returns the nodes among `names` that depend on a node among `sources`."""
        dependents: set[str] = set()
        consumers: dict[str, list[str]] = {}
        for name in names:
            node = self.nodes[name]
            for source in {*(n for n, _ in node.inputs), *node.controls}:
                consumers.setdefault(source, []).append(name)
        stack = [consumer for source in sources for consumer in consumers.get(source, ())]
        while stack:
            name = stack.pop()
            if name not in dependents:
                dependents.add(name)
                stack.extend(consumers.get(name, ()))
        return dependents

    def _dtype(self, output: Output) -> DType:
        """Returns the dtype of a node's output."""
        node = self.nodes[output[0]]
        if node.op in _CONDITION:
            return bool_
        if node.functions:
            return self.dtypes[output]
        return output_dtypes(node, definition_of(node.op))[output[1]]

    # ---- conditionals ------------------------------------------------------------------------------------------------

    def _predicate(self, switch: ParsedNode) -> Output:
        """Returns a Switch's predicate, without the identities between the two."""
        return without_identities(self.nodes, switch.inputs[1])

    def _first_switches(self, output: Output) -> list[Output] | None:
        """Returns the outputs of the Switches nearest before an output; None if other control flow comes first."""
        switches: list[Output] = []
        seen: set[str] = set()
        stack = [output]
        while stack:
            name, index = stack.pop()
            node = self.nodes[name]
            if node.op in _SWITCH:
                if (name, index) not in switches:
                    switches.append((name, index))
                continue
            if name in seen:
                continue
            seen.add(name)
            if node.op in _ENTER:
                continue
            if node.op in CONTROL_FLOW:
                return None
            stack.extend(node.inputs)
            stack.extend((c, 0) for c in node.controls)
        return switches

    def _sides(self, name: str) -> tuple[Output, list[Output], list[set[str]]] | None:
        """Returns a Merge's predicate, its inputs (for false, for true), and the Switches before each.

        Returns None if other control flow comes before the Switches.
        """
        merge = self.nodes[name]
        if len(merge.inputs) != 2:
            raise Unstructured
        switches = [self._first_switches(output) for output in merge.inputs]
        if switches[0] is None or switches[1] is None:
            return None
        predicates = {self._predicate(self.nodes[n]) for side in switches for n, _ in side or ()}
        outcomes = [{i for _, i in side or ()} for side in switches]
        if len(predicates) != 1 or len(outcomes[0]) > 1 or len(outcomes[1]) > 1 or outcomes[0] == outcomes[1]:
            raise Unstructured
        swap = outcomes[0] == {1} or outcomes[1] == {0}
        names = [{n for n, _ in side or ()} for side in switches]
        order = (1, 0) if swap else (0, 1)
        return predicates.pop(), [merge.inputs[i] for i in order], [names[i] for i in order]

    def _conditional(self, name: str, waiting: list[str]) -> set[str]:
        """Rewrites a Merge, and the others that merge the same branches, to an If.

        Returns:
            Their names; none if there is still other control flow in the branches.
        """
        first = self._sides(name)
        if first is None:
            return set()
        predicate = first[0]
        members: list[str] = []
        results: list[list[Output]] = [[], []]
        switches: set[str] = set()
        for other in waiting:
            sides = first if other == name else self._sides(other)
            if sides is not None and sides[0] == predicate and self._independent(name, other):
                members.append(other)
                for i in (0, 1):
                    results[i].append(sides[1][i])
                    switches |= sides[2][i]
        regions = [self._region(results[i], switches) for i in (0, 1)]
        if regions[0] is None or regions[1] is None:
            return set()
        operands: list[Output] = []
        for region in (r for r in regions if r is not None):
            operands += [self.nodes[n].inputs[0] for n, _ in region.entries] + region.outside
        operands = list(dict.fromkeys(operands))
        functions = {
            label: self._branch(f"{name}_{label}", region, operands, results[i])
            for label, i, region in (("then_branch", 1, regions[1]), ("else_branch", 0, regions[0]))
            if region is not None
        }
        controls = list(dict.fromkeys(c for r in regions if r is not None for c in r.controls))
        node = ParsedNode(
            unused_name(f"{name}/If", self.nodes), "If", [predicate, *operands], controls, {}, "", functions
        )
        self.used |= switches
        self._insert(node, {member: (node.name, i) for i, member in enumerate(members)})
        return set(members)

    def _independent(self, name: str, other: str) -> bool:
        """Returns True if neither of two Merges depends on the other."""
        return name == other or not (self._reaches(name, other) or self._reaches(other, name))

    def _reaches(self, source: str, target: str) -> bool:
        """Returns True if `target` is or depends on `source`."""
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

    def _branch(self, name: str, region: _Region, operands: list[Output], results: list[Output]) -> LibraryFunction:
        """Returns a branch of an If with these operands as a function."""
        arguments = {output: (f"arg{i}", 0) for i, output in enumerate(operands)}
        for entry in region.entries:
            arguments[entry] = arguments[self.nodes[entry[0]].inputs[0]]
        return self._function(name, region, [self._dtype(t) for t in operands], arguments, results)

    def _function(
        self, name: str, region: _Region, dtypes: list[DType], arguments: dict[Output, Output], results: list[Output]
    ) -> LibraryFunction:
        """Returns a region as a function.

        Args:
            name: the function's name.
            region: the region.
            dtypes: the dtypes of the function's arguments.
            arguments: for each entry and outside output, the argument that replaces it.
            results: the outputs that the function returns.
        """
        inside = {node.name for node in region.nodes}
        for node in region.nodes:
            if node.name in self.moved and node.op not in READS and (node.functions or definition_of(node.op).stateful):
                raise Unstructured  # it would run twice
        self.moved |= inside
        nodes = [
            ParsedNode(
                n.name,
                n.op,
                [arguments.get(i, i) for i in n.inputs],
                [c for c in n.controls if c in inside],
                n.attrs,
                n.device,
                n.functions,
            )
            for n in region.nodes
        ]
        names = [f"arg{i}" for i in range(len(dtypes))]
        outputs = [arguments.get(r, r) for r in results]
        return LibraryFunction(name, names, dtypes, in_order(nodes, names), outputs, sorted(inside))

    # ---- loops -------------------------------------------------------------------------------------------------------

    def _loop(self, frame: bytes) -> bool:
        """Rewrites a loop to a While, and returns True, if no other control flow is left in it."""
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
            raise Unstructured
        condition = self.nodes[next(iter(conditions))[0]]
        constants = [n for n in enters if not any(m.inputs and n.name in [i for i, _ in m.inputs] for m in merges)]
        nexts, firsts = [], []
        for merge in merges:
            sources = [self.nodes[i] for i, _ in merge.inputs]
            nexts.append(next(s for s in sources if s.op in _NEXT).inputs[0])
            firsts.append(next(s for s in sources if s.op in _ENTER).inputs[0])
        entries = {*names, *(s.name for s in switches.values()), *(c.name for c in constants), condition.name}
        regions = [self._region([condition.inputs[0]], entries), self._region(nexts, entries)]
        if regions[0] is None or regions[1] is None:
            return False
        invariants = list(dict.fromkeys([*(c.inputs[0] for c in constants), *regions[0].outside, *regions[1].outside]))
        operands = [*firsts, *invariants]
        arguments: dict[Output, Output] = {}
        for i, merge in enumerate(merges):
            arguments[merge.name, 0] = (f"arg{i}", 0)
            if merge.name in switches:
                arguments[switches[merge.name].name, 1] = (f"arg{i}", 0)
        for i, output in enumerate(invariants, len(merges)):
            arguments[output] = (f"arg{i}", 0)
        for constant in constants:
            arguments[constant.name, 0] = arguments[constant.inputs[0]]
        dtypes = [self._dtype(t) for t in operands]
        unchanged = [(f"arg{i}", 0) for i in range(len(merges), len(operands))]
        label = frame.decode(errors="replace")
        functions = {
            "cond": self._function(f"{label}_cond", regions[0], dtypes, arguments, [condition.inputs[0]]),
            "body": self._function(f"{label}_body", regions[1], dtypes, arguments, [*nexts, *unchanged]),
        }
        controls = list(
            dict.fromkeys([*(c for n in enters for c in n.controls), *regions[0].controls, *regions[1].controls])
        )
        node = ParsedNode(unused_name(f"{names[0]}/While", self.nodes), "While", operands, controls, {}, "", functions)
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

    # ---- the whole graph ---------------------------------------------------------------------------------------------

    def _insert(self, node: ParsedNode, results: dict[str, Output]) -> None:
        """Adds a node; replaces other nodes by identities of its outputs."""
        self.nodes[node.name] = node
        if any(i in results and index for n in self.nodes.values() for i, index in n.inputs):
            raise Unstructured  # something reads which input a Merge took
        for name, output in results.items():
            before = self.nodes[name]
            self.dtypes[output] = self._dtype((name, 0))
            self.nodes[name] = ParsedNode(name, "Identity", [output], before.controls, {"T": before.attrs["T"]})

    def _without_leftovers(self) -> list[ParsedNode]:
        """Returns the nodes without the old nodes of the constructs that were rewritten."""
        gone = {n.name for n in self.nodes.values() if n.op in CONTROL_FLOW}
        for node in self.nodes.values():
            if node.op in _SWITCH and node.name not in self.used and self._is_consumed(node):
                raise Unstructured
        while True:
            more = {
                n.name
                for n in self.nodes.values()
                if n.name not in gone
                and (
                    any(i not in self.nodes or i in gone for i, _ in n.inputs)
                    or any(c not in self.nodes or c in gone for c in n.controls)
                )
            }
            if any(n not in self.moved and self.nodes[n].op not in ("Identity", "Const") for n in more):
                raise Unstructured  # an outer node reads an inner value of a construct
            if not more:
                return [n for n in self.nodes.values() if n.name not in gone]
            gone |= more

    def _is_consumed(self, switch: ParsedNode) -> bool:
        """Returns True if any node but identities depends on a Switch."""
        names = {switch.name}
        while True:
            consumers = [n for n in self.nodes.values() if n.name not in names
                      and (any(i in names for i, _ in n.inputs) or any(c in names for c in n.controls))]  # fmt: skip
            if any(n.op != "Identity" for n in consumers):
                return True
            if not consumers:
                return False
            names |= {n.name for n in consumers}
