"""What an input is: how its files are written, and which of their fields are what.

:mod:`beam_topics.model.profile.sampling` reads some records of some files,
:mod:`beam_topics.model.profile.fields` says what each field holds, and
:mod:`beam_topics.model.profile.profile` finds which lengths of time fit and puts all together as
the :class:`~beam_topics.model.profile.profile.Profile` that the programs use.
"""
