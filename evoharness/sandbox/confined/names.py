"""Names of the restricted dialect, and what to say to somebody who wanted another one."""

MATH = (
    "ceil comb copysign cos degrees dist e exp fabs floor fmod fsum gcd hypot inf isclose isfinite isinf "
    "isnan log log10 log1p log2 nan pi pow prod radians sin sqrt tan tau trunc"
)
RANDOM = "choice gauss randint random randrange sample shuffle uniform"
FACADES = {"math": MATH.split(), "random": RANDOM.split()}
"""What can be imported, and what it has."""

PLAIN_BUILTINS = (
    "abs all any bool chr dict divmod enumerate filter float frozenset int len list map max min ord range "
    "reversed round set sorted sum tuple zip "
    "Exception ArithmeticError AssertionError AttributeError IndexError KeyError LookupError NameError "
    "NotImplementedError OverflowError RuntimeError StopIteration TypeError ValueError ZeroDivisionError"
)
"""Builtins that are safe as they are, separated by spaces."""

GUARDED_BUILTINS = ("isinstance", "iter", "next", "print", "repr", "str", "HostCallError")
"""Builtins of the dialect's own making."""

BUILTIN_NAMES = frozenset({*PLAIN_BUILTINS.split(), *GUARDED_BUILTINS})
"""Everything that a source may use without defining it."""

_NO_FILES = "there are no files: everything comes from ctx"
_NO_REFLECTION = "not available; there is no reflection"

HINTS = {
    "re": "'re' is not available; use ctx.find(pattern, text)",
    "json": "'json' is not available; values are plain dicts and lists already",
    "time": "'time' is not available; use ctx.remaining()",
    "datetime": "'datetime' is not available; times are seconds, as numbers",
    "collections": "'collections' is not available; use dict, list and d[key] = d.get(key, 0) + 1",
    "itertools": "'itertools' is not available; write the loop",
    "statistics": "'statistics' is not available; use sum, len and sorted",
    "string": "'string' is not available; use methods of str",
    "functools": "'functools' is not available; write the function",
    "dataclasses": "'dataclasses' is not available; use dicts",
    "copy": "'copy' is not available; use list(x), dict(x) or x.copy()",
    "numpy": "'numpy' is not available; use lists, sum, min, max and math",
    "typing": "'typing' is not available; leave annotations out, or name builtins in them",
    "__future__": "'__future__' is not available; nothing needs it",
    "format": "'format' is not available; use an f-string",
    "pow": "'pow' is not available; use **",
    "hash": "'hash' is not available; use the value itself as a key",
    "os": f"'os' is not available; {_NO_FILES}",
    "sys": "'sys' is not available; everything comes from ctx and question",
    "open": f"'open' is not available; {_NO_FILES}",
    "input": "'input' is not available; everything comes from ctx and question",
    "eval": "'eval' is not available; write the expression",
    "exec": "'exec' is not available; write the statements",
    "type": "'type' is not available; use isinstance",
    "object": "'object' is not available; use dicts",
    "super": "'super' is not available; there are no classes",
    "hasattr": f"'hasattr' is {_NO_REFLECTION}",
    "getattr": f"'getattr' is {_NO_REFLECTION}",
    "setattr": f"'setattr' is {_NO_REFLECTION}",
    "globals": f"'globals' is {_NO_REFLECTION}",
    "locals": f"'locals' is {_NO_REFLECTION}",
    "vars": f"'vars' is {_NO_REFLECTION}",
    "dir": f"'dir' is {_NO_REFLECTION}",
    "BaseException": "'BaseException' is not available; use Exception",
    "SystemExit": "'SystemExit' is not available; return an answer",
    "KeyboardInterrupt": "'KeyboardInterrupt' is not available; use Exception",
    "ClassDef": "classes are not available; use dicts and functions",
    "With": "with statements are not available; nothing needs closing",
    "Global": "global is not available; pass values and return them",
    "Match": "match is not available; use if and elif",
    "TryStar": "except* is not available; use except",
    "AsyncFunctionDef": "async is not available; calls of ctx already wait",
    "Await": "await is not available; calls of ctx already wait",
}
"""Name or kind of syntax → what to do instead, in a strategy."""

TOOL_HINTS = {name: hint.replace("ctx", "memory") for name, hint in HINTS.items()} | {
    "re": "'re' is not available; use methods of str",
    "time": "'time' is not available; times are seconds of the video",
}
"""The same in a tool, which has `memory` and not `ctx`."""
