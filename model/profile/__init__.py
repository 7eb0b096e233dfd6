"""What an input is: how its files are written, and which of their fields are what.

:mod:`model.profile.sampling` reads some records of some files, :mod:`model.profile.fields` says
what each field holds, :mod:`model.profile.profile` which lengths of time fit, and
:mod:`model.profile.profile` puts them together as the :class:`~model.profile.profile.Profile` that
all programs use.
"""
