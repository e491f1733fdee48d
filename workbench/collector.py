"""Python's garbage collector, kept waiting while something is built.

Building makes many objects that live on. The collector would look at them again and again, and now and then at all
that the process has: beside torch, transformers and plotly that costs more than building does, and finds nothing.

It belongs to the whole process, so it is not turned off, only asked to wait for more objects than otherwise: what
other threads leave behind meanwhile is still collected, and so is what a long construction leaves behind. When the
last of those that build at the same time has ended, however it has ended, all is as it was. A collector that is
turned off stays so, as does whatever anyone changes about it meanwhile.
"""

from __future__ import annotations

import gc
import os
from weakref import ref

__all__ = ["CollectorWaits"]

#: New objects before young ones are looked at, and how often that is before older ones are: all are looked at
#: after about 2 million new objects.
_PATIENT = (200_000, 2, 2)


class CollectorWaits:
    """``with CollectorWaits():`` around what builds; may be nested, in any number of threads.

    There is no lock that an interrupt could leave held: whoever makes the collector patient is one of ``_builders``
    then, and the last one to leave these gives it back.
    """

    __slots__ = ("__weakref__",)

    def __enter__(self) -> None:
        global _usual
        try:
            _builders[id(self)] = ref(self, _died)
            now = gc.get_threshold()
            if 0 < now[0] < _PATIENT[0]:
                _usual = now
                gc.set_threshold(*_PATIENT)
        except BaseException:  # an interrupt: nobody calls __exit__ then
            self._leave()
            raise

    def __exit__(self, *error: object) -> None:
        try:
            self._leave()
        except BaseException:
            self._leave()
            raise

    def _leave(self) -> None:
        _builders.pop(id(self), None)
        _give_back()


#: those that build
_builders: dict[int, ref[CollectorWaits]] = {}
#: the thresholds from before they began
_usual = gc.get_threshold()


def _give_back() -> None:
    """If nobody builds, and nobody has set other thresholds meanwhile, have the usual ones again."""
    if not _builders and gc.get_threshold() == _PATIENT:
        gc.set_threshold(*_usual)


def _died(builder: ref[CollectorWaits]) -> None:
    """One of them is gone that could not even say so: an interrupt came in its place."""
    for key, one in list(_builders.items()):
        if one is builder:
            _builders.pop(key, None)
    _give_back()


def _forget() -> None:
    """In a forked process: what other threads were building is never finished there."""
    _builders.clear()
    _give_back()


if hasattr(os, "register_at_fork"):
    os.register_at_fork(after_in_child=_forget)
