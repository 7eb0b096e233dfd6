import pytest

from beam_topics.model.errors import MisplacedOptionError, OptionError
from beam_topics.model.learners import LEARNER, Gibbs, OLda, ParticleFilter, Residual
from beam_topics.model.settings.compositions import chosen, compose, placements


def refused(**given):
    with pytest.raises(OptionError) as error:
        compose(LEARNER, given)
    return str(error.value)


def test_without_options_there_are_the_defaults():
    assert compose(LEARNER, {}) == Gibbs()
    assert compose(LEARNER, {"learner": "o-lda"}) == OLda()


def test_an_option_that_nothing_has_is_told_by_its_name():
    told = "--sweps is no option of any --learner. Correct the spelling, or leave it out."
    assert refused(sweps=3) == told


def test_options_reach_the_part_that_they_belong_to():
    made = compose(
        LEARNER,
        {
            "learner": "particle-filter",
            "resampling": "residual",
            "ess": 1.5,
            "topics": 3,
            "particles": 2,
        },
    )
    assert made == ParticleFilter(topics=3, particles=2, resampling=Residual(1.5))


@pytest.mark.parametrize(
    ("given", "told"),
    [
        (
            {"sweeps": 9},
            (
                "--sweeps=9 belongs to --schedule=archive; --schedule=stream is chosen. Leave it"
                " out, or give --schedule=archive."
            ),
        ),
        (
            {"schedule": "archive", "reservoir": 9},
            (
                "--reservoir=9 belongs to --schedule=stream; --schedule=archive is chosen. Leave it"
                " out, or give --schedule=stream."
            ),
        ),
        (
            {"learner": "o-lda", "moves": 3},
            (
                "--moves=3 belongs to --learner=gibbs, incremental-gibbs or particle-filter;"
                " --learner=o-lda is chosen. Leave it out, or give --learner=gibbs."
            ),
        ),
        (
            {"learner": "infvoc", "ess": 0.5},
            ("; --learner=infvoc is chosen. Leave it out, or give --learner=particle-filter."),
        ),
        (
            {"learner": "infvoc", "vocabulary": "null"},
            "--vocabulary=null belongs to --learner=fixvoc-hybrid or fixvoc-vb; ",
        ),
        (
            {"vocabulary_file": ("a", "b")},
            "--vocabulary_file=(2 words) belongs to --vocabulary=given; --vocabulary=growing is",
        ),
        (
            {"learner": "particle-filter", "initial": "none", "chains": 2},
            "--chains=2 belongs to --initial=batch; --initial=none is chosen.",
        ),
        (
            {"learner": "incremental-gibbs", "moves": 0, "rejuvenation_unit": "token"},
            "--rejuvenation_unit=token has an effect only where --moves is above 0.",
        ),
    ],
)
def test_an_option_without_effect_is_refused_with_where_it_belongs(given, told):
    assert told in refused(**given)


def test_an_option_that_is_misplaced_is_known_by_its_error():
    with pytest.raises(MisplacedOptionError) as error:
        compose(LEARNER, {"sweeps": 9})
    assert error.value.option == "--sweeps"


def test_what_is_chosen_lists_the_options_that_belong_to_it():
    found = chosen(LEARNER, {"learner": "incremental-gibbs", "rejuvenation": "tokens"})
    assert found.kinds["rejuvenation"] == "tokens" and found.kinds["vocabulary"] == "growing"
    assert "rejuvenation_unit" in found.options
    assert not {"ess", "vocabulary_file", "births"} & set(found.options)


@pytest.mark.parametrize("name", sorted({place.option.name for place in placements(LEARNER)}))
def test_an_option_has_one_type_and_one_place_in_each_composition(name):
    found = [place for place in placements(LEARNER) if place.option.name == name]
    assert len({place.option.value_type for place in found}) <= 1
    paths = [dict(place.path) for place in found]
    for at, one in enumerate(paths):
        for other in paths[at + 1 :]:
            assert any(one[flag] != other[flag] for flag in set(one) & set(other)), (
                f"--{name} stands twice in one composition"
            )
