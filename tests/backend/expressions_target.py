"""A process whose frames hold values of every kind, and what Python itself
says of expressions over them.

One line of JSON, {"pid", "truths": {function: [[expression, truth]]}}, then
it waits for the end of the standard input. Truth is 1 or 0, or the name of
the exception; None: no test, for the expression is to be refused.
"""
import array
import collections
import enum
import json
import os
import sys
import warnings

TRUTHS = {}
STEP = 100
NAMES = ["alpha", "beta"]
float_nan = float("nan")

NUMBERS = """
step == 100; step != 100; step < 100; step <= 100; step > 99; step >= 101
step, one; step, ; zero, zero == 0, 5
100 == step; step == 100.0; step == 100.5; step < 100.5; step is None
step == 'x'; step != 'x'; step == None; 'x' == step; step == [100]
zero == 0; zero; not zero; zero or step; zero and step; one == True
true == 1; true is True; true is False; true == 1.0; not true; true and one
1 < step < 200; 1 < step < 50; 1 < step > 50 > 2; 0 < zero < missing
big == 123456789012345678901234567890
big > 123456789012345678901234567889; big < 1e300; big == 1e300; big > 1e10
-big == -123456789012345678901234567890; -big < 0; big == float_big
big_power == 1267650600228229401496703205376; big_power == 2.0e30
big_power == 1.2676506002282294e30; big_power < 1.2676506002282294e30
exact == 9007199254740993; exact == 9007199254740992.0
exact > 9007199254740992.0; exact < 9007199254740994.0
exact_float == 9007199254740992; exact_float == 9007199254740993
exact_float < 9007199254740993; exact_float > 9007199254740991
-exact == -9007199254740993; -exact < -9007199254740992.0
half == 0.5; half > 0; half < 1; half != 0.5; half * 2 == 1; half in (1, 0.5)
nan == nan; nan != nan; nan < 1; nan > 1; nan >= nan; nan is nan; nan
nan in [nan]; nan in (1.0, 2.0); nan == 5; 5 < nan; big < nan
inf > big; inf == inf; -inf < -big; inf > 1e308; -inf < 5; inf == big_power
minus_zero == 0; minus_zero == 0.0; not minus_zero; minus_zero < 0
step + 1 == 101; step - 1 == 99; step * 2 == 200; step / 8 == 12.5
step // 8 == 12; step % 8 == 4; -step // 8 == -13; -step % 8 == 4
step // -8 == -13; step % -8 == -4; -step // -8 == 12; -step % -8 == -4
step % 10 == 0; step % 10; not step % 10; step // 0 == 1; step / 0; step % 0
half // 0.3 == 1.0; half % 0.3 == 0.2; -half // 0.3 == -2.0
-half % 0.3 == 0.09999999999999998; half // 0; half % 0.0
0.5 % -0.3 == -0.09999999999999998; 1e300 * 1e10 == inf; 7.5 // 2 == 3.0
(step + 1) * 2 == 202; step + 1 * 2 == 102; 2 - 3 - 4 == -5; 2 - (3 - 4) == 3
- - step == 100; +step == 100; ~step == -101; ~true == -2; -true == -1
true + true == 2; true + 0.5 == 1.5; true & false == 0; true | false is True
step & 4 == 4; step & 4; step | 3 == 103; step ^ 1 == 101; step << 2 == 400
step >> 3 == 12; -step >> 3 == -13; step & 7 == 4; 1 << 3 + 1 == 16
1 | 2 == 3; (1 | 2) == 3; 6 ^ 3 & 1 == 7; not 1 == 2; not not step
step == 100 and half == 0.5; step == 1 and missing; step == 100 or missing
step == 1 or half == 0.5; not step == 1 and true; step == 1 or step == 100
1 and 2 and 0; 0 or 0 or 3; 1 or missing; 0 and missing; zero or none or half
True; False; None; 1; 0; 0.0; 1e-300; ''; 'x'; b''; b'x'; (); (1,); []; [0]
0x10 == 16; 0X1f == 31; 0b101 == 5; 0o17 == 15; 1_000 == 1000; 00 == 0
0xffffffffffffffffffff == 1208925819614629174706175; 1. == 1; .5 == half
1e3 == 1000; 1E-3 == 0.001; 1_0.0_1 == 10.01; 5e-1 == half
minus == -5; minus < 0; minus // 2 == -3; -minus == 5; minus in (-5, 3)
int_sub == 7; int_sub + 1 == 8; int_sub in (7, 8); 7 in (int_sub, 8); int_sub
int_sub < 8 < big; float_sub == 2.5; float_sub * 2 == 5; float_sub
small == 1e-310; small > 0; small < 1; big == big; big is big
largest == 9223372036854775807; largest + 0 == 9223372036854775807
largest > 9223372036854775806.0; largest == 9.223372036854775807e18
-largest - 1 == -9223372036854775808; smallest == -9223372036854775808
smallest < -9.223372036854775e18; none is None; none is not None; none == None
none != None; not none; none is none; step is not None; none in [None]
None is none; None in (1, 2); STEP == 100; len(NAMES) == 2; NAMES[0] == 'alpha'
ellipsis is not None; ellipsis == ellipsis; function == function; function
function != None; type_ == type_; type_ is int; type_ == int; type_ is str
type_ != float; int is type_; ValueError is None; step.__class__ is int
"""

