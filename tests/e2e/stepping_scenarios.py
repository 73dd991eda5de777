"""What is done in stepping_program.py: breakpoints and commands.

Each scenario has a name, the functions that run one after another, and its
commands: "b:MARK" and "cl:MARK" set and clear a breakpoint at a marked line,
the first at once; "c" continue, "n" next, "s" step, "r" return (finish),
"unt" until, "unt:MARK"; "up", "down". "COMMAND*COUNT" is so many of them.
"""
import os
import re

HERE = os.path.dirname(os.path.abspath(__file__))
WIDE = """'''More names and constants than a byte counts: EXTENDED_ARG.'''


def wide(add):
%s
    for v299 in range(2):               # L:wide
        v298 = add(v299, 1)             # L:wide_in
        if v298 > 1:
            v297 = 299.25
    try:
        v296 = 1 // (v298 - 2)          # L:wide_raise
    except ZeroDivisionError:
        v295 = v297
    return v295
""" % "\n".join("    v%d = %d.5" % (i, i) for i in range(299))
MATCH = """'''Statements that Python has from 3.10 on.'''


def matches(add):
    y = 0                               # L:match
    for x in (1, [1, 2], {"a": 3}, None, "s"):
        match x:                        # L:match_match
            case 1 | 2:
                y = add(1, 1)
            case [a, b] if a == b:
                y = a
            case [
                a,
                *rest
            ]:
                y = rest
            case {"a": y}:              # L:match_case
                pass
            case str() as y: y += "x"
            case _:
                y = x                   # L:match_end
    return y
"""

