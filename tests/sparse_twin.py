"""A slow twin of SparseLDA: rows as sorted lists made anew for every token, the same additions in the same order, the same bits."""

import numpy as np

BUGS = ("prior's part twice", "token not taken out of q", "sums never updated")


def descending(counts):
    """(topic, count) of a row, as the packed entries are sorted: by count and then topic, both descending."""
    return sorted(((t, n) for t, n in enumerate(counts) if n), key=lambda entry: (-entry[1], -entry[0]))


def held_descending(counts):
    """The same of a model's row: ties in ascending order of the topics."""
    return sorted(((t, n) for t, n in enumerate(counts) if n), key=lambda entry: (-entry[1], entry[0]))


def row_sum(coef, entries):
    """Entry i is added in lane i % 8; then halves are added to halves."""
    lanes = [0.0] * 8
    for i, (t, n) in enumerate(entries):
        lanes[i % 8] += coef[t] * n
    while len(lanes) > 1:
        half = len(lanes) // 2
        lanes = [a + b for a, b in zip(lanes[:half], lanes[half:], strict=True)]
    return lanes[0]


def from_prior(x, r, n_d, alpha, share):
    """The topic at x in [0, r + s): a document's topics are passed by sixteen at a time."""
    start, total, new = 0, 0.0, 0
    if x < r:
        while start + 16 <= len(alpha):
            lanes = [0.0] * 4
            for t in range(start, start + 16):
                lanes[t % 4] += n_d[t] * share[t]
            block = (lanes[0] + lanes[1]) + (lanes[2] + lanes[3])
            if total + block > x:
                break
            total, start = total + block, start + 16
        entries = [(t, n_d[t] * share[t]) for t in range(start, len(alpha)) if n_d[t]]
    else:
        total, entries = r, [(t, alpha[t] * share[t]) for t in range(len(alpha))]
    for t, part in entries:
        total, new = total + part, t
        if total > x:
            break
    return new


def slow_sparse(snapshot, rows, texts, sweeps, uniforms, bug=None):
    """(topics of each document's tokens, n_td) after a first pass and ``sweeps`` sweeps; ``uniforms(document, sweep, n)``."""
    topics, strength = range(snapshot.topic_count), snapshot.prior.strength.tolist()
    held = [held_descending(row) for row in snapshot.rows(rows).tolist()]
    totals, alpha, base = snapshot.normalisers.tolist(), snapshot.alpha.tolist(), snapshot.prior.base[rows].tolist()
    own, own_totals = [[0] * len(alpha) for _ in held], [0] * len(alpha)
    counts, states = [[0] * len(alpha) for _ in texts], [[-1] * len(text) for text in texts]
    for sweep in range(sweeps + 1):
        for d, text in enumerate(texts):
            n_d, r, s = counts[d], 0.0, 0.0
            inverse = [1.0 / (totals[t] + own_totals[t]) for t in topics]
            coef = [(alpha[t] + n_d[t]) * inverse[t] for t in topics]
            for t in topics:
                r += n_d[t] * (strength[t] * inverse[t])
                s += alpha[t] * (strength[t] * inverse[t])
            for i, (v, u) in enumerate(zip(text, uniforms(d, sweep, len(text)), strict=True)):
                old, out_r, out_s, before = states[d][i], r, s, None
                if old >= 0:
                    before = inverse[old], coef[old]
                    own_totals[old] -= 1
                    n_d[old] -= 1
                    inverse[old] = 1.0 / (totals[old] + own_totals[old])
                    coef[old] = (alpha[old] + n_d[old]) * inverse[old]
                    if bug != "sums never updated":
                        out_r += strength[old] * (n_d[old] * inverse[old] - (n_d[old] + 1) * before[0])
                        out_s += strength[old] * (alpha[old] * (inverse[old] - before[0]))
                at_held = row_sum(coef, held[v])
                q = at_held + row_sum(coef, descending(own[v]))
                if old >= 0 and bug != "token not taken out of q":
                    q -= coef[old]
                weight = 2 * base[v] if bug == "prior's part twice" else base[v]
                x, new, total = u * (q + weight * (out_r + out_s)), -1, 0.0
                entries = []
                if x < at_held:
                    entries = [(t, coef[t] * n) for t, n in held[v]]
                elif x < q:
                    total = at_held
                    left = [(t, n - (t == old and bug != "token not taken out of q")) for t, n in descending(own[v])]
                    entries = [(t, coef[t] * n) for t, n in left if n > 0]
                for t, part in entries:
                    total, new = total + part, t
                    if total > x:
                        break
                if not entries:
                    new = from_prior((x - q) / weight, out_r, n_d, alpha, [strength[t] * inverse[t] for t in topics])
                own_totals[new] += 1
                n_d[new] += 1
                if new == old:
                    inverse[old], coef[old] = before
                    continue
                r, s, was = out_r, out_s, inverse[new]
                inverse[new] = 1.0 / (totals[new] + own_totals[new])
                coef[new] = (alpha[new] + n_d[new]) * inverse[new]
                if bug != "sums never updated":
                    r += strength[new] * (n_d[new] * inverse[new] - (n_d[new] - 1) * was)
                    s += strength[new] * (alpha[new] * (inverse[new] - was))
                if old >= 0:
                    own[v][old] -= 1
                own[v][new] += 1
                states[d][i] = new
    return states, np.array(counts)