TEXTS = """
text == 'hello'; text != 'hello'; text == "hello"; text < 'help'; text > 'Hello'
text <= 'hello'; text >= 'hellp'; 'ell' in text; 'x' in text; '' in text
'x' not in text; 'hello' in text; 'hello!' in text; text[0] == 'h'
text[-1] == 'o'; text[4] == 'o'; text[5]; text[-5] == 'h'; text[-6]
len(text) == 5; len(empty) == 0; empty; not empty; empty == ''; text
text == 'hel' 'lo'; text == r'hello'; text == u'hello'; escaped == 'a\\tb\\n\\\\'
escaped == "a\\x09b\\012\\134"; quoted == 'it\\'s'; quoted == "it's"
raw == r'a\\tb'; accents == 'h\\xe9llo'; accents == 'h\\u00e9llo'; 'é' in accents
accents == 'héllo'; len(accents) == 5; accents > 'hz'; wide == '日本'
wide == '\\u65e5\\u672c'; len(wide) == 2; wide[1] == '本'; '本' in wide
emoji == '\\U0001f600'; emoji == '😀'; len(emoji) == 1; emoji > wide
text == accents; text == b'hello'; data == b'hello'; data == 'hello'
data != b'x'; data < b'i'; data[0] == 104; data[-1] == 111; len(data) == 5
data == b'hel\\x6co'; data == rb'hello'; data == Rb'hello'; b'\\x00' == zeros
empty_data; not empty_data; data; text in ('hello', 'x'); text in ['x']
text in {'hello', 'y'}; text not in ('a', 'b'); 'a' < 'b' < 'c'; 'a' < text
text_sub == 'sub'; text_sub in ('sub',); len(text_sub) == 3; 'u' in text_sub
text_sub; text_sub[0] == 's'; long == long; len(long) == 5000; long[4999] == 'x'
text and empty; empty or text; text == 5; 5 == text; text < 5; 5 in (text,)
'aab' in repeats; 'abaabab' in repeats; 'bb' in repeats
'ababab' in repeats; 'aabaabaa' in repeats; '\\x01' in shifted; '\\u0100' in shifted
text == None; text is None; surrogate == '\\udc80'; len(surrogate) == 1
text == 'hello' == 'hello'; 'h' == text[0] != text[1]; bytes_of == b'\\xff\\x00'
"""

