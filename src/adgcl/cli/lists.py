"""Options that take several values: `--datasets MUTAG PROTEINS`, `--datasets MUTAG,PROTEINS`, or the option twice."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from typer.core import TyperCommand


def spread(arguments: Sequence[str], options: frozenset[str], stop: frozenset[str]) -> list[str]:
    """Repeat a list option before each of its values, so that every value has its own option.

    A list ends at the next option, or at a word in `stop`, which is always a separate argument.
    """
    result: list[str] = []
    option = ""
    for word in arguments:
        name, equals, value = word.partition("=")
        if word.startswith("-") and len(word) > 1:
            option = name if name in options and not equals else ""
            if name in options and equals:
                result += [part for item in value.split(",") if item for part in (name, item)]
            elif not option:
                result.append(word)
        elif option and word not in stop:
            result += [part for item in word.split(",") if item for part in (option, item)]
        else:
            result.append(word)
            option = ""
    return result


class ListCommand(TyperCommand):
    """A command whose list options take values until the next option."""

    lists: frozenset[str] = frozenset()

    def parse_args(self, ctx: Any, args: list[str]) -> list[str]:
        from adgcl.published import layouts

        return super().parse_args(ctx, spread(args, self.lists, frozenset(layouts())))


class LabelsCommand(ListCommand):
    lists = frozenset({"--rates"})


class ReproduceCommand(ListCommand):
    lists = frozenset({"--datasets", "--methods", "--formats"})


class SweepCommand(ListCommand):
    lists = frozenset({"--datasets", "--methods", "--formats"})
