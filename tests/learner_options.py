"""Settings for tests: a learner's of options by name, a method's of fields."""

from dataclasses import dataclass, replace
from functools import cache

from beam_topics.model.compositions import compose, placements
from beam_topics.model.inference import METHOD
from beam_topics.model.learners import LEARNER, Challengers, learner_names

# Without the learner of the tests, which is registered where they import it.
REAL_LEARNERS = tuple(name for name in learner_names() if name != "fake")


def made(common=None, **own):
    """Settings of options; of ``common`` those that belong to what ``own`` chooses.

    Particles are not challenged unless an option says so: histories of tests are short. For the
    same reason ``judges`` says how many documents decide a duel, which users cannot choose.
    """
    common = {"challengers": "off", **(common or {})}
    judges = own.pop("judges", common.pop("judges", None))
    if judges is None or own.get("challengers", common["challengers"]) == "off":
        return compose(LEARNER, own, common)
    test = {name: own.pop(name) for name in ("false_alarms",) if name in own}
    own.pop("challengers", None)
    return judged_by(compose(LEARNER, own, {**common, "challengers": "off"}), judges, **test)


def judged_by(settings, judges, **test):
    """These settings with challengers, and so few judges."""
    challengers = few_judges(judges)(**test)
    return replace(settings, rejuvenation=replace(settings.rejuvenation, challengers=challengers))


@cache
def few_judges(number):
    """Settings of challengers that differ in the number of judges."""

    @dataclass(frozen=True)
    class FewJudges(Challengers):
        judges = number

    return FewJudges


def inferring(name="gibbs3", **common):
    """Settings of an inference method, without the fields that it does not have.

    One call serves all methods.
    """
    fields = {place.option.field: place.option.name for place in placements(METHOD)}
    return compose(
        METHOD, {"method": name}, {fields[field]: value for field, value in common.items()}
    )