CONTAINERS = """
len(items) == 3; items[0] == 1; items[-1] == 'three'; items[1] == 2.0; items[3]
items[-4]; 1 in items; 'three' in items; 4 in items; 4 not in items; items
items == [1, 2.0, 'three']; items == [1, 2]; items != [1]; items == (1, 2)
items < [2]; items > [1, 1]; items <= [1, 2.0, 'three']; items < [1, 2, 3]
[] == empty_list; empty_list; not empty_list; len(empty_list) == 0
pair == (1, 'x'); pair != (1, 'y'); pair[0] == 1; pair[1] == 'x'; pair[-1]
pair < (2,); pair < (1,); (1,) < pair; len(pair) == 2; 'x' in pair; pair[2]
pair == [1, 'x']; empty_tuple; nested[1][0][0] == 5; nested[1][0] == (5,)
nested[0] == 0; nested == (0, [(5,)]); len(nested[1]) == 1; (5,) in nested[1]
mapping['a'] == 1; mapping["b"]['c'] == 2; mapping['z']; 'a' in mapping
'z' in mapping; 'z' not in mapping; len(mapping) == 7; mapping; not mapping
mapping[7] == 'seven'; 7 in mapping; 7.0 in mapping; mapping[7.0] == 'seven'
8 in mapping; mapping[1, 'x'] == 'pair'; (1, 'x') in mapping; mapping[None] == 0
mapping[-1] == 'minus'; -1 in mapping; mapping[2.5] == 'half'; 2.5 in mapping
(1, 'y') in mapping; mapping[True]; True in mapping; 'é' in accented
accented['é'] == 1; accented['日本'] == 2; accented['x' ]; b'k' in byte_keys
byte_keys[b'k'] == 1; byte_keys[b'l']; empty_dict; not empty_dict
large[500] == 1000; large['k77'] == 77; 500 in large; 5000 in large
'k99' in large; 'k100' in large; len(large) == 1100; large[999] == 1998
tuple_keys[1, 2] == 'a'; tuple_keys[()] == 'empty'; tuple_keys[(1, (2, 3))] == 'n'
tuple_keys[1,] == 'one'; (1, 2, 3) in tuple_keys; tuple_keys[-1, 'x'] == 'm'
members == {1, 2, 3}; members == {3, 2, 1, 1}; members == {1, 2}; 2 in members
4 in members; 2.0 in members; len(members) == 3; members; empty_set
members != {1, 2, 3}; members == {1, 2, 4}; 'a' in frozen; 'z' in frozen
len(frozen) == 2; frozen == {'a', 'b'}; {1, 2} == members; big_set; 999 in big_set
1000 in big_set; (1, 2) in pair_set; (2, 1) in pair_set
len(numbers) == 10; numbers[3] == 3; numbers[-1] == 9; 3 in numbers; 10 in numbers
3.0 in numbers; 2.5 in numbers; numbers; empty_range; odd[2] == 5; 5 in odd
6 in odd; odd[-1] == 9; len(odd) == 5; back[0] == 10; 4 in back; 5 in back
queue[0] == 'a'; queue[-1] == 'c'; len(queue) == 3; 'b' in queue; 'z' in queue
queue; long_queue[150] == 150; len(long_queue) == 300; 299 in long_queue
ordered['x'] == 1; len(ordered) == 2; 'y' in ordered; ordered
counted['a'] == 2; 'a' in counted; defaulted['k'] == [1]; 'k' in defaulted
deleted['d'] == 4; 'c' in deleted; len(deleted) == 2; deleted['c']
items in ([1], [1, 2.0, 'three']); items is items; items is not pair
items == items; mapping == mapping; members is members; items and pair
len(items) > len(pair); len(items) == len(pair) + 1; items[pair[0]] == 2.0
items[true] == 2.0; items[len(items) - 1] == 'three'; mapping[pair] == 'pair'
point.x == 1; point[1] == 2; point == (1, 2); len(point) == 2; point
wound == winding; winding != wound; wound in [winding]; wound < winding
deep == deeper; deep < deeper; mild == milder; mild != milder
selfish in selfish; selfish == selfish; len(selfish) == 1; list_sub == [1, 2]
len(list_sub) == 2; list_sub[0] == 1; 2 in list_sub; list_sub.extra == 5
len(octets) == 3; octets[1] == 98; octets[-1] == 99; octets[3]; octets; no_octets
reals[1] == 2.5; len(reals) == 2; reals[-2] == 1.5; longs[0] == -5; longs
dict_sub['a'] == 1; dict_sub.extra == 6; 'a' in dict_sub; len(dict_sub) == 1
"""

OBJECTS = """
net.lr == 0.1; net.steps == 3; net.name == 'net'; net.layers[0].size == 4
net.layers[-1].size == 8; net.best is None; net.table['a'].size == 4; net.lost
net.kind == 'Net'; net.shared == [1]; net; net is net; net == net; net != net
net == None; net is None; net.layers[0] == net.layers[0]; not net
net.layers[0] != net.layers[1]; net.layers[0] in net.layers; net in [1, net]
net.layers[0] is net.table['a']; 5 == net; net == 5; net < 5; net in (1, 2)
len(net.layers) == 2; net.base == 'Base'; net.over == 'instance'
slotted.a == 1; slotted.b; slotted.c == 3; slotted; slotted.shown == 'class'
both.a == 1; both.d == 4; both.e == 5; color is Color.RED; color == Color.RED
color != Color.GREEN; color is Color.GREEN; color in (Color.RED, Color.GREEN)
Color.RED is color; color == 1; number == 2; number is Number.TWO; number < 3
number == Number.TWO; number + 1 == 3; color; Color.RED._value_ == 1
Net.kind == 'Net'; Net.base == 'Base'; Net.shared[0] == 1; Net is Net; Net
Net.missing; sys.maxsize == 9223372036854775807; sys.byteorder == 'little'
collections.missing; os.sep == '/'; os.name == 'posix'; module_flag == 1
wired.value == 5; wired.missing == 5; hooked.real == 1; exception.args[0] == 'no'
exception.args == ('no', 5); len(exception.args) == 2; exception
system.errno == 2; system.filename == '/x'; slice_.start == 1; slice_.stop == 9
range_.step == 2; range_.start == 1; closed == 5; free == 7; net.function
many.a9 == 9; many.a39 == 39; many.a40; deleted.b == 2; deleted.a; late.z == 26
type_of.__class__ is Net; inherited.base == 'Base'; net.__class__ is Net
true_of; data.x == 1; data.y == 'b'; data; partial.lr == 0.1
"""

