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