SCENARIOS = [line.split(": ") for line in """
walk: loop comprehensions: b:loop c n unt*4 s*3 n b:add c r up down n*7
set_at_stop: loop: b:loop_for c n b:loop_call c*4
walk_clear: loop: b:loop_for c cl:loop_for unt*2 s*2 b:add c cl:add r n*5
up_next: loop: b:add c up n n n
up_until: loop: b:add c up up unt n n
up_return: loop: b:add c up r n n
up_step: loop: b:add c up s n
until: loop: b:loop_for c cl:loop_for n n unt n n unt:loop_end n*4
until_call: loop: b:loop_call c cl:loop_call unt*3 n n
next: loop: b:loop c n*15
step: loop recursion: b:loop c s*60
return: loop: b:func c r n n r n*4
return_add: loop recursion: b:add c r*7
continue: loop: b:loop_call c c n c c
recursion: recursion: b:recursion c n*4
recursion_step: recursion: b:recursion c s*70
recursion_next: recursion: b:fact_call c n*8
recursion_return: recursion: b:fact c c c cl:fact r*5
recursion_until: recursion: b:fact_call c cl:fact_call unt*6
gen_next: use_gen catch: b:use_gen c n*17
gen_step: use_gen catch: b:use_gen c s*80
gen_in: use_gen: b:gen c n*11
gen_in_once: use_gen: b:gen c cl:gen n*11
gen_until: use_gen: b:gen_yield c cl:gen_yield unt n*5
gen_return: use_gen: b:gen_yield c cl:gen_yield r n*3
gen_return_for: use_chooses: b:use_chooses c s*2 r*2 n n
catch_next: catch raising: b:catch c n*10
catch_step: catch raising: b:catch c s*30
mid_next: catch raising: b:mid c n*8
boom_next: catch raising: b:boom c n*10
boom_return: catch: b:boom c r*4 n n
mid_return: catch raising: b:mid c r*3 n n
raising_next: raising contexts: b:raising c n*30
raising_step: raising contexts: b:raising c s*60
with_next: contexts: b:with c n*12
with_step: contexts comprehensions: b:with c s*50
comp_next: comprehensions whiles: b:comp c n*30
comp_step: comprehensions whiles: b:comp c s*80
comp_until: comprehensions: b:comp c unt*12
while_next: whiles: b:while c n*40
while_until: whiles: b:while_test c cl:while_test unt*9 n
ternary: ternary: b:ternary c r*5
ternary_until: ternary: b:ternary c cl:ternary unt:ternary*5
tried_first: tried_first: b:tried_first c n*3
spread_next: spread use_deleg: b:spread c n*25
spread_step: spread use_deleg: b:spread c s*60
spread_until: spread: b:spread c unt*10
deleg_next: use_deleg: b:use_deleg c n*12
deleg_step: use_deleg objects: b:use_deleg c s*40
deleg_in: use_deleg: b:deleg c n*8
sub_in: use_deleg: b:sub c n*8
objects_next: objects: b:objects c n*10
init_return: objects: b:number c n r n r n n
objects_step: objects nested: b:objects c s*80
nested_next: nested: b:nested c n*40
nested_step: nested: b:nested c s*80
top_next: run_async: b:top c n*12
branch_next: run_async: b:branch c n*8
leaf_next: run_async: b:leaf c n*6
leaf_return: run_async: b:leaf c r n*3
leaf_step: run_async: b:leaf c s*20
agen_next: run_async: b:agen c n*8
thread_next: @loop: b:loop c n*15
thread_step: @catch: b:catch c s*25
thread_return: @recursion: b:fact c c c cl:fact r*5
thread_gen: @use_gen: b:use_gen c n*14
for_line: loop nested: b:loop_for c*5
for_nested: nested: b:nested_for c*8
while_line: whiles: b:while_test c*5 n n
while_one_line: whiles: b:while_line c*5
wide_for: wide: b:wide c*4 n n
wide_next: wide: b:wide c cl:wide n*12
wide_until: wide: b:wide_in c cl:wide_in unt*8
wide_step: wide: b:wide_raise c s*12
long_jump: long_jump: b:long_for c c n n c
long_until: long_jump: b:long_jump c unt*8
long_while: long_jump: b:long_while c c n n n c
callee: callee: b:callee b:twice c c n n n
callee_next: callee: b:callee b:twice c n n n n*6
callee_return: callee: b:callee_again b:twice_end c n r n*4
callee_add: callee: b:add b:callee c n c n n n c r
nests_next: nests: b:nests c n*10
nests_step: nests: b:nests c s*90
outer_next: nests: b:outer_gen c cl:outer_gen n*14
outer_from: nests: b:outer_from c*3 s*12
loops_next: run_loops: b:loops c n*12
loops_step: run_loops: b:loops_for c s*30
loops_for: run_loops: b:loops_for c*5
gates_next: run_gates: b:gates c n*14
gates_step: run_gates: b:gates c s*40
aexit_next: run_gates: b:aexit c cl:aexit n*5
gathers: run_gathers: b:gathers c n*6
match_next: matches: b:match c n*30
match_step: matches: b:match_match c s*20
match_lines: matches: b:match_case b:match_end c*4 n n
class_next: classes: b:classes c n*12
class_step: classes: b:classes c s*60
class_body: classes: b:class_body c n*8 unt r
decorated_next: decorated: b:decorated c n*8
decorated_step: decorated: b:decorated c s*60
wrapper: decorated: b:wrapper c n s s r n n
executed_next: executed: b:executed c n*6
executed_step: executed: b:executed c s*40
stars: stars: b:stars c n s*4 n*8
stars_in: stars: b:stars b:twice c c n n r n
lambda: nested: b:lambda c n s*8
finals_next: finals: b:finals c n*20
finals_step: finals: b:finals c s*40
finally: finals: b:returning_finally c n n n c n n n
multiplex_next: finals: b:finals b:returning b:returning_return b:returning_finally c n*16
multiplex_step: finals: b:finals b:returning b:returning_return b:returning_finally c s*16
multiplex_return: finals: b:returning_return b:returning_finally c r*6
multiplex_up: finals: b:returning_return b:returning_finally c up n n n n
multiplex_up_return: finals: b:returning_return b:returning_finally c up r n
multiplex_recursion: recursion: b:recursion b:fact b:fact_call c n*20
multiplex_deep: deeper: b:deeper b:deep b:deep_end c n*4 r*6 cl:deep n*3
multiplex_loop: loop: b:loop c b:loop_for b:loop_call b:loop_end unt:loop_end*12
multiplex_catch: catch raising: b:catch c b:catch_handler b:catch_finally b:catch_call b:mid n*14
multiplex_until: catch raising: b:catch c b:catch_handler b:catch_finally b:boom unt*9
multiplex_inner: nested: b:nested c b:inner b:nested_for b:nested_end unt:nested_end n*20
multiplex_three: catch: b:catch c b:catch_finally b:mid b:boom n*6
multiplex_gen: use_gen: b:use_gen c b:gen_done b:gen_yield b:gen n*3
multiplex_caller: use_gen: b:use_gen b:use_gen_for b:use_gen_list c*2 s r c
multiplex_equal: class_twice: b:class_twice c cl:class_twice b:class_for b:class_again n*5
multiplex_mixed: callee: b:callee b:twice b:twice_end c n*8
returning: finals: b:returning_return c n*6 r
deep_return: deeper: b:deep_end c r*8
deep_next: deeper: b:deep c*3 cl:deep n*8
deep_until: deeper: b:deeper c unt s*6 unt*4
throws_next: throws: b:throws c n*12
throws_step: throws: b:throws c s*50
thrown: throws: b:throws_throw c s*8 r n n
sent: throws: b:throws_send c s n*8
walrus: walrus: b:walrus_while c*5
walrus_step: walrus: b:walrus c s*40
compare_next: compare: b:compare c n*14
compare_step: compare: b:compare c s*30
compare_until: compare: b:compare c unt*10
text_next: text: b:text c n*8
text_step: text: b:text c s*30
drops_next: drops: b:drops c n*40
drops_step: drops: b:drops c s*80
dropped_next: drops: b:dropped_yield c cl:dropped_yield n*12
dropped_until: drops: b:dropped_yield c cl:dropped_yield unt*3 n*6
dropped_return: drops: b:dropped_yield c cl:dropped_yield r n*6
dropped_try_next: drops: b:dropped_try c cl:dropped_try n*12
dropped_try_until: drops: b:dropped_try c cl:dropped_try unt*4 n*6
dropped_try_return: drops: b:dropped_try c cl:dropped_try r n*6
some_next: drops: b:drops c n s n*8
some_until: drops: b:drops c n s unt*8
some_return: drops: b:drops c n s r n*8
joined_next: joined: b:joined c n*50
joined_step: joined: b:joined c s*80
joined_until: joined: b:joined c unt*25
unbound_next: joined: b:unbound c n*12
unbound_return: joined: b:unbound c r*4
within_next: joined: b:unbound_within c n*12
iterates_next: iterates: b:iterates c n*8
iterates_step: iterates: b:iterates c s*60
next_in: iterates: b:next c n*8
chained_next: chained: b:chained c n*20
chained_step: chained: b:chained c s*40
raise_it: chained: b:raise_it c n*5
one_lines_next: one_lines: b:one_lines c n*20
one_lines_step: one_lines: b:one_lines c s*60
one_line: one_lines: b:one_line c n n n
one_for: one_lines: b:one_for c*4 n n
defaults: calls: b:defaults c n*3 c c r
calls_step: calls: b:calls c s*50
behind_step: filters: b:filters_for c c s s c s s r
behind_call: loop: b:loop_call b:func c s c n c s r n
behind_try: tries: b:tried c n b:tried_yield n n n r
behind_class: classes: b:classes c s c n n
behind_lambda: nested: b:lambda c n s c n n
behind_lambda_return: nested: b:lambda c n s r n n
until_left: leaves: b:leaves c cl:leaves unt:leaves_end n
short_for: short: b:short_for c c s s c n s
short_while: short: b:short_while c s s c n s
continued: continued: b:continued c c s n n n n
continued_next: continued: b:continued_for c cl:continued_for n*12
gathered_next: gathered: b:gathered c n*8
outer_return: nests: b:outer_gen c cl:outer_gen r n
run_return: loop: b:loop_end c up r
sums_step: sums: b:ones_end c cl:ones_end s r s*4 n n
agrees_step: agree: b:agrees c c s s s c c n n
agrees_return: agree: b:agrees c c r c c r n n
appends_continue: appends: b:appends c c n n
appends_next: appends: b:appends c n*9
jumped_return: trees: b:leaves_of c c c n n unt r
""".strip().split("\n")]


