"""What documents 000, 001 and 003 call the state of one task: what an agent keeps while it runs a script, and must clear when it has replied."""

from __future__ import annotations

SELECTED, PARAMETERS, OUTPUT, SUMMARY = "selected_script", "script_parameters", "raw_output", "execution_summary"

TASK_STATE = (SELECTED, PARAMETERS, OUTPUT, SUMMARY)
"""Every key of it."""
