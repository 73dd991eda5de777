"""Another file than stepping_program.py, that it calls."""


def twice(x):
    y = x * 2                           # L:twice
    return y                            # L:twice_end


def each(function, items):
    for item in items:                  # L:each
        function(item, item)
        twice(item)
    return items