VALUES = """
big + 1; big - big - 1; big * big; big // 7; -big // 7; big % 7; -big % 7
big // -big_power; -big % -big_power; big_power // big; big % big_power
big * -big_power % 1000000007; -big * big // (big + 1); big // big; big % -big
big / 3; big / big_power; 1 / 3; 9007199254740993 / 3; big * big / big_power
9007199254740993 / 1; 9007199254740995 / 1; 1 / 9007199254740993
(2 ** 1023 * 2 - 2 ** 969) / 1; (2 ** 1024 - 1) / 1; 2 ** 1024 / 2 ** 1000
1 / 2 ** 1074; 3 / 2 ** 1075; 1 / 2 ** 1075; 1 / 2 ** 1076; -5 / 2 ** 1076
(2 ** 54 + 2) / 2 ** 1128; (2 ** 54 + 1) / 2 ** 1127; 0 / -5; -7 / 2 ** 70
big + 0.5; big * 1.5; float_big - big; 2 ** 1024 + 1.0; 1e308 * big
9223372036854775807 + 1; 2 * 9223372036854775807; -9223372036854775807 - 2
-9223372036854775808 // -1; -9223372036854775808 * -1; 1 << 64; 1 << 0
big << 100; big >> 20; -big >> 20; -big >> 1000; big >> 1000; -1 >> 5; 0 << 9999
-big_power >> 100; -big_power >> 99; (-big_power - 1) >> 100; 1 << -1; 1 >> -1
big & big_power; -big & big_power; -big & -big_power; big | -big_power; -big | 1
big ^ -big_power; -big ^ -1; -1 & big; -big_power & -big_power; ~big; ~-big; ~0
-(1 << 60) & -(1 << 60); -(1 << 59) | 0; -(1 << 90) ^ ((1 << 90) - 1); ~(1 << 90)
2 ** 3; -2 ** 2; 2 ** -1; 2 ** 3 ** 2; (2 ** 3) ** 2; 0 ** 0; 0 ** 5; 1 ** big
(-1) ** big; (-1) ** (big + 1); 0 ** big; true ** true; true ** false; true ** 2
2 ** 100; 3 ** 1000; -3 ** 1001; (-3) ** 1001; 10 ** 4000; (-7) ** 500; 2 ** half
2.0 ** 3; 2 ** 0.5; 0.0 ** 0; half ** 2; nan ** 0; 1 ** nan; inf ** -1; inf ** 2
(-inf) ** 3; (-inf) ** half; (-8.0) ** inf; 0.0 ** -inf; -0.0 ** 3; (-2.0) ** 3
0 ** -1; 0.0 ** -1; 1e200 ** 2; 2 ** 1024.0; 10 ** -400; 2 ** -big; (-2) ** -3
int_sub ** 2; float_sub ** 2; 2 ** int_sub; - - 2 ** 2; ~2 ** 2; 2 ** ~1; 2 ** - -1
-2 ** -2; 2 * 3 ** 2; 2 ** 3 * 2; not 2 ** 0; 2 ** 2 == 4; step ** 0
text + ' world'; 'a' + text + 'b'; text + empty; empty + empty; data + b'x'
text + accents + wide + emoji; text + text_sub; text_sub + text; (text + 'x')[1:3]
data + data == b'hellohello'; text + data; text + 5; 'x' in text + 'x'; len(text + wide)
1 if true else 2; 1 if false else 2; missing if false else 2; 2 if true else missing
1 if 0 else 2 if 0 else 3; (1 if 1 else 2) + 1; 1 if 1 else 2 + 1; 1 + 1 if 0 else 5
text if text else none; [1 if false else 2, 3]; 1 if missing else 2; 0 or 1 if 1 and 1 else 9
items[1 if true else 0]; text[1:2 if true else 3]; not 1 if 1 else 2; 1 if not 1 else 0
text[:]; text[1:]; text[:2]; text[1:4]; text[::2]; text[::-1]; text[4:1:-1]; text[-3:]
text[:-1]; text[10:]; text[:100]; text[-100:2]; text[3:1]; text[1:4:2]; text[-1:-4:-1]
text[1:3:-9223372036854775807]; text[::-2]; text[5::-1]; text[:big]; text[-big:]; text[::big]; text[::-big]; text[big:]
text[none:none:none]; text[none:2]; text[true:]; text[1:][1:]; text[1:][0]; text[::0]
wide[1:]; accents[:2]; emoji[:1]; text[0:1] == 'h'; 'ell' in text[1:]; text[1.0:]; text['a':]
long[4990:]; len(long[10:]); data[1:3]; data[::-1]; data[1:][0]; empty[1:]; b'abc'[1:]
'abc'[1:]; 'abc'[::-1]; text_sub[1:]; xs[999990:]; len(xs[5:50000]); xs[::100000]
items[1:]; items[:2]; items[::-1]; items[:]; items[5:]; items[-2:]; items[::2]; items[1:][0]
items[1:] == [2.0, 'three']; items[:1] == [1]; 'three' in items[1:]; len(items[1:])
items[1:] is items; items[int_sub:]; pair[1:]; pair[::-1]; pair[:1]; pair[:0]; (1, 2, 3)[1:]
[1, 2, 3][::2]; nested[1:][0][0]; list_sub[1:]; point[:1]; list_long[:150]; list_long[5:8]
list_long[::-999]; list_long[9990:]; empty_list[1:]; items[1:] < [3]; deque_[1:]; dict_[1:]
items[0:3:none]; items[2::-1]; items[-1::-1]; items[:-4:-1]; items[3:0:-2]; bools[1:]
items[1:2][0] is items[1]; text[1:3] + text[:1]; data[1:2] + data; text[1:3][::-1]; nan_list[:]
function[1:]; 5[1:]; none[1:]; items[1:2, 3]; items[...]; text[1:2:3:4]
"""

