"""A slow twin of SparseLDA, with sorted lists that are made anew for every token.

It makes the same additions in the same order, so it gives the same bits.
"""

import numpy as np

BUGS = ("prior's part twice", "token not taken out of q", "coefficients never updated")


def sorted_rows(counts):
    """(topic, count) of a row in the order of packed entries: by count, then topic, descending."""
    return sorted(
        ((t, n) for t, n in enumerate(counts) if n), key=lambda entry: (-entry[1], -entry[0])
    )


def held_descending(counts):
    """The same of a model's row: ties in ascending order of the topics."""
    return sorted(
        ((t, n) for t, n in enumerate(counts) if n), key=lambda entry: (-entry[1], entry[0])
    )


def row_sum(coef, entries):
    """Entry i is added in lane i % 8; then halves are added to halves."""
    lanes = [0.0] * 8
    for i, (t, n) in enumerate(entries):
        lanes[i % 8] += coef[t] * n
    while len(lanes) > 1:
        half = len(lanes) // 2
        lanes = [a + b for a, b in zip(lanes[:half], lanes[half:], strict=True)]
    return lanes[0]


def blocks(parts):
    """The sums of sixteen at a time, in four lanes, and of what is left each by itself."""
    whole = len(parts) // 16 * 16
    for start in range(0, whole, 16):
        lanes = [0.0] * 4
        for t in range(start, start + 16):
            lanes[t % 4] += parts[t]
        yield 16, (lanes[0] + lanes[1]) + (lanes[2] + lanes[3])
    for part in parts[whole:]:
        yield 1, part


def smoothing_sum(strength, coef):
    """rest: what all topics have of the prior, without B(w)."""
    total = 0.0
    for _, part in blocks([s * c for s, c in zip(strength, coef, strict=True)]):
        total += part
    return total


def draw_from_smoothing(x, strength, coef):
    """The topic at x in [0, rest): sixteen are passed by at a time."""
    parts = [s * c for s, c in zip(strength, coef, strict=True)]
    start, total = 0, 0.0
    for size, part in blocks(parts):
        if size == 1 or total + part > x:
            break
        total, start = total + part, start + size
    for new in range(start, len(parts)):
        total += parts[new]
        if total > x:
            break
    return new


def slow_sparse(snapshot, rows, texts, sweeps, uniforms, bug=None):
    """The topics of each document's tokens, and its n_td, after a first pass and ``sweeps`` sweeps.

    Uniforms come from ``uniforms(document, sweep, n)``.
    """
    topics, strength = range(snapshot.topic_count), snapshot.prior.strength.tolist()
    held = [held_descending(row) for row in snapshot.rows(rows).tolist()]
    totals, alpha, base = (
        snapshot.normalisers.tolist(),
        snapshot.alpha.tolist(),
        snapshot.prior.base[rows].tolist(),
    )
    own, own_totals = [[0] * len(alpha) for _ in held], [0] * len(alpha)
    counts, states = [[0] * len(alpha) for _ in texts], [[-1] * len(text) for text in texts]
    for sweep in range(sweeps + 1):
        for d, text in enumerate(texts):
            n_d = counts[d]
            coef = [(alpha[t] + n_d[t]) / (totals[t] + own_totals[t]) for t in topics]
            rest = smoothing_sum(strength, coef)
            for i, (v, u) in enumerate(zip(text, uniforms(d, sweep, len(text)), strict=True)):
                old, out_rest, before = states[d][i], rest, 0.0
                if old >= 0:
                    before = coef[old]
                    own_totals[old] -= 1
                    n_d[old] -= 1
                    if bug != "coefficients never updated":
                        coef[old] = (alpha[old] + n_d[old]) / (totals[old] + own_totals[old])
                    out_rest += strength[old] * (coef[old] - before)
                at_held = row_sum(coef, held[v])
                q = at_held + row_sum(coef, sorted_rows(own[v]))
                if old >= 0 and bug != "token not taken out of q":
                    q -= coef[old]
                weight = 2 * base[v] if bug == "prior's part twice" else base[v]
                x, new, total = u * (q + weight * out_rest), -1, 0.0
                entries = []
                if x < at_held:
                    entries = [(t, coef[t] * n) for t, n in held[v]]
                elif x < q:
                    total = at_held
                    left = [
                        (t, n - (t == old and bug != "token not taken out of q"))
                        for t, n in sorted_rows(own[v])
                    ]
                    entries = [(t, coef[t] * n) for t, n in left if n > 0]
                for t, part in entries:
                    total, new = total + part, t
                    if total > x:
                        break
                if not entries:
                    new = draw_from_smoothing((x - q) / weight, strength, coef)
                own_totals[new] += 1
                n_d[new] += 1
                if new == old:
                    coef[old] = before
                    continue
                rest, before = out_rest, coef[new]
                if bug != "coefficients never updated":
                    coef[new] = (alpha[new] + n_d[new]) / (totals[new] + own_totals[new])
                rest += strength[new] * (coef[new] - before)
                if old >= 0:
                    own[v][old] -= 1
                own[v][new] += 1
                states[d][i] = new
    return states, np.array(counts)


