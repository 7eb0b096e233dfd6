"""Slow, readable twins of the particle family's kernels: lists and dictionaries, one addition at a time, the same bits.

``bug`` plants one of the errors that the statistical tests must find.
"""

import copy
import math


def philox(counter, key):
    """Philox4x32-10 on Python's own integers."""
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
    """Steps 1 to 4 of model.kernels.draw: (topic, sum of all weights, whether rounding left nothing above r)."""
    cum, s = [], [0.0] * 8
    for j, value in enumerate(q):
        s[j % 8] = s[j % 8] + value
        cum.append(s[j % 8])
    s01, s23, s45, s67 = s[0] + s[1], s[2] + s[3], s[4] + s[5], s[6] + s[7]
    h = s01 + s23
    pre = [s[0], s01, s01 + s[2], h, h + s[4], h + s45, h + (s45 + s[6]), h + (s45 + s67)]
    x = u * pre[7]
    lane = sum(p <= x for p in pre[:7])
    r = x - (pre[lane - 1] if lane else 0.0)
    t = lane + 8 * sum(c <= r for c in cum[lane::8])
    back = t >= len(q)
    if back:
        t = max((k for k in range(len(q)) if q[k] > 0), default=0)
    return t, pre[7], back


def times(product, factor):
    """A scaled product (mantissa, exponent) times a number, kept between 2**-400 and 2**400."""
    value, exponent = product[0] * factor, product[1]
    if not 2.0**-400 <= value <= 2.0**400:
        value, shift = math.frexp(value)
        exponent += shift
    return value, exponent


def normal(product):
    fraction, shift = math.frexp(product[0])
    return fraction, product[1] + shift


class Particle:
    """One particle: ``words[w]``, ``totals`` and ``documents[d]`` count topics, ``topics[d]`` are the tokens' topics."""

    def __init__(self, alpha, base, a, discount=0.0, bug=None):
        self.alpha, self.alpha_sum, self.base, self.a, self.discount, self.bug = alpha, sum(alpha), base, a, discount, bug
        self.pads = [0.0] * (-len(alpha) % 8)
        self.words = [[0] * len(alpha) for _ in base]
        self.totals, self.kinds = [0] * len(alpha), [0] * len(alpha)
        self.texts, self.documents, self.topics = {}, {}, {}
        self.weight, self.joint = (1.0, 0), (0.5, 1)

    def child(self):
        return copy.deepcopy(self)

    def word_weight(self, n, t, w, kinds):
        if self.discount:
            return (n - (self.discount if n > 0 else 0.0)) + (self.a + self.discount * kinds) * self.base[w]
        return n + self.a * self.base[w]

    def weights(self, d, w):
        """q of every topic, as the token's word and document count now."""
        counts = [0] * len(self.alpha) if self.bug == "document ignored" else self.documents[d]
        gain = [(alpha + n) / (self.a + total) for alpha, n, total in zip(self.alpha, counts, self.totals, strict=True)]
        return [g * self.word_weight(self.words[w][t], t, w, self.kinds[t]) for t, g in enumerate(gain)]

    def count(self, d, w, t, step):
        self.kinds[t] += (self.words[w][t] == 0) if step > 0 else -(self.words[w][t] == 1)
        self.words[w][t] += step
        self.totals[t] += step
        self.documents[d][t] += step

    def learn(self, d, text, uniforms, blind=False):
        """A document's first pass."""
        self.texts[d], self.documents[d], self.topics[d] = list(text), [0] * len(self.alpha), []
        for i, (w, u) in enumerate(zip(text, uniforms, strict=True)):
            q = self.weights(d, w)
            t, total, _ = draw(q + self.pads, u)
            if blind:
                t = int(u * len(self.alpha))
            per = 1.0 / (self.alpha_sum + i)
            self.weight = times(self.weight, total * per)
            self.joint = times(self.joint, q[t] * per)
            self.count(d, w, t, 1)
            self.topics[d].append(t)
        self.weight, self.joint = normal(self.weight), normal(self.joint)

    def move(self, d, i, u):
        """Draw one token's topic again."""
        w, old = self.texts[d][i], self.topics[d][i]
        q = self.weights(d, w)
        if self.bug != "not taken out":
            n, kinds = self.words[w][old] - 1, self.kinds[old] - (self.words[w][old] == 1)
            gain = (self.alpha[old] + (self.documents[d][old] - 1)) / (self.a + (self.totals[old] - 1))
            q[old] = gain * self.word_weight(n, old, w, kinds)
        t, _, _ = draw(q + self.pads, u)
        if t == old:
            return
        self.joint = times(self.joint, q[t] / q[old])
        self.count(d, w, old, -1)
        self.count(d, w, t, 1)
        if self.bug == "document not updated":
            self.documents[d][old] += 1
            self.documents[d][t] -= 1
        self.topics[d][i] = t
