import pytest

from model.errors import OptionError
from model.settings import LearnerSettings


@pytest.mark.parametrize("value", [0.0, -1.0, float("inf"), float("nan")])
@pytest.mark.parametrize(
    ("name", "usual"),
    [("alpha", "0.001 and 1"), ("beta", "0.001 and 1"), ("concentration", "100 and 10000"), ("base_concentration", "100 and 10000")],
)
def test_what_has_to_be_above_zero(name, usual, value):
    with pytest.raises(OptionError) as error:
        LearnerSettings(**{name: value})
    assert str(error.value) == f"--{name}: {value} was given; allowed is a finite number above 0. Usual values lie between {usual}."


@pytest.mark.parametrize(
    ("given", "said"),
    [
        (
            {"ess": 0.4},
            "--ess: 0.4 was given; allowed is 0, or what comes to 1 or more of the 2 particles of an island, not to 0.8. An eff",
        ),
        ({"particles": 8, "islands": 4, "ess": 2}, "allowed is 0, or what comes to 1 or more of the 2 particles of an island, not to 0.5."),
        ({"learner": "incremental-gibbs", "ess": 1}, "--ess: 1 was given; allowed is 0 unless --learner=particle-filter. Leave it out"),
        ({"learner": "o-lda", "ess": 0.5}, "--ess: 0.5 was given; allowed is 0 unless --learner=particle-filter. Leave it out"),
        (
            {"rejuvenation": "resampling"},
            "--rejuvenation: 'resampling' was given; allowed is document, tokens or never when --ess is 0. No",
        ),
        ({"newest": 0, "reservoir": 0}, "--rejuvenation: 'document' was given; allowed is never when --newest and --reservoir are both 0."),
        (
            {"word_list": ("a", "b"), "prior": "flat"},
            "--word_list: '2 words' was given; allowed is nothing with --prior=flat. That prior does not look at spelling",
        ),
    ],
)
def test_settings_that_contradict_each_other(given, said):
    with pytest.raises(OptionError) as error:
        LearnerSettings(**given)
    assert said in str(error.value)


@pytest.mark.parametrize(
    "given",
    [
        {"ess": 0.5},
        {"particles": 1, "ess": 0.4},
        {"rejuvenation": "resampling", "ess": 1},
        {"learner": "o-lda", "newest": 0, "reservoir": 0},
        {"newest": 0, "reservoir": 0, "moves": 0},
        {"learner": "infvoc", "prior": "flat", "word_list": ("a",)},
    ],
)
def test_settings_that_go_together(given):
    assert LearnerSettings(**given).topics == 50
