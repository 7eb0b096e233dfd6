"""P(spelling) from dictionaries of strings: the slow twin of the model of characters."""

import math
from collections import Counter

from beam_topics.model.scaled import Scaled


def tables(text, counts, order, characters):
    """P(c | h) of each n-gram hc that was seen, and what each context h leaves to shorter ones."""
    ngrams = (text[at : at + order + 1] for at in range(0, len(text), order + 1))
    levels = [dict(zip(ngrams, counts.tolist(), strict=True))]
    for _ in range(order):
        shorter = Counter()
        for run, count in levels[-1].items():
            shorter[run[1:]] += count
        levels.append(shorter)
    seen, left = {}, {}
    for level in reversed(levels):
        total, kinds = Counter(), Counter()
        for run, count in level.items():
            total[run[:-1]] += count
            kinds[run[:-1]] += 1
        for context, kind in kinds.items():
            left[context] = kind / (kind + total[context])
        for run, count in level.items():
            context, less = run[:-1], seen[run[1:]] if len(run) > 1 else 1.0 / characters
            seen[run] = (count + kinds[context] * less) / (kinds[context] + total[context])
    return seen, left


def character(run, seen, left, characters):
    """P(last character | those before it)."""
    share = 1.0
    for start in range(len(run)):
        if run[start:] in seen:
            return share * seen[run[start:]]
        share *= left.get(run[start:-1], 1.0)
    return share / characters


def spelled(spelling, word):
    """The product over the characters, and its exponent."""
    seen, left = tables(spelling.text, spelling.counts, spelling.order, spelling.characters)
    marked = "\n" * spelling.order + word
    product, exponent = 1.0, 0
    for at in range(len(word)):
        product *= character(marked[at : at + spelling.order + 1], seen, left, spelling.characters)
        if product < 2.0**-400:
            product, shift = math.frexp(product)
            exponent += shift
    return product, exponent


def spelled_by(letters, word):
    """The probability of a word among those of its length, by the model itself."""
    (product,), (exponent,) = letters.spelling.probabilities([word])
    return Scaled.of(float(product), int(exponent))


def probability_of(letters, word):
    """G0(word) by the model itself, of any magnitude."""
    return letters.length_probability(len(word)) * spelled_by(letters, word)
