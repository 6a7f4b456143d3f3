"""The reference strategies of every comparison, and those that `bench run` tries by default."""

from __future__ import annotations

from collections.abc import Mapping

REFERENCES: Mapping[str, str] = {
    "keep_all": "summarizer=untruncated+compactor=none",
    "recorded": "",
    "drop_all": "compactor=drop_all",
    "clairvoyant": "summarizer=untruncated+compactor=clairvoyant",
}
"""The reference strategies that every comparison adds as bounds, each by its slots."""

PORTFOLIO: Mapping[str, str] = {
    "cut-4k": "summarizer=mini_swe_agent.output:limit=4000,end=2000",
    "cut-10k": "summarizer=mini_swe_agent.output:limit=10000,end=5000",
    "ends-40": "summarizer=head_tail:head=40,tail=40",
    "file-8k": "summarizer=deepagents.output:max_chars=8000",
    "file-20k": "summarizer=deepagents.output:max_chars=20000",
    "csv": "summarizer=csv_table",
    "compact-json": "summarizer=compact_json",
    "repeats": "compactor=repeats",
    "mask-5": "compactor=mask_observations:keep_last=5",
    "mask-10": "compactor=mask_observations:keep_last=10",
    "mask-5-by-10": "compactor=mask_observations:keep_last=5,every=10",
    "mask-10-by-10": "compactor=mask_observations:keep_last=10,every=10",
    "mask-20-by-20": "compactor=mask_observations:keep_last=20,every=20",
    "clear-30k": "compactor=clear_tool_uses:trigger=30000,keep=5,clear_at_least=10000",
    "clear-60k": "compactor=clear_tool_uses:trigger=60000,keep=5,clear_at_least=20000",
    "clear-100k": "compactor=clear_tool_uses:trigger=100000,keep=5,clear_at_least=40000",
    "summary-80": "compactor=summarize_old:threshold=0.8,keep_last=20",
    "csv-and-repeats": "summarizer=csv_table+compactor=repeats",
    "csv-and-mask": "summarizer=csv_table+compactor=mask_observations:keep_last=10,every=10",
    "cut-and-mask": "summarizer=mini_swe_agent.output:limit=10000,end=5000+compactor=mask_observations:keep_last=10,every=10",
    "file-and-repeats": "summarizer=deepagents.output:max_chars=20000+compactor=repeats",
}
"""The strategies that `bench run` tries by default, each by its slots."""
