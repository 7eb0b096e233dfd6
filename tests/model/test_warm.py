from model.kernels.arrivals import first_pass
from model.kernels.chains import run_chains
from model.kernels.filter import filter_tokens
from model.kernels.gibbs3 import sample_document
from model.kernels.held_out import first_moment
from model.kernels.moves import move_units
from model.warm import warm


def test_the_kernels_that_jobs_use_are_compiled():
    warm()
    for kernel in (run_chains, filter_tokens, first_moment, sample_document, move_units, first_pass):
        assert kernel.signatures
