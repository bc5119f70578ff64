"""The one exception that means "the input is wrong, not the program"."""


class InputError(ValueError):
    """A user's mistake, told in one line: what was expected, what came, what to do.

    The command line prints that line and exits with code 2; any other exception is a defect of
    platobridge and keeps its traceback.
    """
