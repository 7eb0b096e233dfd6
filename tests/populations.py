"""A population of particles beside a slow twin of each, compared bit by bit."""

import numpy as np
from twins import Particle, uniform

from beam_topics.model.kernels.random import FIRST_PASS, MOVE, TABLE_DRAWS
from beam_topics.model.learners.particles.history import WHOLE_DOCUMENT, History
from beam_topics.model.learners.particles.kernels.copy_on_write import new_table, row_of
from beam_topics.model.learners.particles.kernels.first_pass import (
    first_pass,
    new_token_draws,
    write_draws,
)
from beam_topics.model.learners.particles.kernels.particles import Draws, Prior
from beam_topics.model.learners.particles.kernels.parts import PART
from beam_topics.model.learners.particles.kernels.rejuvenation import move_units
from beam_topics.model.learners.particles.kernels.resampling import resample
from beam_topics.model.learners.particles.kernels.table_counts import closing_probabilities
from beam_topics.model.learners.particles.population import new_population, with_capacity
from beam_topics.model.learners.particles.priors import parts_each, word_rows
from beam_topics.model.learners.particles.rejuvenation import Reservoir

KEY = (5, 6)


def new_prior(topics, words, discount=0.0, kind=None, seed=0):
    generator = np.random.default_rng(seed)
    alpha = np.zeros(-(-topics // 8) * 8)
    alpha[:topics] = generator.uniform(0.05, 0.9, topics)
    base = generator.dirichlet(np.ones(words))
    tables = (None, "minimal", "sampled").index(kind)
    return Prior(
        alpha,
        sum(alpha[:topics].tolist()),
        base,
        1.7,
        2.9,
        discount,
        tables,
        closing_probabilities(discount, tables),
    )


class Pair:
    """Kernels and twins side by side. Documents are numbered by their slots."""

    def __init__(
        self,
        topics,
        words,
        *,
        particles=3,
        discount=0.0,
        kind=None,
        wide=False,
        bug=None,
        parted=False,
    ):
        self.topics, self.words, self.particles = topics, words, particles
        self.prior = new_prior(topics, words, discount, kind)
        self.history = History(Reservoir(newest=1000))
        self.population = new_population(self.prior, particles, 1)
        if parted:
            length = (2 if self.prior.tables else 1) * PART
            self.population = self.population._replace(words=new_table(particles, 1, length, 1))
        assert bool(parts_each(self.population)) == parted
        if wide:
            self.population = self.population._replace(
                words=self.population.words._replace(
                    rows=self.population.words.rows.astype(np.int64)
                )
            )
        self.generations = np.array([0, 0, 0, particles], np.int64)
        alpha, base = self.prior.alpha[:topics].tolist(), self.prior.base.tolist()
        self.twins = [
            Particle(
                alpha,
                base,
                self.prior.a,
                discount=discount,
                bug=bug,
                kind=kind,
                base_a=self.prior.base_a,
                parted=parted,
            )
            for _ in range(particles)
        ]
        for twin in self.twins:
            twin.weight = (1 / particles, 0)
        self.drawn = self.moved = 0

    def room(self, units, longest):
        pages = len(self.history.pages.words)
        self.population = with_capacity(
            self.population,
            writers=self.particles,
            units=units,
            longest=longest,
            words=self.words,
            pages=pages,
            threads=1,
        )

    def learn(self, text, parts=(), evenly=False):
        """Run the first pass over a document, in one call or in ranges that end at ``parts``."""
        slot = self.history.begin(np.array(text, np.int32), None)
        begin = 0
        for stop in (*parts, len(text)):
            self.room(1, len(text))
            draws = Draws(*KEY, 1, FIRST_PASS)
            new = new_token_draws(
                self.history.pages, slot, begin, stop, self.particles, len(self.prior.alpha), True
            )
            first_pass(
                self.population,
                self.prior,
                self.history.pages,
                draws,
                new,
                self.drawn,
                evenly,
                0,
                self.particles,
            )
            write_draws(
                self.population,
                self.history.pages,
                new,
                np.arange(self.particles),
                0,
                self.particles,
                0,
            )
            begin = stop
        for p, twin in enumerate(self.twins):
            table_uniforms = [
                uniform(2 * (self.drawn + i), KEY, p, 1, FIRST_PASS + TABLE_DRAWS)
                for i in range(len(text))
            ]
            twin.learn(
                slot,
                text,
                [uniform(self.drawn + i, KEY, p, 1, FIRST_PASS) for i in range(len(text))],
                evenly,
                table_uniforms,
            )
        self.drawn += len(text)
        return slot

    def move(self, units):
        """Visit (slot, position) units; a position of -1 is the whole document."""
        slots, positions = (
            np.array([s for s, _ in units], np.int32),
            np.array([i for _, i in units], np.int64),
        )
        self.room(len(units), max(int(self.history.pages.length.max()), 1))
        draws = Draws(*KEY, 1, MOVE)
        move_units(
            self.population,
            self.prior,
            self.history.pages,
            draws,
            slots,
            positions,
            self.moved,
            0,
            self.particles,
            0,
        )
        single = [
            (s, i)
            for s, at in units
            for i in (range(len(self.twins[0].texts[s])) if at == WHOLE_DOCUMENT else (at,))
        ]
        for p, twin in enumerate(self.twins):
            for n, (s, i) in enumerate(single):
                table_uniforms = [
                    uniform(2 * (self.moved + n) + k, KEY, p, 1, MOVE + TABLE_DRAWS) for k in (0, 1)
                ]
                twin.move(s, i, uniform(self.moved + n, KEY, p, 1, MOVE), table_uniforms)
            fraction, shift = np.frexp(twin.joint[0])
            twin.joint = (float(fraction), twin.joint[1] + int(shift))
        self.moved += len(single)

    def resample(self, ancestors):
        resample(self.population, np.array(ancestors, np.int64), self.generations)
        self.twins = [
            twin if p == a else self.twins[a].child()
            for p, (twin, a) in enumerate(zip(self.twins, ancestors, strict=True))
        ]
        for twin in self.twins:
            twin.weight = (1 / self.particles, 0)

    def row(self, table, p, i):
        return table.rows[row_of.py_func(table, p, i)]

    def assert_same(self):
        population, topics = self.population, self.topics
        for p, twin in enumerate(self.twins):
            assert (population.joint[p], population.joint_exponent[p]) == twin.joint
            assert (population.weight[p], population.weight_exponent[p]) == twin.weight
            assert population.totals[p, :topics].tolist() == twin.totals
            assert population.topic_tables[p, :topics].tolist() == twin.topic_tables
            assert population.tables[p] == sum(twin.topic_tables)
            rows, tp = (
                word_rows(population, p, np.arange(self.words)),
                len(self.prior.alpha),
            )
            assert [row[:topics].tolist() for row in rows] == twin.words
            if self.prior.tables:
                assert [row[tp : tp + topics].tolist() for row in rows] == twin.tables
                assert [row[2 * tp] for row in rows] == [sum(tables) for tables in twin.tables]
            for slot, drawn in twin.topics.items():
                pages = [
                    self.row(population.topics, p, page) for page in self.history.pages_of(slot)
                ]
                assert np.concatenate(pages)[: len(drawn)].tolist() == drawn
            assert not population.totals[p, topics:].any()
