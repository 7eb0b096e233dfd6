"""Every option of every learner changes what is learned in some run in which it is allowed.

The options, and the choices that lead to them, come from the settings themselves, so an option that
is added is tested too. Two runs differ in the option alone; the runs are small, and few documents
have to tell them apart. An option for which no other value is found, or whose values are alike in a
small run, gets two values in ``OTHER``; one that has an effect beside others only gets them in
``BESIDE``.

The same holds beside each value of another option that may turn something off: its least value, and
each of its kinds and names. There an option changes what is learned, or it is refused.
"""

import hashlib
from dataclasses import replace
from functools import cache
from types import MappingProxyType

import pytest
from corpora import document_of, minibatches_of
from learner_options import REAL_LEARNERS

from beam_topics.model.errors import OptionError
from beam_topics.model.learners import LEARNER, learner_for
from beam_topics.model.settings.compositions import compose, placements
from beam_topics.model.stored import wire

# Neighbours that belong together more and less, in more and fewer documents.
_PAIRED = [
    document_of(
        [f"n{(d * 11 + i * i) % 97}" for i in range(12)]
        + (["new", "york"] if d % 3 else ["york", f"n{d % 7}", "new"])
        + (["los", "angeles"] if d % 8 == 0 else ["los", f"n{d % 5}"])
        + ["old", f"n{d % 2}"],
        d,
        "ab"[d % 2],
    )
    for d in range(90)
]
WORDS = tuple(f"w{i}" for i in range(30))
# Long words, and labels that agree with the words, so that spelling and nMI matter.
DOCUMENTS = [
    document_of(
        [WORDS[(d * 7 + i * (1 + d % 3)) % (10 + 8 * (d % 3))] for i in range(6 + d % 9)],
        d,
        "ab"[d % 2],
    )
    for d in range(42)
]
# Sources matter to the bound on their share.
DOCUMENTS = [replace(document, sources=(f"s{d % 3}",)) for d, document in enumerate(DOCUMENTS)]
STREAM = minibatches_of(DOCUMENTS, 6)
LONG = {
    **dict.fromkeys(
        ("phrase_npmi", "phrase_documents"),
        minibatches_of(_PAIRED, 6),
    ),
}
# Small enough to be quick; taken where they belong.
SMALL = {
    "topics": 4,
    "particles": 4,
    "initial_documents": 10,
    "chains": 3,
    "initial_sweeps": 2,
    "moves": 4,
    "reservoir": 5,
    "max_words": 20,
    "sweeps": 2,
    "ess": 0.9,
    "truncation": 6,
    "reorder_every": 2,
    "buckets": 7,
    "vocabulary_file": WORDS[:12],
}
# Of options that need words; the others have two values below.
LISTS = {
    "vocabulary_file": (WORDS[:12], WORDS[:9]),
    "word_list": (WORDS[:8], ("anchor", "harbour", "sea")),
    "seeds": (("first: w1 w2",), ("first: w1 w3",)),
}
OTHER = {
    "max_words": (20, 15),
    "seed": (1, 2),
    "islands": (1, 2),
    "ess": (0.9, 0.3),
    "kappa": (0.6, 0.9),
    "stream_documents": (0, 500),
    "tau0": (64.0, 2.0),
    # ``auto`` is one of the two.
    "chains": (3, 1),
    "initial_documents": (10, 20),
    "duplicate_similarity": (0.1, 1.0),
    "max_source_share": (1.0, 0.1),
    "max_topics": (4, 6),
    "phrase_npmi": (0.2, 0.9),
    "phrase_documents": (5, 40),
}
# Options without effect in a run alone, with the options that give them one.
BESIDE = {
    "max_words": {"truncation": 30},
    "remainder": {"stick_concentration": 20.0},
    "max_topics": {"topics": "auto"},
    # Without resampling nothing is visited after it.
    "resampling": {"rejuvenation": "document"},
    # The newest documents stay where topics are born.
    "reservoir": {"births": "off"},
    "seed_strength": {"seeds": ("first: w1 w2",)},
}


# Learners that refuse phrases (test_refused_settings.py).
FIXED = ("fixvoc-vb", "fixvoc-hybrid")


def names_of(place):
    """The name of an option and those of the choices that lead to it."""
    return {place.option.name, *dict(place.path)}


def places():
    """Each option of each learner, with the choices that lead to it.

    One of the kinds is enough where only the outer ones differ.
    """
    found = {}
    for place in placements(LEARNER):
        learner = place.path[0][1]
        if learner not in REAL_LEARNERS or (learner in FIXED and "phrases" in names_of(place)):
            continue
        found.setdefault((place.path[0][1], place.option.name, place.path[-1]), place)
    return list(found.values())


