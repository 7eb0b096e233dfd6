"""Settings for tests: a learner's of options by name, a method's of fields."""

from beam_topics.model.inference import METHOD
from beam_topics.model.learners import LEARNER, learner_names
from beam_topics.model.settings.compositions import compose, placements

# Without the learner of the tests, which is registered where they import it.
REAL_LEARNERS = tuple(name for name in learner_names() if name != "fake")


def made(common=None, **own):
    """Settings of options; of ``common`` those that belong to what ``own`` chooses."""
    return compose(LEARNER, own, common or {})


def inferring(name="gibbs3", **common):
    """Settings of an inference method, without the fields that it does not have.

    One call serves all methods.
    """
    fields = {place.option.field: place.option.name for place in placements(METHOD)}
    return compose(
        METHOD, {"method": name}, {fields[field]: value for field, value in common.items()}
    )
