"""The frame of the command line: help, version, exit codes, lazy loading."""

from __future__ import annotations

import json
import subprocess
import sys
from pathlib import Path

import pytest

import marginalia
from marginalia.cli import VERBS

from .conftest import Run
