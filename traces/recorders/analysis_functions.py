"""The functions of the analysis session, under the names of document 004: each computes its result from the simulated counts.

Statistics: Mann-Whitney per gene with Benjamini-Hochberg, hypergeometric over-representation, a running-sum score with permutations,
Fisher's exact test for proportions. Figures are rounded to six significant digits, so that a last-bit difference of a library changes nothing.
"""

from __future__ import annotations

import importlib
import re
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy import stats

from .analysis_simulation import CONDITIONS, GENES, MARKERS, SEED, Dataset, gene_sets

ALPHA = 0.05
MIN_CELLS = 5
PERMUTATIONS = 499


def _rounded(value: Any) -> float:
    return float(f"{float(value):.6g}")


class Analysis:
    """One analysis in progress: the data, the types it has discovered, and the results that later functions read."""

    def __init__(self, dataset: Dataset) -> None:
        self.dataset = dataset
        self.expression = dataset.log_expression
        self.sets = gene_sets()
        self.cell_type: NDArray[np.str_] = np.array(["unassigned"] * len(dataset.condition))
        self.tests: dict[str, list[dict[str, Any]]] = {}
        self.enrichment: dict[str, dict[str, Any]] = {}

    def process_cells(self, cell_type: str = "all") -> str:
        """Assign every cell to the type whose markers it expresses most, and report what was discovered."""
        scores = np.stack([self.expression[:, list(genes)].mean(axis=1) for genes in MARKERS.values()], axis=1)
        names = np.array(list(MARKERS))
        self.cell_type = names[scores.argmax(axis=1)]
        ordered = np.sort(scores, axis=1)
        margin = ordered[:, -1] - ordered[:, -2]
        found = [name for name in MARKERS if (self.cell_type == name).any()]
        lines = [
            f"Processed {len(margin)} cells and {len(GENES)} genes ({cell_type}).",
            f"Discovered {len(found)} cell types: {', '.join(found)}",
        ]
        for name in found:
            chosen = self.cell_type == name
            top = [
                GENES[gene]
                for gene in sorted(MARKERS[name], key=lambda gene: -self.expression[chosen, gene].mean())[:4]
            ]
            lines.append(
                f"- {name}: {int(chosen.sum())} cells, median margin {np.median(margin[chosen]):.3f}, "
                f"lowest margin {margin[chosen].min():.3f}, top markers {', '.join(top)}"
            )
        uncertain = int((margin < 1.0).sum())
        lines.append(f"Cells with a margin below 1.0, to be read with care: {uncertain}.")
        lines.append(
            f"Median library size {np.median(self.dataset.counts.sum(axis=1)):.1f} counts, {int((self.dataset.counts == 0).sum())} zero entries."
        )
        return "\n".join(lines)

    def compare_cell_counts(self, cell_types: list[str]) -> dict[str, Any]:
        """How the share of each type differs between the conditions."""
        totals = {condition: int((self.dataset.condition == condition).sum()) for condition in CONDITIONS}
        compared: dict[str, Any] = {}
        for name in cell_types:
            counts = {c: int(((self.cell_type == name) & (self.dataset.condition == c)).sum()) for c in CONDITIONS}
            table = [[counts[c], totals[c] - counts[c]] for c in CONDITIONS]
            odds, p_value = stats.fisher_exact(table)
            compared[name] = {
                "counts": counts,
                "fractions": {c: _rounded(counts[c] / totals[c]) for c in CONDITIONS},
                "odds_ratio": _rounded(odds),
                "p_value": _rounded(p_value),
                "changed": bool(p_value < ALPHA),
            }
        return {"total_cells": totals, "test": "Fisher's exact, two-sided", "cell_types": compared}

    def dea_split_by_condition(self, cell_type: str) -> dict[str, Any]:
        """Differential expression between the conditions within one type. ValueError where a condition has too few cells."""
        groups = []
        for condition in CONDITIONS:
            chosen = (self.cell_type == cell_type) & (self.dataset.condition == condition)
            if chosen.sum() < MIN_CELLS:
                known = ", ".join(sorted({str(name) for name in self.cell_type}))
                raise ValueError(
                    f"{int(chosen.sum())} cells of type '{cell_type}' under '{condition}', at least {MIN_CELLS} are needed (types: {known})"
                )
            groups.append(self.expression[chosen])
        control, treated = groups
        p_values = stats.mannwhitneyu(treated, control, axis=0, method="asymptotic").pvalue
        adjusted = stats.false_discovery_control(p_values, method="bh")
        change = treated.mean(axis=0) - control.mean(axis=0)
        rows = [
            {"gene": gene, "log2_fold_change": _rounded(c), "p_value": _rounded(p), "adjusted_p_value": _rounded(a)}
            for gene, c, p, a in zip(GENES, change, p_values, adjusted, strict=True)
        ]
        self.tests[cell_type] = rows
        significant = sorted(
            (r for r in rows if r["adjusted_p_value"] < ALPHA), key=lambda r: (r["adjusted_p_value"], r["gene"])
        )
        return {
            "cell_type": cell_type,
            "comparison": "treated vs control",
            "n_cells": {"control": len(control), "treated": len(treated)},
            "tested_genes": len(rows),
            "total_significant": len(significant),
            "upregulated": [r for r in significant if r["log2_fold_change"] > 0],
            "downregulated": [r for r in significant if r["log2_fold_change"] < 0],
        }

    def perform_enrichment_analyses(self, cell_type: str) -> dict[str, Any]:
        """Over-representation in three collections and a running-sum score in a fourth, on the genes of one type."""
        if cell_type not in self.tests:
            raise ValueError(f"no differential expression for '{cell_type}' yet — run dea_split_by_condition first")
        rows = self.tests[cell_type]
        hits = {row["gene"] for row in rows if row["adjusted_p_value"] < ALPHA}
        result = {name: self._over_representation(self.sets[name], hits) for name in ("go", "kegg", "reactome")}
        result["gsea"] = self._running_sum(self.sets["gsea"], rows)
        self.enrichment[cell_type] = result
        return result

    def _over_representation(self, sets: dict[str, tuple[str, ...]], hits: set[str]) -> dict[str, Any]:
        shared = {name: sorted(hits.intersection(genes)) for name, genes in sets.items()}
        p_values = [float(stats.hypergeom.sf(len(shared[n]) - 1, len(GENES), len(hits), len(sets[n]))) for n in sets]
        adjusted = stats.false_discovery_control(p_values, method="bh")
        rows = [
            {
                "term": n,
                "overlap": f"{len(shared[n])}/{len(sets[n])}",
                "p_value": _rounded(p),
                "adjusted_p_value": _rounded(a),
                "genes": shared[n],
            }
            for n, p, a in zip(sets, p_values, adjusted, strict=True)
        ]
        return _ranked(rows)

    def _running_sum(self, sets: dict[str, tuple[str, ...]], rows: list[dict[str, Any]]) -> dict[str, Any]:
        random = np.random.default_rng(SEED + 2)
        weights = np.array([row["log2_fold_change"] for row in rows])
        order = np.argsort(-weights, kind="stable")
        ranked = np.abs(weights[order])
        names = [rows[index]["gene"] for index in order]
        found = []
        for term, genes in sets.items():
            inside = np.isin(names, genes)
            score = _enrichment_score(ranked, inside)
            shuffled = [_enrichment_score(ranked, random.permutation(inside)) for _ in range(PERMUTATIONS)]
            same_side = [s for s in shuffled if (s >= 0) == (score >= 0)]
            p_value = (1 + sum(abs(s) >= abs(score) for s in same_side)) / (1 + len(same_side))
            scale = float(np.mean(np.abs(same_side))) if same_side else 1.0
            found.append((term, score, score / scale, p_value, int(inside.sum())))
        adjusted = stats.false_discovery_control([row[3] for row in found], method="bh")
        return _ranked(
            [
                {
                    "term": t,
                    "enrichment_score": _rounded(s),
                    "normalised_score": _rounded(n),
                    "p_value": _rounded(p),
                    "adjusted_p_value": _rounded(a),
                    "size": size,
                }
                for (t, s, n, p, size), a in zip(found, adjusted, strict=True)
            ]
        )

    def display_enrichment_barplot(self, cell_type: str, analysis: str) -> str:
        """An HTML figure with one bar per leading term, as long as -log10 of its p-value."""
        rows = self.enrichment[cell_type][analysis]["results"][:8]
        bars = []
        for number, row in enumerate(rows):
            length, y = -40.0 * np.log10(row["p_value"]), 24 + 26 * number
            bars.append(
                f'<rect x="300" y="{y}" width="{length:.1f}" height="18" fill="#4c78a8"><title>p = {row["p_value"]}</title></rect>'
                f'<text x="292" y="{y + 13}" text-anchor="end">{row["term"]}</text>'
            )
        return _figure(f"{analysis.upper()} terms, {cell_type}, treated vs control", bars, 40 + 26 * len(rows))

    def display_dotplot(self, genes: list[str]) -> str:
        """An HTML figure: per type and gene a dot, its area the share of expressing cells, its darkness the mean expression."""
        marks = []
        for row, name in enumerate(MARKERS):
            chosen = self.cell_type == name
            marks.append(f'<text x="90" y="{48 + 30 * row}" text-anchor="end">{name}</text>')
            for column, gene in enumerate(genes):
                values = self.expression[chosen, GENES.index(gene)]
                share, mean = float((values > 0).mean()), float(values.mean())
                marks.append(
                    f'<circle cx="{120 + 40 * column}" cy="{44 + 30 * row}" r="{2 + 10 * share:.2f}" fill-opacity="{min(1.0, mean / 10):.3f}">'
                    f"<title>{gene} {name}: {share:.3f} expressing, mean {mean:.3f}</title></circle>"
                )
        return _figure(f"Expression of {', '.join(genes)}", marks, 190)

    def display_umap(self, cell_type: str) -> str:
        """Would show an embedding; the module it needs is installed nowhere, so that the import really fails."""
        backend = importlib.import_module("simulated_umap_backend")
        return str(backend.embed(self.expression[self.cell_type == cell_type]))

    def search_enrichment_semantic(self, query: str) -> str:
        """The terms of all enrichment results so far that share words with a query, as text, best first."""
        words = set(re.findall(r"[a-z]+", query.lower()))
        found = [
            (len(words & set(re.findall(r"[a-z]+", row["term"].lower()))), row["p_value"], cell_type, name, row)
            for cell_type, result in self.enrichment.items()
            for name, part in result.items()
            for row in part["results"]
        ]
        matches = sorted((f for f in found if f[0]), key=lambda f: (-f[0], f[1], f[4]["term"]))
        lines = [f"{len(matches)} terms match '{query}', searched {len(found)}."]
        lines += [
            f"{n}. [{name}, {kind}] {r['term']}: p = {r['p_value']}, adjusted {r['adjusted_p_value']}"
            for n, (_, _, kind, name, r) in enumerate(matches, 1)
        ]
        return "\n".join(lines)

    def save_session(self, name: str) -> None:
        """Keeps the results under a name; gives nothing back."""
        self.enrichment = {cell_type: dict(result) for cell_type, result in self.enrichment.items()}


def _enrichment_score(ranked: NDArray[np.float64], inside: NDArray[np.bool_]) -> float:
    """The largest deviation of a running sum that rises by weight inside the set and falls evenly outside."""
    up = np.where(inside, ranked, 0.0)
    down = np.where(inside, 0.0, 1.0)
    running = np.cumsum(up / up.sum() - down / down.sum())
    return float(running[np.abs(running).argmax()])


def _ranked(rows: list[dict[str, Any]]) -> dict[str, Any]:
    """Rows by p-value with the leading terms and the number of significant ones, in the shape that document 004 reads."""
    ordered = sorted(rows, key=lambda row: (row["p_value"], row["term"]))
    return {
        "top_terms": [row["term"] for row in ordered[:10]],
        "top_pvalues": [row["p_value"] for row in ordered[:10]],
        "total_significant": sum(row["adjusted_p_value"] < ALPHA for row in ordered),
        "results": ordered,
    }


def _figure(title: str, marks: list[str], height: int) -> str:
    return f'<div class="figure"><h3>{title}</h3><svg xmlns="http://www.w3.org/2000/svg" width="760" height="{height}">{"".join(marks)}</svg></div>'
