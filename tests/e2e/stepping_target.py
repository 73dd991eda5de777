"""Runs functions of stepping_program.py, alone or under bdb.

    stepping_target.py plain|bdb|shown|pdb FOLDER

Takes a line of JSON for each scenario: {"functions": [...], "warm": COUNT,
"in_thread": bool, "marks": ..., "script": [...]}. The program is compiled
anew for each, so that nothing of it is specialised yet. "program" is another
file than stepping_program.py; without "script" it says which lines ran.

plain: says "ready", waits for a line, runs the functions, says "done".
bdb: says the stops as a list of "EVENT FILE:LINE FUNCTION", that of a return
with " VALUE" where it is simple; "outside" is one that is none of the program's.
shown: the places that pdb would show, without values.
pdb: says "ready", waits for a line, runs the functions under a pdb that listens
at the Unix socket "pdb.sock" of FOLDER, says "done".
"""
import bdb
import dis
import gc
import json
import opcode
import os
import pdb
import socket
import sys
import threading
import types

FILES = ("stepping_program.py", "stepping_second.py", "stepping_wide.py",
         "stepping_match.py")
# At these no line begins from 3.12 on, though they may be jumped to.
NO_LINE = ("END_FOR", "END_SEND", "END_ASYNC_FOR") \
    if sys.version_info >= (3, 12) else ()


class Recorder(bdb.Bdb):
    """Follows a script: "b:FILE:LINE", "cl:FILE:LINE", "n", "s", "r", "c",
    "unt", "unt:LINE", "up", "down"."""

    def __init__(self, folder, script, is_all_traced=False):
        super().__init__()
        self.folder = folder
        self.script = list(script)
        self.is_all_traced = is_all_traced
        self.stops = []
        self.is_waiting = True      # for the program's first event
        self.raised = None          # the frame of the last exception
        self.ended = None           # a generator's, at its last return

    def stop(self, event, frame, value=""):
        if self.is_waiting:
            if frame.f_code.co_name != "run":
                self.set_step()
                return
            self.is_waiting = False
        elif frame.f_code.co_filename == __file__ or (
                os.path.basename(frame.f_code.co_filename)
                in ("bdb.py", "threading.py")):
            self.stops.append("outside")
            self.script = []
        else:
            self.stops.append("%s %s:%d %s%s" % (
                event, os.path.basename(frame.f_code.co_filename),
                frame.f_lineno, frame.f_code.co_name, value))
        self.act(frame)

    def act(self, frame):
        while self.script:
            command, _, argument = self.script.pop(0).partition(":")
            if command == "b":
                name, _, line = argument.partition(":")
                error = self.set_break(os.path.join(self.folder, name),
                                       int(line))
                assert not error, error
            elif command == "cl":
                name, _, line = argument.partition(":")
                self.clear_break(os.path.join(self.folder, name), int(line))
            elif command == "up":
                frame = frame.f_back
            elif command == "down":
                frame = self.newest(frame)
            else:
                self.go_on(command, argument, frame)
                return
        self.clear_all_breaks()
        self.set_continue()

    def newest(self, frame):
        """The frame that called this: one below."""
        below = sys._getframe()
        while below.f_back is not frame:
            below = below.f_back
        return below

    def go_on(self, command, argument, frame):
        if command == "n":
            self.set_next(frame)
        elif command == "s":
            self.set_step()
        elif command == "r":
            self.set_return(frame)
        elif command == "unt":
            self.set_until(frame, int(argument) if argument else None)
        else:
            assert command == "c", command
            self.set_continue()

    def dispatch_call(self, frame, arg):
        # bdb traces no frame that it need not; is_all_traced: docs/stepping.md, 5.
        traced = super().dispatch_call(frame, arg)
        return self.trace_dispatch if self.is_all_traced else traced

    def dispatch_line(self, frame):
        self.raised = None
        return super().dispatch_line(frame)

    def dispatch_exception(self, frame, arg):
        # Left out, as docs/stepping.md says: while `next` is at work in a
        # generator, bdb stops at StopIteration in any frame; and at the one
        # that ends a `for`, of which nothing is to be seen from outside.
        if not self.stop_here(frame):
            return self.trace_dispatch
        if arg[0] is StopIteration and self.is_at_for(frame):
            return self.trace_dispatch
        self.raised = frame
        return super().dispatch_exception(frame, arg)

    def is_at_for(self, frame):
        """Whether it runs a FOR_ITER, perhaps with a wide argument."""
        code, at = frame.f_code.co_code, frame.f_lasti
        while opcode.opname[code[at]] == "EXTENDED_ARG":
            at += 2
        return opcode.opname[code[at]] == "FOR_ITER"

    def dispatch_return(self, frame, arg):
        # The last return of a generator is like a function's; bdb passes it
        # by, and never stops again.
        if not self.is_end(frame) or not (
                self.stop_here(frame)
                or frame in (self.stopframe, self.returnframe)):
            return super().dispatch_return(frame, arg)
        self.ended = frame
        self.user_return(frame, arg)
        self.ended = None
        if self.stopframe is frame and self.stoplineno != -1:
            self._set_stopinfo(None, None)
        if self.stoplineno != -1 and frame.f_back and \
                not frame.f_back.f_trace:
            frame.f_back.f_trace = self.trace_dispatch
        return self.trace_dispatch

    def is_end(self, frame):
        """Whether a generator or coroutine returns for good."""
        code, at = frame.f_code, frame.f_lasti
        if not code.co_flags & bdb.GENERATOR_AND_COROUTINE_FLAGS:
            return False
        if self.raised is frame:
            return True
        names = [opcode.opname[code.co_code[i]] if 0 <= i < len(code.co_code)
                 else "" for i in (at - 2, at, at + 2)]
        if sys.version_info < (3, 11) and names[2] == "YIELD_FROM":
            return False
        if names[:2] == ["YIELD_VALUE", "RESUME"]:
            return False        # from 3.13 on it is there when it yields
        return names[1] not in ("YIELD_VALUE", "YIELD_FROM")

    def set_return(self, frame):
        if frame is self.ended:
            self._set_stopinfo(frame.f_back, frame)
        else:
            super().set_return(frame)

    def user_call(self, frame, argument_list):
        if self.stop_here(frame):
            self.stop("call", frame)

    def user_line(self, frame):
        self.stop("line", frame)

    def user_return(self, frame, return_value):
        is_simple = return_value is None or \
            type(return_value) in (bool, int, str)
        self.stop("return", frame,
                  " " + repr(return_value) if is_simple else "")

    def user_exception(self, frame, exc_info):
        self.stop("exception", frame)


