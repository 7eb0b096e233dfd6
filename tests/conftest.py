"""What all tests have in common: hypothesis tries the same examples each time, and does not mind a slow machine."""

from hypothesis import settings

settings.register_profile("here", derandomize=True, deadline=None)
settings.load_profile("here")