# Texts to log; each field is that of an f-string.
SAID = """
{step} {text} {none} {true} {half} {items}|{step!r} {text!r} {quoted!r} {quoted}
{step = }|{step=}|{text=}|{step + 1 = }|{text=!s}|{half=:.2f}|{text!r:>10}|{text!r:*^11}
{step:,} {big:,} {big:_} {-big:,d} {half:,} {float_big:,.2f} {1234567.891:,} {12:,} {999:,} {1000:,}
{step:<6}|{step:>6}|{step:^7}|{step:=+7}|{step:*<6}|{-step:0=7}|{-step:07}|{step:+}|{step: }|{-step: d}
{text:<8}|{text:>8}|{text:^8}|{text:.2s}|{text:*^9.3s}|{text:s}|{text:2}|{text:10}|{accents:>8}|{wide:^6}
{step:b} {step:#b} {step:x} {step:#x} {step:#X} {step:o} {step:#o} {255:X} {-255:#x} {0:b} {0:#x}
{big:x} {big:b} {-big:#o} {big_power:#x} {step:#010x} {step:08b} {step:_b} {big:_x} {step:<#8x}|{-step:#012b}
{half:%} {half:.1%} {0.12345:.2%} {step:%} {half:8.1%}|{half:<8.1%}|{-half:+.0%} {1234.5:,.0%}
{1234567:012,} {1234567:011,} {1234567:09,} {12:08,} {1234.5:012,.1f} {-1234:010,} {1234567:020_x} {0:07,}
{step:f} {step:.2e} {step:g} {big:e} {big:g} {big:.0f} {nan:.2f} {-inf:f} {inf:8.1f}|{nan:08.1f} {half:g}
{true:d} {true:5} {false:x} {true:.1f} {true:>6}|{one_e7:.3g} {small:.2e} {half:10}|{float_big:25}|{inf:5}|
{text[1:3]:>5} {text + 'x':<8}| {step if true else 2:4} {{x}} {(step, 2)!r:>12} {step != 100} {step == 100 = }
{escaped} {escaped!r} {escaped:>8}| {quoted:^10} {emoji:>3} {surrogate_free!s:5}|{items!r} {none!s} {none!r:>6}
{int_sub} {2 ** 70:#b} {10 ** 50:,} {text[::-1]!r} {1 < 2 = } {step=:>8} {step=!r:>8}
"""

