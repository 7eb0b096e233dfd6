"""Slow, readable twins of the particle family's kernels, with the same bits.

They use lists and dictionaries and add one number at a time. ``bug`` plants one of the errors that
the statistical tests must find.
"""

import copy
import math
from functools import lru_cache


def philox(counter, key):
    """Compute Philox4x32-10 with Python's integers."""
    c, k = list(counter), list(key)
    for _ in range(10):
        p0, p1 = 0xD2511F53 * c[0], 0xCD9E8D57 * c[2]
        c = [(p1 >> 32) ^ c[1] ^ k[0], p1 & 0xFFFFFFFF, (p0 >> 32) ^ c[3] ^ k[1], p0 & 0xFFFFFFFF]
        k = [(k[0] + 0x9E3779B9) & 0xFFFFFFFF, (k[1] + 0xBB67AE85) & 0xFFFFFFFF]
    return c


def uniform(index, key, particle, sequence, purpose):
    block = index >> 1
    top = purpose | (block >> 32 & 0xFF) << 8 | (sequence >> 32 & 0xFFFF) << 16
    words = philox((block & 0xFFFFFFFF, particle, sequence & 0xFFFFFFFF, top), key)
    high, low = words[2:] if index & 1 else words[:2]
    return ((high << 32 | low) >> 11) / 2**53


def draw(q, u):
    """Do steps 1 to 4 of beam_topics.model.learners.particles.kernels.draw.

    Returns (topic, sum of all weights, whether rounding left nothing above r).
    """
    cum, pre = lane_sums(q)
    t = found_at(cum, pre, u * pre[7])
    back = t >= len(q)
    if back:
        t = max((k for k in range(len(q)) if q[k] > 0), default=0)
    return t, pre[7], back


def lane_sums(q):
    """Return (cum, pre) of steps 1 and 2."""
    cum, s = [], [0.0] * 8
    for j, value in enumerate(q):
        s[j % 8] = s[j % 8] + value
        cum.append(s[j % 8])
    s01, s23, s45, s67 = s[0] + s[1], s[2] + s[3], s[4] + s[5], s[6] + s[7]
    h = s01 + s23
    return cum, [s[0], s01, s01 + s[2], h, h + s[4], h + s45, h + (s45 + s[6]), h + (s45 + s67)]


def found_at(cum, pre, x):
    """Return the topic of steps 3 and 4, or one behind the last."""
    lane = sum(p <= x for p in pre[:7])
    r = x - (pre[lane - 1] if lane else 0.0)
    return lane + 8 * sum(c <= r for c in cum[lane::8])


def eight(x):
    return ((x[0] + x[4]) + (x[2] + x[6])) + ((x[1] + x[5]) + (x[3] + x[7]))


def in_eights(values, width=8):
    """Sums of each ``width`` values, which are filled up with zeros."""
    padded = values + [0.0] * (-len(values) % width)
    pieces = [padded[j : j + width] for j in range(0, len(padded), width)]
    return [in_order([eight(piece[j : j + 8]) for j in range(0, width, 8)]) for piece in pieces]


def in_order(values):
    total = values[0]
    for value in values[1:]:
        total += value
    return total


