import math
from dataclasses import dataclass

import pytest

from beam_topics.model.errors import DamagedDataError, OptionError
from beam_topics.model.settings.options import (
    MISSING,
    Kinds,
    Record,
    nested,
    option,
    options_of,
    part,
    plain_options,
)


class Shape(Record):
    """A kind of part."""


@dataclass(frozen=True)
class Round(Shape):
    kind = "round"
    radius: float = option(1.0, "its radius", above=0, usual="1 and 2")


@dataclass(frozen=True)
class Angular(Shape):
    kind = "angular"
    corners: int = option(3, "its corners", least=3)
    names: tuple[str, ...] = option((), "of the corners", file="lines")


@dataclass(frozen=True)
class Drawing(Record):
    scale: float = option(0.5, "its scale", least=0, most=1)
    title: str | None = option(None, "its title")
    dashed: bool = option(False, "whether lines are dashed", name="dashed_lines")
    shape: Shape = part(Round(), "what is drawn", Kinds(Round, Angular))


@dataclass(frozen=True)
class Later(Drawing):
    """What another release made of it: one option more, and one part more."""

    ink: str = option("black", "its colour", absent="black")
    frame: Shape = part(Round(), "what is around it", Kinds(Round, Angular), absent=Round())


@pytest.mark.parametrize(
    ("make", "told"),
    [
        (
            lambda: Round(0),
            (
                "--radius: 0 was given; allowed is a finite number above 0. Usual values lie"
                " between 1 and 2."
            ),
        ),
        (lambda: Round(math.nan), "--radius: nan was given"),
        (lambda: Round(math.inf), "--radius: inf was given"),
        (lambda: Round("1"), "--radius: '1' was given"),
        (lambda: Angular(2), "--corners: 2 was given; allowed is 3 or more. Correct the value."),
        (lambda: Angular(3.0), "--corners: 3.0 was given"),
        (lambda: Angular(True), "--corners: True was given"),
        (lambda: Drawing(1.5), "--scale: 1.5 was given; allowed is a number from 0 to 1."),
        (lambda: Drawing(dashed=1), "--dashed_lines: 1 was given; allowed is true or false."),
        (
            lambda: Drawing(shape="round"),
            "--shape: \"'round'\" was given; allowed is one of round, angular.",
        ),
    ],
)
def test_a_value_that_is_not_allowed_names_its_option(make, told):
    with pytest.raises(OptionError) as error:
        make()
    assert told in str(error.value)


def test_a_whole_number_is_the_same_as_a_float():
    assert Round(2).canonical() == Round(2.0).canonical()
    assert type(Round(2).radius) is float


@pytest.mark.parametrize(
    "made",
    [Drawing(), Drawing(1, "t", True, Angular(5, ("a", "b"))), Later(ink="red", frame=Angular())],
)
def test_json_there_and_back(made):
    assert type(made).from_json(made.to_json()) == made


def test_long_lists_are_named_where_it_is_to_be_brief():
    brief = Angular(4, ("a", "b")).to_json(brief=True)
    assert brief["names"]["words"] == 2 and len(brief["names"]["sha256"]) == 64
    assert Angular(4).to_json(brief=True)["names"] == []


def test_an_option_that_is_added_with_what_its_absence_means_changes_nothing():
    assert Later().canonical() == Drawing().canonical()
    assert Later.from_json(Drawing().to_json()) == Later()
    assert Later(ink="red").canonical() != Drawing().canonical()
    assert "frame" in Later(frame=Round(2)).to_json()


@pytest.mark.parametrize(
    ("values", "told"),
    [
        (
            {"colour": "red"},
            "Drawing.colour is not known here. Another release wrote it: use that release.",
        ),
        (
            {"shape": {"kind": "round", "depth": 1, "radius": 1}},
            "Drawing.shape.depth is not known here.",
        ),
        ({"shape": {"kind": "solid"}}, "Drawing.shape: 'solid' is not one of round, angular."),
        ({"shape": {"kind": ["round"]}}, "Drawing.shape: ['round'] is not one of"),
        ({"shape": 3}, "Drawing.shape: None is not one of"),
        (
            {"shape": {"kind": "round"}},
            (
                "Drawing.shape.radius is missing. Another release wrote these settings, or they are"
                " damaged."
            ),
        ),
        ({"scale": 2}, "Drawing: --scale: 2 was given"),
        ({"scale": "x"}, "Drawing: --scale: 'x' was given"),
    ],
)
def test_stored_settings_that_do_not_fit_are_refused(values, told):
    with pytest.raises(DamagedDataError) as error:
        Drawing.from_json({**Drawing().to_json(), **values})
    assert told in str(error.value)


def test_stored_settings_of_another_kind_are_refused():
    with pytest.raises(DamagedDataError, match="these are settings of kind 'angular', not 'round'"):
        Round.from_json(Angular().to_json())
    with pytest.raises(DamagedDataError, match="a JSON object, not 3"):
        Round.from_json(3)


def test_paths_name_their_options():
    flags = Later().flags("x")
    assert {at: (found.flag, found.absent) for at, found in flags.items()} == {
        "x.scale": ("--scale", MISSING),
        "x.title": ("--title", MISSING),
        "x.dashed": ("--dashed_lines", MISSING),
        "x.shape.kind": ("--shape", MISSING),
        "x.shape.radius": ("--radius", MISSING),
        "x.ink": ("--ink", "black"),
        "x.frame.kind": ("--frame", Round(1.0)),
        "x.frame.radius": ("--radius", MISSING),
    }


