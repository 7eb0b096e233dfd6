"""What an input is: how its files are written, and which of their fields are what.

:mod:`model.profile.sampling` reads some records of some files, :mod:`model.profile.fields` says
what each field holds, and :mod:`model.profile.profile` finds which lengths of time fit and puts
all together as the :class:`~model.profile.profile.Profile` that the programs use.
"""
