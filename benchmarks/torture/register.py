"""All campaigns, by name."""

from __future__ import annotations

from importlib import import_module

from torture.campaign import Campaign

# module: class
CAMPAIGNS = {
    "kills": "Kills",
    "power": "PowerLoss",
    "damage": "Damage",
    "api": "PublicCalls",
    "media": "Media",
    "streams": "Streams",
    "studio": "Studio",
    "soak": "Soak",
}


def find(name: str) -> type[Campaign]:
    """Return the campaign of that name."""
    found: type[Campaign] = getattr(import_module(f"torture.{name}"), CAMPAIGNS[name])
    return found
