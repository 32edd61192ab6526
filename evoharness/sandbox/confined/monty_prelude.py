"""What runs in monty before the source: `ctx`, steps, and what monty lacks or does otherwise.

The names begin with `_`, which the policy keeps from every source. Bound from outside: the limits, `_seed_`,
and the function `_host_`, whose calls suspend the interpreter.
"""

from .monty_iterators import ITERATORS

PRELUDE = (
    ITERATORS
    + """
class _Ctx_:
    def __repr__(self):
        return 'ctx'

class _Module_:
    def __init__(self, module, names):
        self._names_ = names
        for name in names:
            setattr(self, name, getattr(module, name))
    def __repr__(self):
        return 'module'

class _View_:
    def __init__(self, values):
        self._values_ = values
        for name in values:
            setattr(self, name, values[name])
    def __getitem__(self, name):
        return self._values_[name]
    def __contains__(self, name):
        return name in self._values_
    def __repr__(self):
        return repr(self._values_)
    def get(self, name, default=None):
        return self._values_.get(name, default)
    def items(self):
        return self._values_.items()
    def keys(self):
        return self._values_.keys()
    def values(self):
        return self._values_.values()

def _len_(value):
    return len(value._values_ if isinstance(value, _View_) else value)

HostCallError = OSError
_steps_ = 0

def _tick_(own=None):
    global _steps_
    _steps_ += 1
    if _steps_ > _most_steps_:
        raise SystemExit('steps')
    return True

def _ticks_(*counts):
    global _steps_
    _steps_ += sum(counts)
    if _steps_ > _most_steps_:
        raise SystemExit('steps')
    return True

def _method_(name):
    def call(*positional, **named):
        return _host_(name, positional, named, _steps_)
    return call

def _context_(data, methods):
    ctx = _Ctx_()
    for name in data:
        value = data[name]
        setattr(ctx, name, _View_(value) if isinstance(value, dict) else value)
    for name in methods:
        setattr(ctx, name, _method_(name))
    ctx._names_ = list(data) + methods
    return ctx

def _read_(value, name):
    if isinstance(value, (_Ctx_, _Module_)):
        known = value._names_
    elif isinstance(value, _View_):
        known = list(value._values_)
    else:
        raise AttributeError(f'there is no {name!r} here')
    if name not in known:
        raise AttributeError(f'there is no {name!r} (there is: {", ".join(sorted(known))})')
    return getattr(value, name)

def _bound_(value, name, call):
    if isinstance(value, (_Ctx_, _View_)):
        return getattr(value, name)
    return lambda *positional, **named: call(value, *positional, **named)

def _delete_(container, key):
    if not isinstance(container, (list, dict)):
        raise TypeError('items of this cannot be deleted')
    container.pop(key)

def _delete_slice_(container, lower, upper, step):
    if step is None or step == 1:
        container[lower:upper] = []
    else:
        for position in sorted(range(len(container))[lower:upper:step], reverse=True):
            container.pop(position)

def _distinct_(function):
    def distinct(*positional, **named):
        return function(*positional, **named)
    return distinct

def _said_(*arguments):
    return str(arguments[0] if len(arguments) == 1 else arguments)

def _bit_length_(value):
    return len(bin(value).lstrip('-0b'))

def _is_integer_(value):
    return value == value // 1

def _isascii_(value):
    return all([ord(letter) < 128 for letter in value])

def _maketrans_(first, second=None, without=''):
    if second is None:
        return {ord(key) if isinstance(key, str) else key: first[key] for key in first}
    if len(first) != len(second):
        raise ValueError('the first two maketrans arguments must have equal length')
    table = {ord(old): ord(new) for old, new in zip(first, second)}
    for letter in without:
        table[ord(letter)] = None
    return table

def _translate_(value, table):
    letters = []
    for letter in value:
        new = table.get(ord(letter), letter)
        if new is not None:
            letters.append(chr(new) if isinstance(new, int) else new)
    return ''.join(letters)

def _difference_update_(value, *others):
    for other in others:
        for item in list(other):
            value.discard(item)

def _intersection_update_(value, *others):
    for other in others:
        kept = set(other)
        for item in list(value):
            if item not in kept:
                value.discard(item)

def _binary_(symbol, left, right):
    if symbol == '*':
        return _product_(left, right)
    if symbol == '%':
        if isinstance(left, str) and _re_.search(_wide_format_, left):
            raise ValueError('a % format with a number of four digits, or with *: use an f-string')
        return left % right
    if isinstance(left, int) and isinstance(right, int):
        more = max(right, 0)
        bits = _bit_length_(left) * more if symbol == '**' else _bit_length_(left) + more
        if bits > _most_bits_ and left != 0 and not (symbol == '**' and abs(left) == 1):
            raise OverflowError(f'{symbol} would make an integer of more than {_most_bits_} bits')
    return left ** right if symbol == '**' else left << right

def _product_(left, right):
    if isinstance(left, float) or isinstance(right, float):
        return left * right
    for sequence, count in ((left, right), (right, left)):
        if isinstance(count, int) and isinstance(sequence, (str, list, tuple)):
            if len(sequence) * count > _longest_product_:
                raise OverflowError(f'* would make more than {_longest_product_} items')
            return sequence * count
    if isinstance(left, int) and isinstance(right, int):
        if abs(left) > _large_ or abs(right) > _large_:
            if _bit_length_(left) + _bit_length_(right) > _most_bits_:
                raise OverflowError(f'* would make an integer of more than {_most_bits_} bits')
    return left * right

def _inplace_(symbol, old, value):
    if symbol == '+':
        if isinstance(old, list):
            old.extend(value)
            return old
        return old + value
    if symbol in '|&-^':
        if isinstance(old, set) and isinstance(value, (set, frozenset)):
            _inplace_set_(symbol, old, value)
            return old
        if symbol == '|':
            old |= value
            return old
        if symbol == '&':
            return old & value
        return old - value if symbol == '-' else old ^ value
    new = _binary_(symbol, old, value)
    if isinstance(old, list) and isinstance(new, list):
        old[:] = new
        return old
    return new

def _inplace_set_(symbol, old, value):
    if symbol == '|':
        old.update(value)
    elif symbol == '&':
        for item in list(old):
            if item not in value:
                old.discard(item)
    else:
        for item in list(value):
            if symbol == '^' and item not in old:
                old.add(item)
            else:
                old.discard(item)

def _inplace_item_(symbol, container, key, value):
    if not isinstance(container, (list, dict)):
        raise TypeError('only items of a list or a dict can be assigned')
    container[key] = _inplace_(symbol, container[key], value)

def _round_(value, digits=None):
    if isinstance(value, float) and isinstance(digits, int) and 0 <= digits < 100:
        return float(('%.' + str(digits) + 'f') % value)
    return round(value, digits)

_large_ = 2 ** 64
import re as _re_
import math as _whole_math_
import random as _whole_random_
_whole_random_.seed(_seed_)
_math_ = _Module_(_whole_math_, _math_names_)
_random_ = _Module_(_whole_random_, _random_names_)
"""
)
