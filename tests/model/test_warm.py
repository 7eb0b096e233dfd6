"""What :mod:`beam_topics.model.warm` compiles."""

from beam_topics.model.evaluation.kernels.held_out import first_moment
from beam_topics.model.inference.kernels.gibbs3 import sample_documents
from beam_topics.model.learners.engine.kernels import figures, held_topics, tables
from beam_topics.model.warm import warm
from beam_topics.model.words.kernels import form_table


def test_the_kernels_that_jobs_use_are_compiled():
    warm()
    for kernel in (
        first_moment,
        sample_documents,
        held_topics.completed,
        held_topics.first_topics,
        held_topics.learn_new,
        held_topics.mixtures,
        held_topics.scores,
        figures.log_joint,
        figures.main_topics,
        tables.draw_base,
        tables.draw_strengths,
        tables.seat,
        form_table.look_up,
        form_table.settle,
        form_table.join_signs,
    ):
        assert kernel.signatures, kernel