REFUSED = """
owned == 5 :: code of the class would run in the process
5 == owned :: code of the class would run in the process
owned in [1, 2] :: code of the class would run in the process
[owned] == [1] :: code of the class would run in the process
ordered == 5 :: code of the class would run in the process
sized :: the __len__ of
len(sized) :: the __len__ of
not truthy :: the __bool__ of
truthy and 1 :: the __bool__ of
1 in holder :: cannot search an object of __main__.
1 in list_holder :: its __contains__ would run in the process
holder[0] :: cannot read an item of __main__.
list_getter[0] :: its __getitem__ would run in the process
hashed_key in table :: its __hash__ would run in the process
net.area :: cannot read attribute 'area' of
net.method :: cannot read attribute 'method' of
net.cached :: cannot read attribute 'cached' of
net.static :: cannot read attribute 'static' of
hooked.other :: its __getattr__ would run in the process
total.anything :: code of the class would run in the process
int_added + 1 :: only numbers, two str or two bytes
[1] + [2] :: only numbers, two str or two bytes
added_text + 'a' :: only numbers, two str or two bytes
'a' + added_text :: only numbers, two str or two bytes
'a' * 3 :: only numbers are supported
raised ** 2 :: only numbers are supported
2 ** raised :: only numbers are supported
list_getter[0:1] :: its __getitem__ would run in the process
list_getter[:] :: its __getitem__ would run in the process
table[1:2] :: slices of dict are not supported without an agent
holder[1:2] :: slices of __main__.Holder are not supported
x[:owned] :: slices of int
'abc'[owned:] :: integers or None
'abc'[::0] :: cannot be zero
text_most[:][:][:][:][:][:][:][:][:][:][:][:][:][:][:][:] :: at most 64 MiB
list_huge[1:] :: too large to copy
text_huge[1:] :: too large to copy
text_huge + 'a' :: too long
text_half + text_half :: too long to compute
10 ** 4300 :: about 4300 digits
2 ** 14285 :: about 4300 digits
2 ** 100000000000000000000 :: about 4300 digits
(2 ** 9000) * (2 ** 9000) :: about 4300 digits
1 << 14285 :: about 4300 digits
1 << 100000000000000000000 :: about 4300 digits
huge + 1 :: about 4300 digits
~huge :: about 4300 digits
0 ** -1 :: to a negative power
(-8) ** 0.5 :: complex
1e200 ** 2 :: overflows a float
2 ** 1024 / 1 :: overflows a float
2 ** 1024 * 1.0 :: overflows a float
truthy and 1 if truthy else 2 :: the __bool__ of
net + 1 :: only numbers, two str or two bytes
f(1) :: column 2: a call would run code in the process
net.method() :: column 11: a call would run code in the process
len() :: takes one argument
len(1, 2) :: takes one argument
len(5) :: has no len()
loss.item(1) :: item() with arguments
5 .item() :: supported only on tensors
x = 5 :: column 3: an assignment would change the process: use == to compare
x += 5 :: column 3: an assignment
x <<= 5 :: column 3: an assignment
(x := 5) :: column 4: an assignment
import os :: column 1: "import" is not supported here
lambda: 1 :: "lambda" is not supported here
1 if 2 :: "else" is missing
1 if :: unexpected end of the expression
1 if 2 else :: unexpected end of the expression
if 1 else 2 :: "if" is not supported here
[i for i in x] :: a comprehension would run code
x[1:2] :: slices of int
x[] :: an index is missing
2 ** :: unexpected end of the expression
** 2 :: no|*0xADDRESS
a @ b :: matrix multiplication
f'{x}' :: a formatted string would run code
'abc :: column 1: the string is not closed
'''abc''' :: triple-quoted
{} :: dict literals
{'a': 1} :: a slice is allowed only in an index
(1 :: ")" is missing
1) :: column 2: unexpected ")"
1, , 2 :: column 4: unexpected ","
, 1 :: column 1: unexpected ","
1, 2) :: column 5: unexpected ")"
:: unexpected end of the expression
1 + :: unexpected end of the expression
== 5 :: column 1: unexpected "=="
a b :: column 3: unexpected "b"
a.5 :: unexpected "
a. :: an attribute name is missing
a.if :: an attribute name is missing
3x :: followed by a letter
1j :: complex
007 :: cannot begin with 0
0x :: digits are missing
größe == 1 :: non-ASCII characters
'\\N{DASH}' :: unsupported escape sequence
'\\x5' :: unsupported escape sequence
b'é' :: only ASCII characters
a ? b :: unexpected "
a; b :: column 2: unexpected ";"
not :: unexpected end of the expression
x not 5 :: unexpected "
yield :: "yield" is not supported here
nowhere == 1 :: name 'nowhere' is not defined in this frame
unbound == 1 :: variable 'unbound' has no value yet
'x' is 'x' :: use == to compare values
5 is 5 :: use == to compare values
'a' < 5 :: is not supported between str and int
None < 5 :: is not supported between NoneType and int
[1] < (1,) :: is not supported between list and tuple
net < net :: is not supported between
5 in 'text' :: a str can contain only str
table['nope'] :: key not found
net[1] :: code would run in the process
net.nope :: has no attribute 'nope'
sys.nope :: the module has no attribute 'nope'
'abc'[7] :: out of range
'abc'['a'] :: an index must be an integer
*0x1000:4 :: no Python value
*0x1000 :: *0xADDRESS:LENGTH
shadowed_len :: not the builtin
"""


def split(text):
    for line in text.strip().splitlines():
        for expression in line.split("; "):
            if expression.strip():
                yield expression.strip()


def judge(expression, scope):
    try:
        return int(bool(eval(expression, globals(), scope)))
    except Exception as error:
        return type(error).__name__


def reveal(expression, scope):
    """[repr] or the name of the exception"""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        try:
            return [repr(eval(expression, globals(), scope))]
        except (Exception, SyntaxError) as error:
            return type(error).__name__


def tell(function, text, scope):
    scope = dict(scope)
    TRUTHS[function] = [[expression, judge(expression, scope)]
                        for expression in split(text)]


class Integer(int):
    pass


class Float(float):
    pass


class Text(str):
    pass


def numbers(down):
    step = 100
    zero, one, true, false, none = 0, 1, True, False, None
    big = 123456789012345678901234567890
    float_big = float(big)
    big_power = 2 ** 100
    exact = 2 ** 53 + 1
    exact_float = float(2 ** 53)
    half, nan, inf, minus_zero = 0.5, float_nan, float("inf"), -0.0
    minus = -5
    int_sub, float_sub = Integer(7), Float(2.5)
    small = 1e-310
    largest, smallest = 2 ** 63 - 1, -2 ** 63
    ellipsis, function, type_ = ..., numbers, int
    tell("numbers", NUMBERS, locals())
    down[0](down[1:])
    return (step, zero, one, true, false, none, big, float_big, big_power,
            exact, exact_float, half, nan, inf, minus_zero, minus, int_sub,
            float_sub, small, largest, smallest, ellipsis, function, type_)


