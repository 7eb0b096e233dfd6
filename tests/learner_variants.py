"""Settings of every registered learner, and of the main choices of each family.

The battery of learners runs over them. A learner that is added is here by itself, under its name,
and so is a kind of a part that no other settings choose, for example a prior.
"""

from dataclasses import replace

from learner_options import REAL_LEARNERS, made

from beam_topics.model.learners import LEARNER
from beam_topics.model.learners.engine.settings import LocalBirths
from beam_topics.model.learners.variational.settings import VariationalSettings
from beam_topics.model.settings.compositions import placements
from beam_topics.model.settings.options import Record, options_of

# Taken where they belong.
SMALL = {
    "topics": 3,
    "particles": 4,
    "initial_documents": 15,
    "chains": 3,
    "initial_sweeps": 4,
    "moves": 3,
    "reservoir": 13,
    "max_words": 400,
    "sweeps": 4,
    "ess": 0.9,
}
FILTER = {"learner": "particle-filter"}
UNITWISE = {**FILTER, "rejuvenation_unit": "token"}
TOKENWISE = {**UNITWISE, "reservoir": 60}
CHAINS = {**FILTER, "resampling": "never", "rejuvenation": "document"}
PHRASES = {"phrase_npmi": 0.05, "phrase_documents": 2}
VARIANTS = {
    **{name: {"learner": name} for name in REAL_LEARNERS},
    "multinomial": {**FILTER, "resampling": "multinomial"},
    **{
        f"by tokens, {scheme}": {**TOKENWISE, "resampling": scheme}
        for scheme in ("residual", "multinomial")
    },
    "no initial batch": {**FILTER, "initial": "none"},
    "near copies once": {"duplicates": "count_once"},
    "near copies dropped": {"duplicates": "drop"},
    "bounded sources": {"max_source_share": 0.2},
    "bounded sources, near copies once": {"max_source_share": 0.2, "duplicates": "count_once"},
    "phrases": {"phrases": "learned", **PHRASES},
    "phrases, frequent words left out": {"phrases": "learned", "max_df": 0.5, **PHRASES},
    "phrases, near copies once": {"phrases": "learned", "duplicates": "count_once", **PHRASES},
    "phrases, infvoc": {"learner": "infvoc", "phrases": "learned", **PHRASES},
    "phrases, particles": {**FILTER, "phrases": "learned", **PHRASES},
    "frequent words left out": {"max_df": 0.2},
    "by tokens, no initial batch": {**TOKENWISE, "initial": "none"},
    "full history": {**FILTER, "history": "full"},
    "full history, token units": {
        **FILTER,
        "history": "full",
        "rejuvenation_unit": "token",
        "particles": 6,
        "initial": "none",
    },
    "full history, by tokens": {**UNITWISE, "history": "full"},
    "by tokens, after documents": {**UNITWISE, "rejuvenation": "document"},
    "incremental, by tokens": {
        "learner": "incremental-gibbs",
        "rejuvenation": "tokens",
        "rejuvenation_unit": "token",
    },
    "never": {**FILTER, "rejuvenation": "never"},
    "chains": CHAINS,
    "chains, full vocabulary": {**CHAINS, "max_words": 40},
    "chains, token units": {
        **CHAINS,
        "rejuvenation_unit": "token",
        "reservoir": 70,
        "moves": 30,
        "initial": "none",
    },
    "one chain": {**FILTER, "chains": 1},
    "initial batch of one": {**FILTER, "initial_documents": 1},
    "initial batch never ends": {**FILTER, "initial_documents": 1000},
    "given vocabulary": {
        **FILTER,
        "vocabulary": "given",
        "vocabulary_file": tuple(f"w{i}" for i in range(25)),
    },
    "full vocabulary": {**FILTER, "max_words": 20},
    "only unknown words": {**FILTER, "vocabulary": "given", "vocabulary_file": ("absent",)},
    "one topic": {**FILTER, "topics": 1},
    "more topics than tokens": {
        **FILTER,
        "topics": 7000,
        "initial_documents": 2,
        "initial_sweeps": 1,
        "chains": 1,
        "particles": 2,
        "moves": 1,
    },
    "one particle": {**CHAINS, "particles": 1},
    "an absolute threshold": {**FILTER, "ess": 3.0},
    "second of two islands": {**FILTER, "islands": 2},
    "every particle an island": {**CHAINS, "islands": 4},
    "fixvoc-vb, given": {
        "learner": "fixvoc-vb",
        "vocabulary": "given",
        "vocabulary_file": ("w1", "w2", "absent"),
    },
    "fixvoc-vb, null": {"learner": "fixvoc-vb", "vocabulary": "null"},
    "fixvoc-hybrid, dict": {
        "learner": "fixvoc-hybrid",
        "vocabulary": "dict",
        "word_list": ("absent", "w1", "w2", "w3"),
    },
    "fixvoc-hybrid, dict-hash": {
        "learner": "fixvoc-hybrid",
        "vocabulary": "dict-hash",
        "word_list": ("absent", "w1", "w2"),
    },
    "fixvoc-hybrid, full-hash": {
        "learner": "fixvoc-hybrid",
        "vocabulary": "full-hash",
        "buckets": 20,
    },
    "fixvoc-vb, kappa 0": {"learner": "fixvoc-vb", "kappa": 0.0},
    "fixvoc-vb, only unknown words": {
        "learner": "fixvoc-vb",
        "vocabulary": "given",
        "vocabulary_file": ("absent",),
    },
    "infvoc, word list": {"learner": "infvoc", "word_list": ("words", "of", "a", "list")},
    "infvoc, contracting": {"learner": "infvoc", "truncation": 5, "reorder_every": 2},
    "infvoc, few words": {"learner": "infvoc", "max_words": 30, "reorder_every": 2},
    "infvoc, kappa 0": {"learner": "infvoc", "kappa": 0.0, "reorder_every": 3},
    "infvoc, as printed": {
        "learner": "infvoc",
        "remainder": "printed",
        "stream_documents": 500,
        "tau0": 1.0,
    },
    "infvoc, one topic": {"learner": "infvoc", "topics": 1},
    "gibbs, moves 0": {"learner": "gibbs", "moves": 0},
    "gibbs, tiny reservoir": {"learner": "gibbs", "births": "off", "reservoir": 2},
    "gibbs, nothing at hand": {"learner": "gibbs", "births": "off", "reservoir": 0},
    "gibbs, everything at hand": {"learner": "gibbs", "reservoir": 1000},
    "gibbs, fixed alpha": {"learner": "gibbs", "alpha": 0.2},
    "gibbs, given": {
        "learner": "gibbs",
        "vocabulary": "given",
        "vocabulary_file": tuple(f"w{i}" for i in range(25)),
    },
    "gibbs, only unknown words": {
        "learner": "gibbs",
        "vocabulary": "given",
        "vocabulary_file": ("absent",),
    },
    "gibbs, full vocabulary": {
        "learner": "gibbs",
        "births": "off",
        "max_words": 20,
    },
    "gibbs, one topic": {"learner": "gibbs", "births": "off", "topics": 1},
    "gibbs, seeds": {"learner": "gibbs", "seeds": ("first: w1 w2^7", "second: w3 w1")},
    "gibbs, seeds, archive": {
        "learner": "gibbs",
        "schedule": "archive",
        "seeds": ("first: w1 w2^7", "second: w3 absent"),
    },
    "gibbs, phrases": {"learner": "gibbs", "phrases": "learned", **PHRASES},
    "gibbs, near copies once": {"learner": "gibbs", "duplicates": "count_once"},
    "gibbs, no births": {"learner": "gibbs", "births": "off"},
    "gibbs, learned topics": {"learner": "gibbs", "topics": "auto"},
    "gibbs, one topic learned": {
        "learner": "gibbs",
        "topics": "auto",
        "max_topics": 1,
        "reservoir": 3,
    },
    "gibbs, births, small": {"learner": "gibbs", "births": "small", "reservoir": 20},
    "gibbs, births, full vocabulary": {
        "learner": "gibbs",
        "births": "small",
        "max_words": 25,
    },
    "gibbs, archive": {"learner": "gibbs", "schedule": "archive"},
    "gibbs, archive, full vocabulary": {
        "learner": "gibbs",
        "schedule": "archive",
        "max_words": 20,
    },
}