class Untouched(Recorder):
    """bdb as it is."""

    dispatch_call = bdb.Bdb.dispatch_call
    dispatch_exception = bdb.Bdb.dispatch_exception
    dispatch_return = bdb.Bdb.dispatch_return
    set_return = bdb.Bdb.set_return

    def stop(self, event, frame, value=""):
        del value
        super().stop(event, frame)


class Shown(Untouched):
    """As pdb: of an exception the frame that raised it is the current one, and
    the variables of the last stop are kept until the next."""

    def stop(self, event, frame, value=""):
        self.curframe_locals = frame.f_locals
        super().stop(event, frame, value)

    def user_exception(self, frame, exc_info):
        traceback = exc_info[2]
        while traceback and traceback.tb_next:
            traceback = traceback.tb_next
        self.stop("exception", traceback.tb_frame if traceback else frame)


def listen(folder):
    """A pdb for who connects first."""
    with socket.socket(socket.AF_UNIX) as server:
        server.bind(os.path.join(folder, "pdb.sock"))
        server.listen(1)
        say("listens")
        file = server.accept()[0].makefile("rw")
    return pdb.Pdb(stdin=file, stdout=file, nosigint=True, readrc=False)


def load(folder, program=FILES[0]):
    """The program, its code objects new. What an earlier one left is no call
    in it: no garbage is collected while a program runs."""
    gc.disable()
    gc.collect()
    for name in FILES[1:]:
        sys.modules.pop(os.path.splitext(name)[0], None)
    path = os.path.join(folder, program)
    with open(path) as file:
        code = compile(file.read(), path, "exec")
    module = types.ModuleType(os.path.splitext(program)[0])
    module.__file__ = path
    sys.modules[module.__name__] = module
    exec(code, vars(module))
    vars(module)["__code__"] = code
    return vars(module)


def codes_of(code):
    yield code
    for constant in code.co_consts:
        if isinstance(constant, types.CodeType):
            yield from codes_of(constant)