def texts(down):
    text, empty, escaped, quoted = "hello", "", "a\tb\n\\", "it's"
    raw, accents, wide, emoji = "a\\tb", "h\xe9llo", "\u65e5\u672c", "\U0001f600"
    data, zeros, empty_data, bytes_of = b"hello", b"\0", b"", b"\xff\0"
    text_sub, long, surrogate = Text("sub"), "x" * 5000, "\udc80"
    xs, ys, repeats = "x" * 1000000, "x" * 500000 + "y", "abaababaabaab"
    shifted = "\u0100" * 100
    tell("texts", TEXTS, locals())
    down[0](down[1:])
    return (text, empty, escaped, quoted, raw, accents, wide, emoji, data,
            zeros, empty_data, bytes_of, text_sub, long, surrogate, xs, ys,
            repeats, shifted)


def values(down):
    step, big, big_power, half = 100, 123456789012345678901234567890, 2 ** 100, 0.5
    float_big, nan, inf, true, false, none = float(big), float_nan, float("inf"), True, False, None
    int_sub, float_sub, text_sub = Integer(7), Float(2.5), Text("sub")
    text, empty, accents, wide, emoji = "hello", "", "h\xe9llo", "\u65e5\u672c", "\U0001f600"
    data, long, xs = b"hello", "x" * 5000, "x" * 1000000
    items, pair, nested, point = [1, 2.0, "three"], (1, "x"), (0, [(5,)]), collections.namedtuple("Point", "x y")(1, 2)
    list_sub, list_long, empty_list = ListSub([1, 2]), list(range(10000)), []
    deque_, dict_, bools, nan_list = collections.deque("abc"), {1: 2}, [True, False, None], [float_nan]
    function = values
    quoted, escaped, one_e7, small, surrogate_free = "it's", "a\tb\\", 1e-7, 1e-310, "x\x7f\u0378"
    scope = dict(locals())
    TRUTHS["said"] = [[line, eval('f"""%s"""' % line, globals(), scope)]
                      for line in SAID.strip().splitlines()]
    TRUTHS["values"] = [[expression, reveal(expression, scope)]
                        for expression in split(VALUES)]
    down[0](down[1:])
    return (step, big, big_power, half, float_big, nan, inf, true, false, none,
            int_sub, float_sub, text_sub, text, empty, accents, wide, emoji,
            data, long, xs, items, pair, nested, point, list_sub, list_long,
            empty_list, deque_, dict_, bools, nan_list, function, quoted,
            escaped, one_e7, small, surrogate_free)


class ListSub(list):
    pass


class DictSub(dict):
    pass


def containers(down):
    true = True
    items, empty_list, pair, empty_tuple = [1, 2.0, "three"], [], (1, "x"), ()
    nested = (0, [(5,)])
    mapping = {"a": 1, "b": {"c": 2}, 7: "seven", (1, "x"): "pair", None: 0,
               -1: "minus", 2.5: "half"}
    accented = {"\xe9": 1, "\u65e5\u672c": 2}
    byte_keys, empty_dict = {b"k": 1}, {}
    large = {i: 2 * i for i in range(1000)}
    large.update({"k%d" % i: i for i in range(100)})
    tuple_keys = {(1, 2): "a", (): "empty", (1, (2, 3)): "n", (1,): "one",
                  (-1, "x"): "m"}
    members, empty_set, frozen = {1, 2, 3}, set(), frozenset("ab")
    big_set, pair_set = set(range(1000)), {(1, 2)}
    numbers, empty_range = range(10), range(0)
    odd, back = range(1, 10, 2), range(10, 0, -2)
    queue, long_queue = collections.deque("abc"), collections.deque(range(300))
    ordered = collections.OrderedDict([("x", 1), ("y", 2)])
    counted = collections.Counter("aab")
    defaulted = collections.defaultdict(list, k=[1])
    deleted = {"a": 1, "b": 2, "c": 3}
    del deleted["c"], deleted["b"]
    deleted["d"] = 4
    point = collections.namedtuple("Point", "x y")(1, 2)
    selfish = []
    selfish.append(selfish)
    wound, winding = [], []
    wound.append(winding)
    winding.append(wound)
    deep, deeper, mild, milder = (), (), [], []
    for _ in range(20000):
        deep, deeper = (deep,), (deeper,)
    for _ in range(50):
        mild, milder = [mild], [milder]
    list_sub, dict_sub = ListSub([1, 2]), DictSub(a=1)
    list_sub.extra, dict_sub.extra = 5, 6
    octets, no_octets = bytearray(b"abc"), bytearray()
    reals, longs = array.array("d", [1.5, 2.5]), array.array("l", [-5])
    tell("containers", CONTAINERS, locals())
    down[0](down[1:])
    return (true, items, empty_list, pair, empty_tuple, nested, mapping,
            accented, byte_keys, empty_dict, large, tuple_keys, members,
            empty_set, frozen, big_set, pair_set, numbers, empty_range, odd,
            back, queue, long_queue, ordered, counted, defaulted, deleted,
            point, selfish, wound, winding, deep, deeper, mild, milder,
            list_sub, dict_sub, octets, no_octets, reals,
            longs)


