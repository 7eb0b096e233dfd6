"""Settings of learners that contradict each other, and what the error says."""

import pytest
from learner_variants import small

from beam_topics.model.errors import OptionError


@pytest.mark.parametrize(
    ("others", "said"),
    [
        (
            {"vocabulary": "given", "vocabulary_file": ("w1",), "phrases": "learned"},
            (
                r"--phrases: 'learned' was given; allowed is none with words that are known in"
                r" advance or may no longer join\. Use --vocabulary=growing"
            ),
        ),
        (
            {"learner": "fixvoc-vb", "phrases": "learned"},
            r"--phrases: 'learned' was given; allowed is none with words .* or infvoc\.",
        ),
        (
            {"learner": "fixvoc-vb", "vocabulary": "full-hash", "buckets": 9, "max_df": 0.5},
            (
                r"--max_df: 0\.5 was given; allowed is 1 with a vocabulary that hashes words\."
                r" Use another --vocabulary\."
            ),
        ),
        (
            {"learner": "incremental-gibbs", "rejuvenation": "resampling"},
            (
                r"--rejuvenation=resampling belongs to --learner=particle-filter;"
                r" --learner=incremental-gibbs is chosen"
            ),
        ),
        (
            {"learner": "batch-gibbs", "islands": 2},
            r"--islands=2 belongs to --learner=.*; --learner=batch-gibbs is chosen",
        ),
        *(
            (
                {"learner": name, "islands": 2},
                (
                    rf"--islands=2 belongs to --learner=.*particle-filter.*; --learner={name} is"
                    r" chosen"
                ),
            )
            for name in ("fixvoc-vb", "infvoc")
        ),
        (
            {"learner": "infvoc", "vocabulary": "null"},
            r"--vocabulary=null belongs to --learner=fixvoc-hybrid or fixvoc-vb; .*infvoc is",
        ),
        (
            {"learner": "infvoc", "stick_concentration": 0.5},
            r"--stick_concentration: 0.5 .* allowed is 1 or more",
        ),
        (
            {"vocabulary": "full-hash"},
            (
                r"--vocabulary=full-hash belongs to --learner=fixvoc-hybrid or fixvoc-vb;"
                r" --learner=gibbs"
            ),
        ),
        (
            {"learner": "fixvoc-vb", "vocabulary": "dict"},
            r"--vocabulary: 'dict' .* a list of words .* --word_list",
        ),
        (
            {"learner": "lda"},
            r"--learner: 'lda' was given; allowed is one of .*particle-filter",
        ),
    ],
)
def test_settings_that_a_learner_cannot_have(others, said):
    with pytest.raises(OptionError, match=said):
        small(**others)