def draw_in_parts(gain, strength, counts, tables, discount, base, u, old=-1, q_old=0.0):
    """Do steps 1 to 6 of the sparse draw of particles; returns (topic, total)."""
    own = [
        g * (float(n) - discount * float(k)) for g, n, k in zip(gain, counts, tables, strict=True)
    ]
    filled = [j for j in range(0, len(own), 8) if any(counts[j : j + 8])] or [0]
    smooth = [g * s for g, s in zip(gain, strength, strict=True)]
    blocks = in_eights(smooth)
    spans = in_eights(blocks, 16)
    total = in_order([0.0, *in_eights(spans)])
    if old >= 0:
        own[old], taken, smooth[old] = 0.0, smooth[old], 0.0
        blocks[old // 8] -= taken
        spans[old // 128] -= taken
        total -= taken
    listed = [own[j + k] for j in filled for k in range(8)]
    cum, pre = lane_sums(listed)
    mass = pre[7]
    total = (mass + q_old) + base * total
    x = u * total
    if x < q_old:
        return old, total
    if x - q_old < mass:
        at = found_at(cum, pre, x - q_old)
        if at >= len(listed):
            at = max(k for k in range(at % 8, len(listed), 8) if listed[k] > 0)
        return filled[at // 8] + at % 8, total
    r = (x - q_old - mass) / base
    place, r = passed(spans, 0, len(spans), r)
    place, r = passed(blocks, 16 * place, min(16 * place + 16, len(blocks)), r)
    places = [t for t in range(8 * place, 8 * place + 8) if smooth[t] > 0]
    return (passed(smooth, 8 * place, 8 * place + 8, r)[0] if places else max(old, 0)), total


def passed(values, first, stop, r):
    """Return the place of the value that r lies in, and what is left of r there."""
    places = [place for place in range(first, stop) if values[place] > 0] or [first]
    for place in places:
        if r < values[place]:
            break
        r -= values[place]
    return place, r


def times(product, factor):
    """Multiply a product (mantissa, exponent), kept between 2**-400 and 2**400, by a number."""
    value, exponent = product[0] * factor, product[1]
    if not 2.0**-400 <= value <= 2.0**400:
        value, shift = math.frexp(value)
        exponent += shift
    return value, exponent


def normal(product):
    fraction, shift = math.frexp(product[0])
    return fraction, product[1] + shift


class Particle:
    """One particle.

    ``words[w]``, ``totals`` and ``documents[d]`` count topics; ``topics[d]`` holds each token's.
    ``kind`` is None, "minimal" or "sampled": how ``tables[w]`` are counted. ``parted`` says whether
    words are in parts.
    """

    def __init__(
        self, alpha, base, a, *, discount=0.0, bug=None, kind=None, base_a=0.0, parted=False
    ):
        self.alpha, self.alpha_sum, self.base, self.a, self.discount, self.bug = (
            alpha,
            sum(alpha),
            base,
            a,
            discount,
            bug,
        )
        self.kind, self.base_a, self.parted = kind, base_a, parted
        self.tables = [[0] * len(alpha) for _ in base]
        self.pads = [0.0] * (-len(alpha) % 8)
        self.words = [[0] * len(alpha) for _ in base]
        self.totals, self.topic_tables = [0] * len(alpha), [0] * len(alpha)
        self.texts, self.documents, self.topics = {}, {}, {}
        self.weight, self.joint = (1.0, 0), (0.5, 1)

    def child(self):
        return copy.deepcopy(self)

    def shared(self, w, closed=0):
        """Return B(w) without ``closed`` of the word's tables."""
        if not self.kind:
            return self.base[w]
        return (sum(self.tables[w]) - closed + self.base_a * self.base[w]) / (
            sum(self.topic_tables) - closed + self.base_a
        )

    def gain(self, d, t, out=0):
        counts = [0] * len(self.alpha) if self.bug == "document ignored" else self.documents[d]
        return (self.alpha[t] + (counts[t] - out)) / (self.a + (self.totals[t] - out))

    def draw(self, d, w, base, u, old=-1, closed=0):
        """Return (topic, total) for a token, which is counted in topic ``old`` unless that is -1.

        ``closed`` says whether its table closes.
        """
        topics, out = range(len(self.alpha)), self.bug != "not taken out"
        gain = [self.gain(d, t) for t in topics]
        strength = [self.a + self.discount * self.topic_tables[t] for t in topics]
        counts, tables = self.words[w], self.tables[w]
        q_old = 0.0
        if old >= 0:
            q_old = self.gain(d, old, out) * (
                ((counts[old] - out) - self.discount * (tables[old] - closed * out))
                + (self.a + self.discount * (self.topic_tables[old] - closed * out)) * base
            )
        if self.parted:
            lists = [values + self.pads for values in (gain, strength, counts, tables)]
            return draw_in_parts(*lists, self.discount, base, u, old, q_old)
        q = [
            g * ((n - self.discount * k) + s * base)
            for g, s, n, k in zip(gain, strength, counts, tables, strict=True)
        ]
        if old >= 0:
            q[old] = q_old
        return draw(q + self.pads, u)[:2]

    def opens_table(self, n, tables, backoff, u):
        if self.kind == "sampled":
            return u * ((n - self.discount * tables) + backoff) < backoff
        return self.kind == "minimal" and n == 0

    def closes_table(self, n, tables, u):
        if self.bug == "tables closed in proportion":
            return u < (tables / n if tables > 1 or n == 1 else 0.0)
        if self.kind == "sampled":
            return u < closing_probability(n, tables, self.discount)
        return self.kind == "minimal" and n == 1

    def joint_factor(self, n, tables, backoff, opened):
        if self.kind != "sampled":
            return (n - self.discount * tables) + backoff
        if opened:
            return backoff / closing_probability(n + 1, tables + 1, self.discount)
        return (n - self.discount * tables) / (
            1.0 - closing_probability(n + 1, tables, self.discount)
        )

    def count(self, d, w, t, step, tables=0):
        self.topic_tables[t] += step * tables
        self.tables[w][t] += step * tables
        self.words[w][t] += step
        self.totals[t] += step
        self.documents[d][t] += step

    def learn(self, d, text, uniforms, evenly=False, table_uniforms=None):
        """Run the first pass over a document."""
        self.texts[d], self.documents[d], self.topics[d] = list(text), [0] * len(self.alpha), []
        for i, (w, u) in enumerate(zip(text, uniforms, strict=True)):
            base = self.shared(w)
            t, total = self.draw(d, w, base, u)
            if evenly:
                t = int(u * len(self.alpha))
            normaliser = 1.0 / (self.alpha_sum + i)
            n, tables, backoff = (
                self.words[w][t],
                self.tables[w][t],
                (self.a + self.discount * self.topic_tables[t]) * base,
            )
            opened = self.opens_table(
                n, tables, backoff, table_uniforms[i] if table_uniforms else None
            )
            self.weight = times(self.weight, total * normaliser)
            self.joint = times(
                self.joint,
                self.gain(d, t) * self.joint_factor(n, tables, backoff, opened) * normaliser,
            )
            self.count(d, w, t, 1, opened)
            self.topics[d].append(t)
        self.weight, self.joint = normal(self.weight), normal(self.joint)

    def move(self, d, i, u, table_uniforms=(None, None)):
        """Redraw one token's topic."""
        w, old = self.texts[d][i], self.topics[d][i]
        n, tables = self.words[w][old], self.tables[w][old]
        closed = bool(self.closes_table(n, tables, table_uniforms[0]))
        base = self.shared(w, closed)
        n, tables, backoff = (
            n - 1,
            tables - closed,
            (self.a + self.discount * (self.topic_tables[old] - closed)) * base,
        )
        gain = self.gain(d, old, 1)
        t, _ = self.draw(d, w, base, u, old, closed)
        old_factor = gain * self.joint_factor(n, tables, backoff, closed)
        if t != old:
            gain, n, tables = self.gain(d, t), self.words[w][t], self.tables[w][t]
            backoff = (self.a + self.discount * self.topic_tables[t]) * base
        opened = bool(self.opens_table(n, tables, backoff, table_uniforms[1]))
        if t == old and opened == closed:
            return
        self.joint = times(
            self.joint, gain * self.joint_factor(n, tables, backoff, opened) / old_factor
        )
        self.count(d, w, old, -1, closed)
        self.count(d, w, t, 1, opened)
        if self.bug == "document not updated":
            self.documents[d][old] += 1
            self.documents[d][t] -= 1
        self.topics[d][i] = t


@lru_cache(maxsize=8)
def closing(discount, most):
    """Return V(n, t) = R(n-1, t) / (R(n-1, t) + n - 1 - d t) for n, t <= most, row by row."""
    table, ratios = {}, [0.0] + [math.inf] * most
    for n in range(1, most + 1):
        for t in range(1, n + 1):
            table[n, t] = 1.0 if t == n else ratios[t] / (ratios[t] + (n - 1 - discount * t))
        for t in range(n, 0, -1):
            ratios[t] = (
                0.0 if t == 1 else (ratios[t - 1] + (n - 1 - discount * (t - 1))) * table[n, t]
            )
    return table


def closing_probability(n, t, discount):
    """Return the probability that one of n tokens at t tables has a table of its own."""
    return closing(discount, 400)[n, t]