def write_files(folder):
    """The program and what it needs; {mark: (file, line)}."""
    texts = {"stepping_wide.py": WIDE, "stepping_match.py": MATCH}
    for name in ("stepping_program.py", "stepping_second.py",
                 "stepping_target.py"):
        with open(os.path.join(HERE, name)) as file:
            texts[name] = file.read()
    marks = {}
    for name, text in texts.items():
        with open(os.path.join(folder, name), "w") as file:
            file.write(text)
        for number, line in enumerate(text.split("\n"), 1):
            found = re.search(r"# L:(\w+)$", line)
            if found:
                assert found.group(1) not in marks, found.group(1)
                marks[found.group(1)] = (name, number)
    return marks


def expand(commands, marks):
    """One word for each command, marks as "FILE:LINE" or "LINE"."""
    for word in commands.split():
        word, _, count = word.partition("*")
        name, _, mark = word.partition(":")
        if mark and name == "unt":
            word = "unt:%d" % marks[mark][1]
        elif mark:
            word = "%s:%s:%d" % ((name,) + marks[mark])
        for _ in range(int(count or 1)):
            yield word


def scenarios(marks):
    """{name: order for stepping_target.py}."""
    found = {}
    for name, functions, commands in SCENARIOS:
        assert name not in found, name
        found[name] = {
            "functions": functions.lstrip("@").split(),
            "in_thread": functions.startswith("@"), "warm": 0,
            "script": list(expand(commands, marks))}
    return found
