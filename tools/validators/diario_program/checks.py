"""Counts checks, and makes those that many commands need."""

from . import Failed, require


class Checks:
    """Checks of one space."""

    def __init__(self, diario, space):
        self.diario = diario
        self.space = str(space)
        self.count = 0

    def equal(self, found, wanted, what):
        self.count += 1
        if found != wanted:
            raise Failed(f"{what}: {found!r} instead of {wanted!r}")

    def true(self, condition, what, result=None):
        self.count += 1
        require(condition, what, result)

    def run(self, *words, **options):
        """A command about the space that must end with 0."""
        self.count += 1
        return self.diario.good("-C", self.space, *words, **options)

    def export(self):
        return self.diario.good("-C", self.space, "export", "--all").out

    def bad(self, *words, code=1, has=(), is_unchanged=True, **options):
        """A command about the space that must fail with all of these words in its message."""
        before = self.export() if is_unchanged else b""
        result = self.failing("-C", self.space, *words, code=code, has=has, **options)
        if is_unchanged:
            self.true(self.export() == before, "it failed and changed the log", result)
        return result

    def failing(self, *words, code=1, has=(), program=None, **options):
        """A command that must fail with all of these words in its message."""
        self.count += 1
        result = (program or self.diario).run(*words, **options)
        require(result.code == code, f"it should have ended with {code}", result)
        last = result.message.splitlines()[-1] if result.message else ""
        require(last.startswith("diario: "), "no message that begins with `diario: `", result)
        require("Fatal error" not in result.message and "Error(" not in result.message,
                "the message is not made for people", result)
        for word in has:
            require(word in result.message, f"the message does not say {word!r}", result)
        return result