def line_at(code):
    """{offset of an instruction: its line, None without one}."""
    if sys.version_info < (3, 10):
        starts, lines, line = dict(dis.findlinestarts(code)), {}, None
        for offset in range(0, len(code.co_code), 2):
            line = starts.get(offset, line)
            lines[offset] = line
        return lines
    return {offset: line for start, end, line in code.co_lines()
            for offset in range(start, end, 2)}


def handlers_of(code):
    """The offsets where handlers of exceptions begin, which dis takes for no
    jump targets from 3.11 on."""
    if sys.version_info < (3, 11):
        return set()
    return {entry.target for entry in dis._parse_exception_table(code)}


def places_of(code):
    """{line: at how many places it may begin, or more}."""
    counts, before, is_returned_to = {}, None, False
    lines, handlers = line_at(code), handlers_of(code)
    for each in dis.get_instructions(code):
        line = lines.get(each.offset)
        if line is not None and each.opname not in NO_LINE and (
                line != before or each.is_jump_target or is_returned_to or
                each.offset in handlers):
            counts[line] = counts.get(line, 0) + 1
        before = line
        is_returned_to = each.opname == "CALL_FINALLY"  # of 3.8
    return counts


def joins_of(code):
    """Up to 3.10, where an instruction that begins a line may also be reached
    from another of that line (docs/stepping.md, 7); perhaps more."""
    return [line for line, count in places_of(code).items()
            if count > 1 and sys.version_info < (3, 11)]


def is_generator(code):
    return bool(code.co_flags & bdb.GENERATOR_AND_COROUTINE_FLAGS)


def run_lines(run, functions, path, code):
    """Of the code objects of a file: {"name", "lines" that a trace function
    sees of it, "places", "joins": lines that a frame may come back to without
    a line event, "is_generator", "calls_generators": whether it was on the
    stack while one ran}."""
    lines, callers = {}, set()

    def trace(frame, event, _arg):
        if event == "call" and is_generator(frame.f_code):
            caller = frame.f_back
            while caller is not None:
                callers.add(caller.f_code)
                caller = caller.f_back
        if frame.f_code.co_filename != path:
            return None
        if event == "line":
            lines.setdefault(frame.f_code, set()).add(frame.f_lineno)
        return trace

    sys.settrace(trace)
    run(functions)
    sys.settrace(None)
    return [{"name": each.co_name, "lines": sorted(lines.get(each, ())),
             "places": places_of(each), "joins": joins_of(each), "is_generator": is_generator(each),
             "calls_generators": each in callers}
            for each in codes_of(code)]


def call(function, is_thread):
    """Calls it, perhaps in a thread of its own."""
    if not is_thread:
        function()
        return
    thread = threading.Thread(target=function)
    thread.start()
    thread.join()


def read_line():
    """Without the Python code of sys.stdin."""
    line = b""
    while not line.endswith(b"\n"):
        byte = os.read(0, 1)
        if not byte:
            os._exit(0)
        line += byte
    return line


def say(value):
    os.write(1, json.dumps(value).encode() + b"\n")


def main():
    mode, folder = sys.argv[1:]
    sys.dont_write_bytecode = True
    while True:
        order = json.loads(read_line().decode())
        program = order.get("program", FILES[0])
        space = load(folder, program)
        functions = [space[name] for name in order["functions"]]
        if "script" not in order:
            say(run_lines(space["run"], functions,
                          os.path.join(folder, program), space["__code__"]))
            continue
        for _ in range(order["warm"]):
            space["run"](functions)
        if mode in ("plain", "pdb"):
            say("ready")
            read_line()
        if mode == "plain":
            call(lambda: space["run"](functions), order["in_thread"])
            say("done")
        elif mode == "pdb":
            debugger = listen(folder)
            call(lambda: debugger.runcall(space["run"], functions),
                 order["in_thread"])
            say("done")
        else:
            recorder = Shown(folder, order["script"]) \
                if mode == "shown" else Recorder(
                    folder, order["script"], "program" in order)
            call(lambda: recorder.runcall(space["run"], functions),
                 order["in_thread"])
            recorder.clear_all_breaks()     # which all recorders share
            say(recorder.stops)


if __name__ == "__main__":
    main()
