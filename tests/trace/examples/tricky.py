"""Loops whose meaning depends on order, overlap and aliases. Each function takes x: (N, D) and s: (N,)."""
# ruff: noqa: B006, B905, E501, SIM113, B007  (written as people write it)
import numpy as np


def overlapping(x, s):
    """The later write wins."""
    a = np.zeros(x.shape[0] + 1)
    for i in range(x.shape[0]):
        a[i : i + 2] = s[i]
    return a


def blocks(x, s):
    a = np.ones(2 * x.shape[0])
    for i in range(x.shape[0]):
        a[2 * i : 2 * i + 2] = x[i, 0] * s[i]
    return a


def even_and_odd(x, s):
    a = np.zeros(2 * x.shape[0])
    for i in range(x.shape[0]):
        a[2 * i] = s[i]
        a[2 * i + 1] = -s[i]
    return a


def write_and_add(x, s):
    a = np.zeros_like(s)
    for i in range(s.shape[0]):
        a[i] = s[i]
        a[i] += x[i].sum()
        a[i] *= 3
    return a


def add_everywhere_and_write(x, s):
    a = np.zeros_like(s)
    for i in range(s.shape[0]):
        a += 1
        a[i] = s[i]
    return a


def last_values(x, s):
    for i in range(x.shape[0]):
        row = x[i] * 2
        scaled = row * s[i]
    return scaled + row + i


def view_of_a_row(x, s):
    y = x.copy()
    for i in range(y.shape[0]):
        row = y[i]
        row *= s[i]
        row += 1
    return y


def alias(x, s):
    a = np.zeros_like(x)
    b = a
    for i in range(x.shape[0]):
        a[i] = x[i]
    b *= 2
    return a


def backwards(x, s):
    out = []
    for i in range(x.shape[0] - 1, -1, -1):
        out.append(x[i] * s[i])
    return np.array(out)


def prepended(x, s):
    out = []
    for i in reversed(range(x.shape[0])):
        out.insert(0, x[i] * s[i])
    return np.array(out)


def triangle(x, s):
    out = np.zeros_like(s)
    for i in range(s.shape[0]):
        for j in range(i + 1):
            out[i] += s[j]
    return out


def upper_triangle(x, s):
    total = 0.0
    N = s.shape[0]
    for i in range(N):
        for j in range(i, N):
            total += s[i] * s[j]
    return total


def every_second(x, s):
    out = np.zeros_like(s)
    for i in range(0, s.shape[0], 2):
        out[i] = s[i]
    return out


def products(x, s):
    p = 1.0
    for i in range(s.shape[0]):
        p = p * s[i]
    return p


def running_maximum(x, s):
    best = s[0]
    for i in range(s.shape[0]):
        best = np.maximum(best, s[i])
    return best


def first_is_special(x, s):
    out = np.zeros_like(s)
    for i in range(s.shape[0]):
        if i == 0:
            out[i] = 1.0
        else:
            out[i] = s[i] - s[i - 1]
    return out


def previous(x, s):
    out = np.zeros_like(s)
    prev = 0.0
    for i in range(s.shape[0]):
        out[i] = s[i] - prev
        prev = s[i]
    return out


def fibonacci(x, s):
    a, b = s[0], s[0]
    for i in range(s.shape[0]):
        a, b = b, a + b
    return a


def depends_on_written(x, s):
    a = s.copy()
    for i in range(1, s.shape[0]):
        a[i] = a[i - 1] + a[i]
    return a


def depends_on_later(x, s):
    a = s.copy()
    for i in range(s.shape[0] - 1):
        a[i] = a[i + 1] * 2
    return a


def in_a_dict(x, s):
    grads = {"W": np.zeros((x.shape[1], x.shape[1])), "n": 0}
    for i in range(x.shape[0]):
        grads["W"] += np.outer(x[i], x[i])
        grads["n"] = grads["n"] + 1
    return grads["W"] / grads["n"]


