"""How the log of `conftest.calls` is read, and a run that takes no time."""

COLUMNS = ("--src", "caller", "--dst", "callee", "--t", "time", "--msg", "minutes")
SMALL = ("--option", "dim=8", "--option", "time_dim=4", "--epochs", "2")
