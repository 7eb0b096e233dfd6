"""Every registered learner obeys the laws of the contract; ``learner_battery.py`` has them.

``-k NAME`` runs the laws for one learner.
"""

import pytest
from learner_battery import LAWS, LAWS_OF_LEARNERS
from learner_options import REAL_LEARNERS
from learner_variants import VARIANTS, settings_of

# Words may leave while documents that have them wait for a duel, so the summary counts less.
EXCEPT = {("steps_add_up_to_the_summary", "challenged, minimal, full vocabulary")}


@pytest.mark.parametrize("law", LAWS, ids=lambda law: law.__name__)
@pytest.mark.parametrize("variant", VARIANTS)
def test_a_law(variant, law):
    if (law.__name__, variant) in EXCEPT:
        pytest.skip("not a law of these settings")
    law(settings_of(variant))


@pytest.mark.parametrize("law", LAWS_OF_LEARNERS, ids=lambda law: law.__name__)
@pytest.mark.parametrize("name", REAL_LEARNERS)
def test_a_law_of_a_learner(name, law):
    law(settings_of(name))