def test_what_is_allowed_comes_from_the_type():
    found = {item.field: item.value_type for item in options_of(Drawing) if item.kinds is None}
    assert found == {"scale": float, "title": str, "dashed": bool}


class Nameless(Shape):
    """A kind without a name."""


class Undecorated(Round):
    """A kind whose field is lost, because the class is not a dataclass of its own."""

    kind = "undecorated"
    holes: int = option(1, "its holes", least=0)


@dataclass
class Thawed(Shape):
    """A kind that is not frozen."""

    kind = "thawed"


@dataclass(frozen=True)
class AnotherRound(Shape):
    """A kind with a name that is taken."""

    kind = "round"


@dataclass(frozen=True)
class Undeclared(Shape):
    """A kind with a field that is not an option."""

    kind = "undeclared"
    width: float = 1.0


@pytest.mark.parametrize(
    ("kind", "told"),
    [
        (Nameless, 'Nameless has no name. Declare one in the class, as kind = "my-name".'),
        (Undecorated, "Undecorated is not a frozen dataclass. Write @dataclass(frozen=True)"),
        (Thawed, "Thawed is not a frozen dataclass. Write @dataclass(frozen=True) directly above"),
        (
            AnotherRound,
            f"AnotherRound: kind = 'round' is the name of {__name__}.Round. Choose another name.",
        ),
        (Undeclared, "Undeclared.width is not an option. Declare it with option(...) or part(...)"),
    ],
)
def test_a_kind_that_would_lose_its_name_or_an_option_is_refused(kind, told):
    kinds = Kinds(Round)
    with pytest.raises(TypeError) as error:
        kinds.register(kind)
    assert told in str(error.value)
    assert dict(kinds) == {"round": Round}
    with pytest.raises(TypeError):
        Kinds(Round, kind)


def test_a_kind_may_be_registered_again():
    kinds = Kinds(Round)
    assert kinds.register(Angular) is Angular and kinds.register(Angular) is Angular
    assert list(kinds) == ["round", "angular"]


@dataclass(frozen=True)
class Framed(Record):
    drawing: Round = nested(Round(2.0))
    widths: tuple[float, ...] = option((0.5, 1.0), "widths to try", unit="numbers", above=0)
    share: float = option(0.5, "a share", above=0, below=1)
    part: float = option(1.0, "a part", above=0, most=1)
    size: int = option(3 * 2**20, "its size", unit="bytes", least=1)
    drying: tuple[int, ...] = option((0,), "how long it dries", unit="durations", absent=(0,))


def test_a_nested_record_is_stored_and_has_options_of_its_own():
    made, names = Framed(drawing=Round(3)), ["widths", "share", "part", "size", "drying"]
    assert [item.name for item in plain_options(Framed)] == ["radius", *names]
    assert Framed.from_json({**made.to_json(), "widths": (0.5, 1.0)}) == made
    assert set(made.flags("x")) == {"x.drawing.radius", *(f"x.{name}" for name in names)}
    with pytest.raises(DamagedDataError, match="these are settings of kind 'angular', not 'round'"):
        Framed.from_json({**made.to_json(), "drawing": Angular().to_json()})


def test_a_nested_record_of_another_class_is_refused():
    with pytest.raises(OptionError, match="allowed is"):
        Framed(drawing=Angular())


@pytest.mark.parametrize(
    ("given", "told"),
    [
        ({"part": 1.5}, "--part: 1.5 was given; allowed is a number above 0 and at most 1."),
        ({"widths": ()}, "--widths: () was given; allowed is one or more numbers above 0."),
        ({"widths": (1.0, 0.0)}, "--widths: (1.0, 0.0) was given"),
        ({"share": 1.0}, "--share: 1.0 was given; allowed is a number between 0 and 1."),
        ({"share": 0.0}, "--share: 0.0 was given"),
        (
            {"drying": (0, -1)},
            "(0, -1) was given; allowed is one or more lengths of time, none, or",
        ),
        ({"drying": (1.5,)}, "--drying: (1.5,) was given"),
        ({"drying": 5}, "--drying: 5 was given"),
    ],
)
def test_bounds_of_lists_and_open_intervals(given, told):
    with pytest.raises(OptionError) as error:
        Framed(**given)
    assert told in str(error.value)


def test_values_are_shown_as_users_write_them():
    shown = {item.name: item.shown(item.default) for item in plain_options(Framed)}
    assert (shown["widths"], shown["size"], shown["drying"]) == ("0.5,1", "3", "none")
    drying = {item.name: item for item in plain_options(Framed)}["drying"]
    assert drying.shown((0, 90_000_000)) == "none,1min30s"


def test_lengths_of_time_are_stored_as_numbers():
    made = Framed(drying=(0, 5))
    assert made.to_json()["drying"] == [0, 5] and "drying" not in Framed().to_json()
    stored = {**made.to_json(), "widths": (0.5, 1.0)}
    assert Framed.from_json(stored) == made
    for wrong in ([0, "5"], ["none"], [True], [-5], 5):
        with pytest.raises(DamagedDataError):
            Framed.from_json({**stored, "drying": wrong})


def test_a_kind_with_a_nested_record_is_refused():
    @dataclass(frozen=True)
    class Nesting(Shape):
        kind = "nesting"
        inner: Round = nested(Round())

    with pytest.raises(TypeError, match=r"inner is a record of its own. Declare it with part"):
        Kinds(Nesting)
