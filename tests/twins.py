"""Slow, readable twins of the uniforms and of Gibbs sampling (Canini et al. 2009, Alg. 1).

``bug`` plants one of the errors that the statistical tests must find.
"""

from itertools import accumulate


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


class Particle:
    """One particle: the topics of tokens, their counts and P(w, z).

    ``words[w]``, ``totals`` and ``documents[d]`` count topics; ``topics[d]`` holds each token's.
    """

    def __init__(self, alpha, base, a, bug=None):
        self.alpha, self.base, self.a, self.bug = alpha, base, a, bug
        self.words, self.totals = [[0] * len(alpha) for _ in base], [0] * len(alpha)
        self.texts, self.documents, self.topics = {}, {}, {}
        self.joint = 1.0

    def share(self, d, w, t, out=0):
        """Return the weight of topic t for a token, without ``out`` tokens that it counts."""
        gain = (self.alpha[t] + (self.documents[d][t] - out)) / (self.a + (self.totals[t] - out))
        return gain * ((self.words[w][t] - out) + self.a * self.base[w])

    def draw(self, d, w, u, old=-1):
        """Return a topic for a token, which is counted in topic ``old`` unless that is -1."""
        out = self.bug != "not taken out"
        sums = list(
            accumulate(self.share(d, w, t, out * (t == old)) for t in range(len(self.alpha)))
        )
        # A planted bug may leave counts below zero, and so no topic.
        last = len(sums) - 1
        return next((t for t, total in enumerate(sums) if u * sums[-1] < total), last)

    def count(self, d, w, t, step):
        self.words[w][t] += step
        self.totals[t] += step
        self.documents[d][t] += step

    def learn(self, d, text, uniforms, evenly=False):
        """Run the first pass over a document."""
        self.texts[d], self.documents[d], self.topics[d] = list(text), [0] * len(self.alpha), []
        for i, (w, u) in enumerate(zip(text, uniforms, strict=True)):
            t = int(u * len(self.alpha)) if evenly else self.draw(d, w, u)
            self.joint *= self.share(d, w, t) / (sum(self.alpha) + i)
            self.count(d, w, t, 1)
            self.topics[d].append(t)

    def move(self, d, i, u):
        """Redraw one token's topic."""
        w, old = self.texts[d][i], self.topics[d][i]
        t = self.draw(d, w, u, old)
        if t == old:
            return
        self.count(d, w, old, -1)
        self.count(d, w, t, 1)
        if self.bug == "document not updated":
            self.documents[d][old] += 1
            self.documents[d][t] -= 1
        self.topics[d][i] = t