def recounted(t, step, n_d, inverse, coef, totals, alpha, strength):
    """A token of the document joins or leaves a topic: how r and s change."""
    was = inverse[t]
    n_d[t] += step
    inverse[t] = 1.0 / (totals[t] + n_d[t])
    coef[t] = (alpha[t] + n_d[t]) * inverse[t]
    return strength[t] * (n_d[t] * inverse[t] - (n_d[t] - step) * was), strength[t] * (alpha[t] * (inverse[t] - was))


def slow_alone(snapshot, rows, text, sweeps, kept, uniforms):
    """n_td of a document alone, summed over the last states; ``uniforms[sweep]``. A row is a list of [topic, count, is the model's]."""
    topics, strength = range(snapshot.topic_count), snapshot.prior.strength.tolist()
    table = [[[t, n, True] for t, n in held_descending(row)] for row in snapshot.rows(rows).tolist()]
    totals, alpha, base = snapshot.normalisers.tolist(), snapshot.alpha.tolist(), snapshot.prior.base[rows].tolist()
    n_d, where, result = [0] * len(alpha), [None] * len(text), np.zeros(len(alpha), np.int64)
    for sweep in range(sweeps + 1):
        inverse = [1.0 / (totals[t] + n_d[t]) for t in topics]
        coef, r, s = [(alpha[t] + n_d[t]) * inverse[t] for t in topics], 0.0, 0.0
        for t in topics:
            r += n_d[t] * (strength[t] * inverse[t])
            s += alpha[t] * (strength[t] * inverse[t])
        for i, (v, u) in enumerate(zip(text, uniforms[sweep], strict=True)):
            row, out_r, out_s, old = table[v], r, s, None
            if sweep:
                old = where[i][0]
                before = inverse[old], coef[old]
                where[i][1] -= 1
                more_r, more_s = recounted(old, -1, n_d, inverse, coef, totals, alpha, strength)
                out_r, out_s = r + more_r, s + more_s
            q = row_sum(coef, [entry[:2] for entry in row])
            x, total, entry = u * (q + base[v] * (out_r + out_s)), 0.0, None
            for each in row if x < q else ():
                if each[1] > 0:
                    total, entry = total + coef[each[0]] * each[1], each
                    if total > x:
                        break
            if entry is None:
                t = from_prior((x - q) / base[v], out_r, n_d, alpha, [strength[t] * inverse[t] for t in topics])
                entry = next((each for each in row if each[0] == t), None)
                if entry is None:
                    entry = next((each for each in row if not each[2] and each[1] == 0), None)
                    if entry is None:
                        entry = [t, 0, False]
                        row.append(entry)
                    entry[0] = t
            entry[1] += 1
            where[i] = entry
            if entry[0] == old:
                n_d[old] += 1
                inverse[old], coef[old] = before
            else:
                more_r, more_s = recounted(entry[0], 1, n_d, inverse, coef, totals, alpha, strength)
                r, s = out_r + more_r, out_s + more_s
        if sweep > sweeps - kept:
            result += np.array(n_d)
    return result
