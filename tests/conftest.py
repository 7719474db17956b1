"""Settings of all tests: random examples are the same in every run, so that a change is judged by what it changes."""

from hypothesis import settings

settings.register_profile("repeatable", derandomize=True, deadline=None)
settings.load_profile("repeatable")