class Base:
    base = "Base"
    over = "class"


class Layer:
    def __init__(self, size):
        self.size = size


class Net(Base):
    kind = "Net"
    shared = [1]
    function = None

    def __init__(self):
        self.lr = 0.1
        self.steps = 3
        self.name = "net"
        self.layers = [Layer(4), Layer(8)]
        self.best = None
        self.table = {"a": self.layers[0]}
        self.over = "instance"

    @property
    def area(self):
        return 5

    def method(self):
        return 5

    @staticmethod
    def static():
        return 5

    class Cached:
        def __get__(self, instance, owner):
            return 5
    cached = Cached()


class Slotted:
    __slots__ = ("a", "b", "c")
    shown = "class"

    def __init__(self):
        self.a, self.c = 1, 3


class Both(Slotted):
    __slots__ = ("d", "__dict__")


class Color(enum.Enum):
    RED = 1
    GREEN = 2


class Number(enum.IntEnum):
    TWO = 2


class Hooked:
    def __init__(self):
        self.real = 1

    def __getattr__(self, name):
        return 5


class Wired:
    value = 5


class Many:
    pass


class Fields:
    def __init__(self, x, y):
        self.x, self.y = x, y


def objects(down):
    closed, free = 5, 7
    module_flag = 1

    def inner(down, free=free):
        net, slotted, both, color = Net(), Slotted(), Both(), Color.RED
        both.a, both.d, both.e = 1, 4, 5
        number, hooked, wired = Number.TWO, Hooked(), Wired()
        exception, system = ValueError("no", 5), OSError(2, "no", "/x")
        slice_, range_ = slice(1, 9), range(1, 9, 2)
        many, deleted, late = Many(), Fields(1, "b"), Layer(1)
        for i in range(40):
            setattr(many, "a%d" % i, i)
        deleted.a = 1
        deleted.b = 2
        del deleted.a
        late.z = 26
        type_of, inherited, true_of = Net(), Both(), Base()
        inherited = Net()
        data, partial = Fields(1, "b"), Net()
        partial.best = closed
        tell("inner", OBJECTS, locals())
        down[0](down[1:])
        return (net, slotted, both, color, number, hooked, wired, exception,
                system, slice_, range_, many, deleted, late, type_of,
                inherited, true_of, data, partial)

    inner(down)
    return module_flag


class Owned:
    def __eq__(self, other):
        return True
    __hash__ = None


class Ordered:
    def __lt__(self, other):
        return True


class Sized:
    def __len__(self):
        return 0


class Truthy:
    def __bool__(self):
        return False


class Holder:
    def __iter__(self):
        return iter([1])


class ListHolder(list):
    def __contains__(self, item):
        return True


class ListGetter(list):
    def __getitem__(self, item):
        return 5


class HashedKey(str):
    def __hash__(self):
        return 5


class Total:
    def __getattribute__(self, name):
        return 5


class Added(int):
    def __add__(self, other):
        return 0


class AddedText(str):
    def __radd__(self, other):
        return 0


class Raised(int):
    def __pow__(self, other):
        return 0

    def __rpow__(self, other):
        return 0


def refused(down):
    added_text, raised, huge = AddedText("a"), Raised(2), 2 ** 14300
    list_huge, text_huge, text_half = [0] * 10002, "x" * 1048578, "x" * 600000
    text_most = "x" * 1048576
    owned, ordered, sized, truthy = Owned(), Ordered(), Sized(), Truthy()
    holder, list_holder, list_getter = Holder(), ListHolder(), ListGetter([1])
    hashed_key, table, net, hooked = HashedKey("a"), {"b": 1}, Net(), Hooked()
    total, int_added, big = Total(), Added(1), 2 ** 70
    x, a, b, loss = 5, 1, 2, 3
    if x == 6:
        unbound = 1
    TRUTHS["refused"] = [line.split(" :: ") if " :: " in line else
                         ["", line[3:]]
                         for line in REFUSED.strip().splitlines()
                         if not line.startswith("shadowed")]
    down[0](down[1:])
    return (owned, ordered, sized, truthy, holder, list_holder, list_getter,
            hashed_key, table, net, hooked, total, int_added, big, x, a, b,
            loss, added_text, raised, huge, list_huge, text_huge, text_half,
            text_most, unbound)


def shadowing(down):
    len = down.__len__
    down[0](down[1:])
    return len


class Body:
    inside = 5
    step = 1
    TRUTHS["Body"] = [["inside == 5", 1], ["step == 1", 1], ["STEP == 100", 1],
                      ["len(NAMES) == 2", 1], ["module_level == 9", 0]]
    module_level = 8
    DOWN = [numbers, texts, values, containers, objects, refused, shadowing]

    def wait(down):
        print(json.dumps({"pid": os.getpid(), "truths": TRUTHS}), flush=True)
        sys.stdin.read()
        os._exit(0)

    DOWN[0](DOWN[1:] + [wait])