def slow_alone(snapshot, rows, occurrences, sweeps, kept, uniforms, bug=None):
    """n_td of a document alone, summed over the last states.

    ``uniforms[sweep]`` has the uniforms. A row is a list of [topic, count, product].
    """
    topics, strength = range(snapshot.topic_count), snapshot.prior.strength.tolist()
    table = [[[t, n, 0.0] for t, n in held_descending(row)] for row in snapshot.rows(rows).tolist()]
    totals, alpha, base = (
        snapshot.normalisers.tolist(),
        snapshot.alpha.tolist(),
        snapshot.prior.base[rows].tolist(),
    )
    n_d, where, result = [0] * len(alpha), [None] * sum(occurrences), np.zeros(len(alpha), np.int64)

    def coef(t, more=0):
        return (alpha[t] + (n_d[t] + more)) / (totals[t] + (n_d[t] + more))

    for sweep in range(sweeps + 1):
        rest, i = smoothing_sum(strength, [coef(t) for t in topics]), 0
        for v, row in enumerate(table):
            q = row_sum([coef(t) for t in topics], [entry[:2] for entry in row])
            for entry in row:
                entry[2] = coef(entry[0]) * entry[1]
            for _ in range(occurrences[v]):
                out_q, out_rest, stay, here = q, rest, 0.0, where[i]
                if sweep and bug != "not taken out":
                    stay = coef(here[0], -1) * (here[1] - 1)
                    out_q, out_rest = (
                        q - here[2],
                        rest + strength[here[0]] * (coef(here[0], -1) - coef(here[0])),
                    )
                x = uniforms[sweep][i] * (stay + (out_q + base[v] * out_rest))
                i += 1
                if sweep and x < stay:
                    continue
                x, total, entry = x - stay, 0.0, None
                if sweep:
                    n_d[here[0]] -= 1
                    here[1], here[2] = here[1] - 1, 0.0
                for each in row if x < out_q else ():
                    total += each[2]
                    if total > x:
                        entry = each
                        break
                if entry is None:
                    t = draw_from_smoothing(
                        (x - out_q) / base[v], strength, [coef(t) for t in topics]
                    )
                    entry = next((each for each in row if each[0] == t), None) or next(
                        (each for each in row if each[1] == 0), None
                    )
                    if entry is None:
                        entry = [t, 0, 0.0]
                        row.append(entry)
                    entry[0] = t
                before = coef(entry[0])
                n_d[entry[0]] += 1
                entry[1] += 1
                where[i - 1] = entry
                if sweep:
                    here[2] = stay
                    out_q += stay
                product = coef(entry[0]) * entry[1]
                q, entry[2] = out_q + (product - entry[2]), product
                rest = out_rest + strength[entry[0]] * (coef(entry[0]) - before)
        if sweep > sweeps - kept:
            result += np.array(n_d)
    return result
