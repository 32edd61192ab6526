"""Iterators that do their work when they are asked, and functions that call functions which ask the host.

monty makes lists of what Python makes iterators of, and cannot wait for the host inside of functions of its
own. Its classes can be iterated, its loops can wait.
"""

ITERATORS = """
class _Generator_:
    def __init__(self, function, source):
        self._function_ = function
        self._source_ = iter(source)
    def __iter__(self):
        return self
    def __next__(self):
        source = self._source_
        self._source_ = _no_more_
        value = self._function_(next(source))
        self._source_ = source
        return value
    def __repr__(self):
        return '<generator object>'

class _Parts_:
    def __init__(self, function, source):
        self._function_ = function
        self._source_ = iter(source)
        self._ready_ = []
    def __iter__(self):
        return self
    def __next__(self):
        source = self._source_
        self._source_ = _no_more_
        while not self._ready_:
            self._ready_ = self._function_(next(source))
        self._source_ = source
        return self._ready_.pop(0)
    def __repr__(self):
        return '<generator object>'

class _Map_:
    def __init__(self, function, source):
        self._function_ = function
        self._source_ = iter(source)
    def __iter__(self):
        return self
    def __next__(self):
        return self._function_(next(self._source_))
    def __repr__(self):
        return '<map object>'

class _Filter_:
    def __init__(self, function, source):
        self._function_ = function
        self._source_ = iter(source)
    def __iter__(self):
        return self
    def __next__(self):
        while True:
            item = next(self._source_)
            if item if self._function_ is None else self._function_(item):
                return item
    def __repr__(self):
        return '<filter object>'

class _Zip_:
    def __init__(self, sources, strict=False):
        self._sources_ = [iter(source) for source in sources]
        self._strict_ = strict
    def __iter__(self):
        return self
    def __next__(self):
        row = []
        for source in self._sources_:
            try:
                row.append(next(source))
            except StopIteration:
                if self._strict_:
                    self._complain_(len(row))
                raise StopIteration
        if not row:
            raise StopIteration
        return tuple(row)
    def _complain_(self, count):
        if count:
            raise ValueError(f'zip() argument {count + 1} is shorter than the first')
        for source in self._sources_[1:]:
            if [item for item in [next(source, _no_more_)] if item is not _no_more_]:
                raise ValueError('zip() argument is longer than the first')
    def __repr__(self):
        return '<zip object>'

class _Enumerate_:
    def __init__(self, source, start=0):
        self._source_ = iter(source)
        self._next_ = start
    def __iter__(self):
        return self
    def __next__(self):
        pair = (self._next_, next(self._source_))
        self._next_ += 1
        return pair
    def __repr__(self):
        return '<enumerate object>'

_no_more_ = iter(())
_held_ = (str, tuple, frozenset)

def _map_(function, *sources):
    if len(sources) == 1:
        return _Map_(function, sources[0])
    return _Map_(lambda row: function(*row), _zip_(*sources))

def _mapped_(function, *sources):
    if len(sources) == 1:
        return iter([function(item) for item in sources[0]])
    return iter([function(*row) for row in zip(*sources)])

def _filter_(function, source):
    return _Filter_(function, source)

def _filtered_(function, source):
    if function is None:
        return iter([item for item in source if item])
    return iter([item for item in source if function(item)])

def _zip_(*sources, strict=False):
    if not strict and all([isinstance(source, _held_) for source in sources]):
        return iter(zip(*sources))
    return _Zip_(sources, strict)

def _enumerate_(iterable, start=0):
    if isinstance(iterable, _held_):
        return iter(enumerate(iterable, start))
    return _Enumerate_(iterable, start)

def _reversed_(sequence):
    if isinstance(sequence, range):
        return iter(sequence[::-1])
    return iter(reversed(sequence))

def _sorted_(iterable, *, key=None, reverse=False):
    items = list(iterable)
    if key is None:
        return sorted(items, reverse=reverse)
    keys = [key(item) for item in items]
    return [items[at] for at in sorted(range(len(items)), key=lambda at: keys[at], reverse=reverse)]

def _sort_(value, *, key=None, reverse=False):
    if isinstance(value, list):
        value[:] = _sorted_(value, key=key, reverse=reverse)
    else:
        value.sort(key=key, reverse=reverse)

def _max_(*values, key=None, **default):
    return _most_(max, values, key, default)

def _min_(*values, key=None, **default):
    return _most_(min, values, key, default)

def _most_(most, values, key, default):
    items = list(values[0] if len(values) == 1 else values)
    if key is None or not items or (default and len(values) > 1):
        return most(*([items] if len(values) == 1 else values), **default)
    keys = [key(item) for item in items]
    return items[most(range(len(items)), key=lambda at: keys[at])]

def _any_(items):
    while True:
        try:
            item = next(items)
        except StopIteration:
            return False
        if item:
            return True

def _all_(items):
    while True:
        try:
            item = next(items)
        except StopIteration:
            return True
        if not item:
            return False

def _any_each_(function, items):
    for item in items:
        if function(item):
            return True
    return False

def _all_each_(function, items):
    for item in items:
        if not function(item):
            return False
    return True
"""