def alternatives(place):
    """Two values of an option, or all its kinds but those that keep the same otherwise."""
    option = place.option
    if option.kinds is not None:
        return [kind for kind in option.kinds if kind != "tree"]
    if option.name in LISTS:
        return list(LISTS[option.name])
    if option.name in OTHER:
        return list(OTHER[option.name])
    if option.values:
        return list(option.values)
    start = SMALL.get(option.name, option.default)
    if start == option.word:
        return [option.word, 0.3]
    others = (start * 2, start / 2) if option.value_type is float else (start + 3, start - 3)
    return [start, next(value for value in others if allows(option, value))]


def allows(option, value):
    try:
        option.check(value)
    except OptionError:
        return False
    return True


def given(place, value, beside=MappingProxyType({})):
    """The settings with this value, beside values of other options, small otherwise."""
    name, chosen = place.option.name, {**dict(place.path), **beside}
    common = {**SMALL, **BESIDE.get(name, {})}
    if "dict" in str(value) or "dict" in chosen.get("vocabulary", ""):
        common["word_list"] = LISTS["word_list"][0]
    for used in (name, *beside):
        common.pop(used, None)
    return compose(LEARNER, {**chosen, name: value}, common)


@cache
def learned(settings, name=""):
    """The digests of the last island's state and of its model (batch Gibbs makes it on request)."""
    learner = learner_for(settings)
    state = learner.init(settings, "", settings.islands - 1)
    for minibatch in LONG.get(name, STREAM):
        learner.step(state, minibatch)
    model = learner.snapshot(state)
    arrays = model.counts, model.topics, model.prior.strength, model.alpha
    return hashlib.sha256(
        without_settings(learner.save(state)) + b"".join(array.tobytes() for array in arrays)
    ).hexdigest()


def without_settings(saved):
    """The state without its settings, which differ whatever was learned."""
    header, blobs = wire.unpack(saved[:4], saved)
    header.pop("settings", None)
    return wire.pack(saved[:4], header, *blobs)


@pytest.mark.parametrize(
    "place",
    places(),
    ids=lambda place: f"{place.path[0][1]}, {'='.join(place.path[-1])}: {place.option.name}",
)
def test_an_option_changes_what_is_learned(place):
    digests = {}
    for value in alternatives(place):
        digests.setdefault(learned(given(place, value), place.option.name), []).append(value)
    alike = [values for values in digests.values() if values[1:]]
    assert not alike, f"--{place.option.name}: no difference between {alike}"


# Beside these nothing is left to choose: a model of one topic, or of one word.
TRIVIAL = {
    ("topics", 1),
    ("max_words", 1),
    ("buckets", 1),
    ("truncation", 1),
    ("initial_documents", 1),
}
# Pairs (option, other option, its value) that are alike in runs this small, and not in all.
ALIKE_BY_CHANCE = {
    ("reservoir", "births", "on"),
    *((name, "vocabulary", "given") for name in ("resampling", "ess", "moves", "chains")),
}


def values_beside(other):
    """The values of an option that may turn others off. Seeds turn nothing off."""
    if other.kinds is not None or other.values:
        return list(other.kinds or other.values)
    if other.least is None or other.name == "seed":
        return []
    return [other.value_type(other.least)]


def pairs():
    """Each option of each learner beside each such value of every other option."""
    for name in REAL_LEARNERS:
        found = {}
        for place in placements(LEARNER):
            if place.path[0][1] == name:
                found.setdefault((place.option.name, place.path[-1]), place)
        for place in found.values():
            for other in found.values():
                path = {**dict(place.path), **dict(other.path)}
                if place.option.name == other.option.name or path != {
                    **dict(other.path),
                    **dict(place.path),
                }:
                    continue
                for value in values_beside(other.option):
                    if path.get(other.option.name, value) == value:
                        yield place, {**path, other.option.name: value}, other.option.name, value


@pytest.mark.slow
def test_beside_any_value_an_option_changes_what_is_learned_or_is_refused():
    wrong = []
    for place, path, other, value in pairs():
        if (other, value) in TRIVIAL or (place.option.name, other, value) in ALIKE_BY_CHANCE:
            continue
        digests = {}
        for alternative in alternatives(place):
            try:
                settings = given(place, alternative, path)
            except OptionError:
                continue
            digests.setdefault(learned(settings), []).append(alternative)
        if alike := [values for values in digests.values() if values[1:]]:
            wrong.append(
                f"{place.path[0][1]}: --{place.option.name} of {alike} beside --{other}={value}"
            )
    assert not wrong, "\n".join(wrong)