def helper(buffer, i, value):
    buffer[i] += value
    return buffer


def through_a_helper(x, s):
    a = np.zeros_like(x)
    for i, row in enumerate(x):
        helper(a, i, row * s[i])
    return a


def two_accumulators(x, s):
    mean, square = 0.0, 0.0
    for v in s:
        mean += v
        square += v * v
    n = len(s)
    return square / n - (mean / n) ** 2


def prefix_used(x, s):
    seen = 0.0
    out = []
    for i in range(s.shape[0]):
        seen += s[i]
        out.append(x[i] * seen)
    return np.stack(out)


def written_then_summed(x, s):
    p = np.zeros_like(x)
    total = np.zeros(x.shape[1])
    for i in range(x.shape[0]):
        p[i] = np.exp(x[i])
        total += p[i]
    return p / total


def scattered(x, s):
    N, D = x.shape
    out = np.zeros(N + D)
    for i in range(N):
        out[i : i + D] += x[i]
    return out


def nested_lists(x, s):
    return np.array([[x[i, j] * s[i] for j in range(x.shape[1])] for i in range(x.shape[0])])


def generator(x, s):
    return sum(s[i] * x[i] for i in range(len(s)))


def swapped_rows(x, s):
    y = np.empty_like(x)
    N = x.shape[0]
    for i in range(N):
        y[N - 1 - i] = x[i]
    return y


def counter(x, s):
    out = np.zeros_like(s)
    k = 0
    for v in s:
        out[k] = v * 2
        k += 1
    return out


def early_exit(x, s):
    out = np.zeros_like(s)
    for i in range(s.shape[0]):
        out[i] = s[i]
        if x.ndim == 3:
            break
    return out


def scale_accumulator(x, s):
    h = np.zeros(x.shape[1])
    for i in range(x.shape[0]):
        h = 0.5 * h + x[i]
    return h


def empty_start(x, s):
    out = s.copy()
    for i in range(1, s.shape[0]):
        last = s[i]
        out[i] = last
    return out


class Accumulator:
    def __init__(self):
        self.total = 0
        self.parts = []
        self.count = 0


def on_an_object(x, s):
    acc = Accumulator()
    for i, row in enumerate(x):
        acc.total = acc.total + row * s[i]
        acc.parts.append(row.sum())
        acc.count += 2
    return acc.total * np.stack(acc.parts).sum() / acc.count


def items_of_a_list(x, s):
    sums = [0.0, np.zeros(x.shape[1])]
    for i in range(x.shape[0]):
        sums[0] += s[i]
        sums[1] += x[i]
    return sums[0] * sums[1]


def nonlocal_counter(x, s):
    n = 0

    def add():
        nonlocal n
        n += 1

    for _ in range(x.shape[0]):
        add()
    return s * n


def nonlocal_sum(x, s):
    total = 0.0

    def add(v):
        nonlocal total
        total = total + v

    for v in s:
        add(v)
    return total


def two_loops(x, s):
    total = 0.0
    for i in range(x.shape[0]):
        for j in range(x.shape[1]):
            total += x[i, j] * s[i]
        total *= 1.0
    for i in range(x.shape[0]):
        total += s[i]
    return total


def mutual(x, s):
    a, b = 0.0, 0.0
    for i in range(s.shape[0]):
        a, b = a + s[i], b + a
    return b


def unused_range(x, s):
    for _ in range(x.shape[0]):
        s = s + 1
    return s


def row_by_row_in_place(x, s):
    for i in range(x.shape[0]):
        x[i] -= x[i].mean()
        x[i] /= 1 + (x[i] ** 2).sum()
    return x


def column_after_row(x, s):
    out = np.zeros_like(x)
    for i in range(x.shape[0]):
        out[i, :] = x[i] * s[i]
        out[i, 0] = s[i]
    return out


def gather_by_loop(x, s):
    N = x.shape[0]
    return np.array([s[N - 1 - i] + x[i, 0] for i in range(N)])
