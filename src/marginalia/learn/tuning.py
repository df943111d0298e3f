"""Several values of a setting, tried one after another: the one that is best on held-out data is kept."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import replace

from marginalia.config import Settings
from marginalia.decode.structures import STRUCTURES
from marginalia.errors import SettingsError
from marginalia.learn.recipe import Recipe
from marginalia.learn.training import Progress, Training


def recipes_of(recipe: Recipe, has_dev: bool) -> list[Recipe]:
    """A recipe for each of the values that a setting of the structure has; as a rule there is one."""
    own = recipe.settings.structure
    found = STRUCTURES[recipe.structure].alternatives(own)
    if len(found) > 1 and not has_dev:
        values = ", ".join(_difference(own, one) for one in found)
        raise SettingsError(f"found several settings ({values}), of which dev data choose one: give some.")
    return [replace(recipe, settings=replace(recipe.settings, structure=one)) for one in found]


def _difference(before: Settings, after: Settings) -> str:
    """The settings that are not as before."""
    values, old = after.to_json(), before.to_json()
    return " ".join(f"{name}={value}" for name, value in values.items() if value != old[name])


class TunedTraining(Training):
    """Runs of several recipes, one after another. All that is asked of it is answered by the best so far."""

    def __init__(self, recipe: Recipe, recipes: list[Recipe], prepare: Callable[[Recipe], Training]) -> None:
        self._asked, self._recipes, self._prepare = recipe, recipes, prepare
        self._current = prepare(recipes[0])
        self._become(self._current)

    def _become(self, run: Training) -> None:
        """Answer as that run does."""
        vars(self).update(vars(run))

    def __iter__(self) -> Iterator[Progress]:
        best, tried = self._current, []
        for number, recipe in enumerate(self._recipes):
            run = best if number == 0 else self._prepare(recipe)
            run._started = best._started
            for record in run:
                best = run if _is_better(run, best) else best
                self._become(best)
                yield record
            what = _difference(self._asked.settings.structure, recipe.settings.structure)
            tried.append(f"{what}: dev {0.0 if run.report is None else run.report.score:.2f}")
        self.notes = [*best.notes, *tried]


def _is_better(run: Training, best: Training) -> bool:
    if run is best or run.report is None:
        return run is best
    return best.report is None or run.report.score > best.report.score
