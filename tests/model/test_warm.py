from beam_topics.model.evaluation.kernels.held_out import first_moment
from beam_topics.model.gibbs.kernels.gibbs3 import sample_documents
from beam_topics.model.learners.particles.kernels.arrivals import divergence, sum_documents
from beam_topics.model.learners.particles.kernels.chains import run_chains
from beam_topics.model.learners.particles.kernels.first_pass import first_pass
from beam_topics.model.learners.particles.kernels.losses import nearest_pair, update_nearest
from beam_topics.model.learners.particles.kernels.rejuvenation import move_units
from beam_topics.model.learners.particles.kernels.restarting import absorb
from beam_topics.model.learners.particles.kernels.token_filter import filter_tokens
from beam_topics.model.learners.particles.kernels.topic_weights import draw_weights
from beam_topics.model.warm import warm


def test_the_kernels_that_jobs_use_are_compiled():
    warm()
    for kernel in (
        run_chains,
        filter_tokens,
        first_moment,
        sample_documents,
        move_units,
        first_pass,
        sum_documents,
        divergence,
        nearest_pair,
        update_nearest,
        absorb,
        draw_weights,
    ):
        assert kernel.signatures
