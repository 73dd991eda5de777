"""The breakpoints of all owners, and their locations in code."""
from __future__ import annotations

from typing import Dict, List, Set, Tuple

from . import codes
from .breakpoints import Breakpoint
from .specs import Bound, EngineError, Spec

BREAKPOINTS_MAXIMUM = 500
Lines = Dict[int, List[Breakpoint]]


class Table:
    """`files` is read at each event, without a lock: by co_filename and line,
    the breakpoints there. It is replaced, never modified."""

    def __init__(self) -> None:
        self.files: Dict[str, Lines] = {}
        # Last components of the function names of breakpoints.
        self.names: Set[str] = set()
        # code objects that contain breakpoints
        self.codes: Dict[int, codes.Code] = {}
        self._owners: Dict[str, List[Breakpoint]] = {}
        self._wanted: Dict[str, List[Breakpoint]] = {}
        self._lines: Dict[int, Tuple[codes.Code, List[int]]] = {}

    def all(self) -> List[Breakpoint]:
        return [each for own in self._owners.values() for each in own]

    def bounds(self) -> Dict[str, List[Bound]]:
        return {owner: [each.bound for each in own]
                for owner, own in self._owners.items()}

    def is_empty(self) -> bool:
        return not any(each.is_wanted() for each in self.all())

    def set(self, owner: str, specs: List[Spec]) -> List[Breakpoint]:
        if len(specs) > BREAKPOINTS_MAXIMUM:
            raise EngineError("too many breakpoints: %d (at most %d)"
                              % (len(specs), BREAKPOINTS_MAXIMUM))
        before = {each.spec.key(): each
                  for each in self._owners.get(owner, [])}
        own = []
        for spec in specs:
            known = before.get(spec.key())
            own.append(known if known is not None and not known.is_spent
                       and not known.is_misnamed
                       else Breakpoint(owner, spec))
        self._owners[owner] = own
        if not own:
            del self._owners[owner]
        # appeared() has updated the breakpoints that have locations.
        self._look([each for each in own if not each.places])
        self.rebuild()
        return own

    def rebuild(self) -> None:
        files: Dict[str, Lines] = {}
        self.codes = {}
        self._wanted = {}
        self.names = set()
        for each in self.all():
            if not each.is_wanted():
                continue
            if each.spec.function:
                parts = each.spec.function.split(".")
                self.names.update((parts[-1], "__init__", "<module>"))
            self.codes.update(each.codes)
            for sign, line in each.places.items():
                there = files.setdefault(sign[0], {}).setdefault(line, [])
                if each not in there:
                    there.append(each)
        self.files = files

    def drop_spent(self) -> List[Breakpoint]:
        spent = [each for each in self.all() if each.is_spent]
        for owner, own in dict(self._owners).items():
            self._owners[owner] = [each for each in own
                                   if not each.is_spent]
        self.rebuild()
        return spent

    def lines_of(self, code: codes.Code) -> List[int]:
        known = self._lines.get(id(code))
        if known is None or known[0] is not code:
            known = (code, codes.event_lines(code))
            self._lines[id(code)] = known
        return known[1]

    def _look(self, breakpoints: List[Breakpoint]) -> None:
        """Searches the loaded code for the locations of these breakpoints."""
        breakpoints = [each for each in breakpoints if not each.is_broken]
        if not breakpoints:
            return
        loaded = codes.loaded()
        filenames = {code.co_filename for code in loaded}
        for each in breakpoints:
            spec = each.spec
            if spec.function:
                found = codes.of_function(spec.function, loaded)
            else:
                names = {name for name in filenames
                         if codes.matches(spec.path or "", name)}
                found = codes.of_filenames(loaded, names)
            self._bind(each, found)
            each.judge(loaded)
        self._lines = {}

    def _bind(self, each: Breakpoint, found: List[codes.Code]) -> None:
        for code in found:
            each.add(code, self.lines_of(code))
        if each.places:
            each.settle()
        else:
            each.miss(found, self.lines_of)

    def of_file(self, filename: str) -> List[Breakpoint]:
        """Returns the breakpoints whose path matches this co_filename."""
        found = self._wanted.get(filename)
        if found is None:
            found = [each for each in self.all()
                     if each.is_wanted() and not each.spec.function
                     and codes.matches(each.spec.path or "", filename)]
            self._wanted[filename] = found
        return found

    def appeared(self, code: codes.Code) -> List[Breakpoint]:
        """Called when code begins to run that may have been loaded just now.
        Returns the breakpoints whose state changed."""
        changed = []
        within = list(codes.nested(code))
        for each in self.of_file(code.co_filename):
            added = [each.add(inner, self.lines_of(inner))
                     for inner in within]
            if any(added):
                each.settle()
                changed.append(each)
            elif not each.places and code.co_name == "<module>":
                before = each.bound.message
                each.miss(within, self.lines_of)
                if each.bound.message != before:
                    changed.append(each)
        for each in self.all() if self.names else ():
            name = each.spec.function
            if not name or each.places or not each.is_wanted():
                continue
            if any([each.add(inner, self.lines_of(inner))
                    for inner in within if _is_function(inner, name)]):
                each.settle()
                changed.append(each)
        self._lines = {}
        if any(each.places for each in changed):
            self.rebuild()
        return changed


def _is_function(code: codes.Code, name: str) -> bool:
    """True if code is that of a function with this name, or of a class's
    __init__."""
    if codes.is_called(code, name):
        return True
    # name may be "module.f", "Class" or "module.Class".
    own = codes.qualname(code).replace(".<locals>", "")
    if own.endswith("__init__") and code.co_name == "__init__":
        own = own[:-len(".__init__")]
    module = code.co_filename.rpartition("/")[2].rpartition(".")[0]
    return bool(own) and name in (own, "%s.%s" % (module, own))
