import pytest
from learner_options import made

from beam_topics.model.errors import OptionError
from beam_topics.model.learners import (
    AfterResampling,
    EveryDocument,
    EveryTokens,
    Flat,
    FullHistory,
    Given,
    Hierarchical,
    Infvoc,
    NoChallengers,
    NoInitialBatch,
    OLda,
    ParticleFilter,
    Reservoir,
    Residual,
    Urn,
)


@pytest.mark.parametrize("value", [0.0, -1.0, float("inf"), float("nan")])
@pytest.mark.parametrize(
    ("given", "name", "usual"),
    [
        ({}, "alpha", "0.001 and 1"),
        ({"prior": "flat"}, "beta", "0.001 and 1"),
        ({}, "concentration", "100 and 10000"),
        ({}, "base_concentration", "100 and 10000"),
    ],
)
def test_what_has_to_be_above_zero(given, name, usual, value):
    word = ", or auto" if name in ("alpha", "concentration") else ""
    with pytest.raises(OptionError) as error:
        made(**given, **{name: value})
    assert (
        str(error.value)
        == f"--{name}: {value} was given; allowed is a finite number above 0{word}. Usual values"
        f" lie between {usual}."
    )


@pytest.mark.parametrize(
    ("topics", "alpha"), [(2, 0.1), (25, 0.1), (50, 0.05), (100, 0.025), (1000, 0.0025)]
)
def test_alpha_goes_by_the_number_of_topics(topics, alpha):
    assert made(topics=topics).topic_alpha == pytest.approx(alpha)
    assert made(topics=topics, alpha=0.3).topic_alpha == 0.3
    assert made(topics="auto", max_topics=topics).topic_alpha == pytest.approx(alpha)


@pytest.mark.parametrize(
    ("make", "told"),
    [
        (
            lambda: ParticleFilter(particles=2, resampling=Residual(0.4)),
            "--ess: 0.4 was given; allowed is a value that comes to 1 or more of the 2 particles",
        ),
        (
            lambda: ParticleFilter(particles=8, islands=4, resampling=Residual(2)),
            "1 or more of the 2 particles of an island, not to 0.5.",
        ),
        (
            lambda: ParticleFilter(particles=2, resampling=Residual(3)),
            "--ess: 3.0 was given; allowed is at most --particles (2). Give a number of part",
        ),
        (
            lambda: Residual(0),
            (
                "--ess: 0 was given; allowed is a finite number above 0. Give --resampling=never to"
                " resample never."
            ),
        ),
        (
            lambda: ParticleFilter(resampling=Residual(0.5)),
            (
                "--resampling: 'residual' was given; allowed is never where an island has one"
                " particle. Give more --particles, or leave it out"
            ),
        ),
        (
            lambda: ParticleFilter(particles=3, islands=2),
            "--islands: 2 was given; allowed is a divisor of --particles (3). Each island",
        ),
        (
            lambda: ParticleFilter(particles=2, islands=2, initial=NoInitialBatch()),
            (
                "--initial: 'none' was given; allowed is batch when --islands is above 1. A shared"
                " initial batch gives all islands the same topics"
            ),
        ),
        (
            lambda: ParticleFilter(rejuvenation=AfterResampling()),
            (
                "--rejuvenation: 'resampling' was given; allowed is document, tokens or never with"
                " --resampling=never. No resampling triggers it then"
            ),
        ),
        (
            lambda: EveryDocument(history=Reservoir(newest=0, reservoir=0)),
            (
                "--rejuvenation: 'document' was given; allowed is never when --newest and"
                " --reservoir are both 0."
            ),
        ),
        (
            lambda: EveryDocument(moves=0, history=FullHistory()),
            "--moves: 0 was given; allowed is 1 or more with --history=full.",
        ),
        (
            lambda: EveryTokens(moves=0),
            "--moves: 0 was given; allowed is 1 or more with --rejuvenation=tokens.",
        ),
        (
            lambda: AfterResampling(moves=0),
            "--moves: 0 was given; allowed is 1 or more with --rejuvenation=resampling.",
        ),
        (
            lambda: ParticleFilter(particles=4, islands=4, resampling=Residual()),
            (
                "--resampling: 'residual' was given; allowed is never where an island has one"
                " particle. Give more --particles, or leave it out."
            ),
        ),
        (
            lambda: ParticleFilter(prior=Urn(word_list=("a", "b")), vocabulary=Given(("w",))),
            (
                "--word_list: '2 words' was given; allowed is no list with --vocabulary=given."
                " A given vocabulary does not use spelling"
            ),
        ),
    ],
)
def test_settings_that_contradict_each_other(make, told):
    with pytest.raises(OptionError) as error:
        make()
    assert told in str(error.value)


@pytest.mark.parametrize(
    "settings",
    [
        ParticleFilter(particles=2, resampling=Residual(0.5)),
        ParticleFilter(particles=4, resampling=Residual(1), rejuvenation=AfterResampling()),
        ParticleFilter(
            rejuvenation=EveryDocument(
                moves=0, history=Reservoir(newest=0, reservoir=0), challengers=NoChallengers()
            )
        ),
        ParticleFilter(prior=Flat(), vocabulary=Given(("w",))),
        ParticleFilter(prior=Hierarchical(word_list=("a",))),
        OLda(initial=NoInitialBatch()),
        Infvoc(word_list=("a",)),
    ],
    ids=repr,
)
def test_settings_that_go_together(settings):
    assert type(settings).from_json(settings.to_json()) == settings
    assert settings.canonical() == type(settings).from_json(settings.to_json()).canonical()