class SmallBirths(LocalBirths):
    """Births in streams of some hundred documents; all wagers are easily won."""

    apart = 3
    delay = 30
    begins = 10
    every = 12
    pasts = 2
    level = 0.9
    controls = 2
    patience = 40
    window = 30
    least = 1
    judges = 5


class QuickBirths(LocalBirths):
    """Births in streams of some thousand documents, with the wagers as they are."""

    delay = 1200
    begins = 400
    every = 200
    window = 1500
    controls = 40


def small(**others):
    """Settings, with those of SMALL that belong to them."""
    if others.get("births") != "small":
        return made(SMALL, **others)
    found = made(SMALL, **{**others, "births": "on"})
    return replace(found, schedule=replace(found.schedule, births=SmallBirths()))


def settings_of(variant):
    return small(**VARIANTS[variant])


def records_in(settings):
    """The classes of settings and of all their parts, with those that they derive from."""
    parts = (getattr(settings, item.field) for item in options_of(type(settings)))
    inner = (records_in(part) for part in parts if isinstance(part, Record))
    return set(type(settings).__mro__).union(*inner)


def _left_out():
    """Options that choose each kind that no settings above choose, by its name."""
    seen = set().union(*(records_in(settings_of(name)) for name in VARIANTS))
    for place in placements(LEARNER):
        for kind, record in (place.option.kinds or {}).items():
            if record not in seen:
                seen.add(record)
                yield kind, {**dict(place.path), place.option.name: kind}


VARIANTS |= dict(_left_out())
VARIATIONAL = [name for name in VARIANTS if isinstance(settings_of(name), VariationalSettings)]
