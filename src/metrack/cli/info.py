"""metrack info: versions, presets and settings."""

from __future__ import annotations

import os
import platform
from importlib.metadata import version
from typing import Annotated

import numpy as np
import typer
from rich.table import Table

from metrack.cli.app import app, console, facts_table
from metrack.cli.options import Preset
from metrack.config import PRESETS, TrackerConfig, possible_values


@app.command()
def info(
    settings: Annotated[bool, typer.Option("--settings", help="List all settings instead.")] = False,
    preset: Preset = None,
) -> None:
    """Show versions and presets, or with --settings every setting."""
    from metrack.config import preset as look_up

    config = look_up(preset or "default")
    console.print(settings_table(config) if settings else environment_table())


def settings_table(config: TrackerConfig) -> Table:
    """List every setting: made from the fields of the configuration."""
    table = Table(box=None, pad_edge=False, header_style="bold")
    for column in ("setting", "value", "may be", "meaning"):
        table.add_column(column, overflow="fold")
    for name, each, value in config.settings():
        table.add_row(name, f"{value}", possible_values(each), each.metadata["text"])
    return table


def environment_table() -> Table:
    """Say what metrack runs on."""
    from metrack.frames.sink import h264_encoder

    table = facts_table()
    for name in ("metrack", "numpy", "scipy", "numba", "av"):
        table.add_row(name, version(name))
    table.add_row("python", platform.python_version())
    table.add_row("processors", str(os.cpu_count()))
    blas = np.show_config(mode="dicts")["Build Dependencies"]["blas"]
    table.add_row("BLAS", f"{blas['name']} {blas['version']}")
    table.add_row("arithmetic", arithmetic())
    table.add_row("H.264 encoder", h264_encoder() or "none: use --no-video")
    table.add_row("kernel cache", os.environ.get("NUMBA_CACHE_DIR") or "__pycache__ beside the code")
    table.add_row("presets", ", ".join(sorted(PRESETS)))
    return table


def arithmetic() -> str:
    """Say for which processors BLAS and compiled code choose their instructions: what last digits depend on."""
    from llvmlite.binding import get_host_cpu_name
    from threadpoolctl import threadpool_info

    blas = sorted({each["architecture"] for each in threadpool_info() if "architecture" in each})
    compiled = os.environ.get("NUMBA_CPU_NAME") or get_host_cpu_name()
    return f"BLAS for {' and '.join(blas) or 'any'}, compiled code for {compiled}"
