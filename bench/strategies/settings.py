"""The types of settings that several strategies have."""

from typing import Annotated

import msgspec

Count = Annotated[int, msgspec.Meta(ge=0, le=10**12)]
"""A setting that counts something: a whole number from 0 up."""

Turns = Annotated[int, msgspec.Meta(ge=1, le=10**12)]
"""A number of turns, after which a policy acts again: a whole number from 1 up."""

Share = Annotated[float, msgspec.Meta(gt=0, le=1)]
"""A setting that is a fraction: above 0, up to 1."""
