"""Simulated single-cell counts with known structure, and simulated gene sets. Nothing here is biology: genes are SG0001…, sets are SIM_….

Counts are negative binomial. Each cell type has marker genes; the treatment changes a program of genes in some types and leaves others alone, so
that what a correct analysis must find is known.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

SEED = 20260914
GENES = tuple(f"SG{number:04d}" for number in range(1, 361))
CONDITIONS = ("control", "treated")
CELLS = {"T cell": (96, 71), "B cell": (48, 52), "NK cell": (33, 35), "Monocyte": (58, 97)}
DISPERSION = 2.5

# Gene numbers from 0: which are markers of a type, and which the treatment multiplies by which factor in which type.
MARKERS = {"T cell": range(0, 12), "B cell": range(12, 24), "NK cell": range(24, 36), "Monocyte": range(36, 48)}
PROGRAMS: dict[str, tuple[range, float]] = {
    "interferon": (range(60, 95), 2.6),
    "cytokine": (range(95, 125), 2.1),
    "ribosome": (range(125, 155), 0.45),
    "lysosome": (range(155, 180), 2.2),
}
RESPONSE = {
    "T cell": ("interferon", "cytokine", "ribosome"),
    "Monocyte": ("interferon", "lysosome"),
    "NK cell": ("cytokine",),
    "B cell": (),
}

_THEMES = (
    (
        "interferon",
        ("type I interferon response", "antiviral defence", "interferon signalling", "response to double-stranded RNA"),
    ),
    ("cytokine", ("cytokine response", "interleukin production", "chemokine signalling", "leukocyte activation")),
    ("ribosome", ("cytoplasmic translation", "ribosome assembly", "peptide chain elongation", "rRNA processing")),
    ("lysosome", ("lysosome organisation", "phagosome maturation", "antigen processing", "vesicle acidification")),
    (
        "",
        (
            "axon guidance",
            "lipid transport",
            "DNA repair",
            "cilium assembly",
            "muscle contraction",
            "bile acid synthesis",
        ),
    ),
    (
        "",
        (
            "circadian rhythm",
            "iron homeostasis",
            "sensory perception",
            "bone resorption",
            "glycan degradation",
            "sperm motility",
        ),
    ),
)
COLLECTIONS = {
    "go": ("SIM_GO", 54),
    "kegg": ("SIM_KEGG", 22),
    "reactome": ("SIM_REACTOME", 34),
    "gsea": ("SIM_HALLMARK", 26),
}


@dataclass(frozen=True)
class Dataset:
    """Counts of genes (columns) in cells (rows), with what each cell is."""

    counts: NDArray[np.int64]
    condition: NDArray[np.str_]
    true_type: NDArray[np.str_]

    @property
    def log_expression(self) -> NDArray[np.float64]:
        """log2(1 + counts per 10,000): what markers, tests and plots use."""
        totals = self.counts.sum(axis=1, keepdims=True)
        scaled: NDArray[np.float64] = np.log2(1.0 + self.counts / totals * 10_000.0)
        return scaled


def simulate(seed: int = SEED) -> Dataset:
    """A data set: 490 cells of four types under two conditions; the same for the same seed and numpy."""
    random = np.random.default_rng(seed)
    base = random.lognormal(mean=1.1, sigma=0.7, size=len(GENES))
    rows, conditions, types = [], [], []
    for cell_type, sizes in CELLS.items():
        for condition, size in zip(CONDITIONS, sizes, strict=True):
            mean = base.copy()
            mean[list(MARKERS[cell_type])] *= 9.0
            for program in RESPONSE[cell_type] if condition == "treated" else ():
                genes, factor = PROGRAMS[program]
                mean[list(genes)] *= factor
            depth = random.lognormal(mean=0.0, sigma=0.25, size=(size, 1))
            rate = random.gamma(shape=DISPERSION, scale=mean * depth / DISPERSION)
            rows.append(random.poisson(rate))
            conditions += [condition] * size
            types += [cell_type] * size
    return Dataset(np.concatenate(rows), np.array(conditions), np.array(types))


def gene_sets() -> dict[str, dict[str, tuple[str, ...]]]:
    """Collection → set name → genes. A themed set is mostly drawn from one program; its name says the theme, not a result."""
    random = np.random.default_rng(SEED + 1)
    collections: dict[str, dict[str, tuple[str, ...]]] = {}
    for collection, (prefix, size) in COLLECTIONS.items():
        sets: dict[str, tuple[str, ...]] = {}
        for number in range(1, size + 1):
            program, titles = _THEMES[int(random.integers(len(_THEMES)))]
            count = int(random.integers(12, 31))
            themed = list(PROGRAMS[program][0]) if program else []
            share = float(random.uniform(0.15, 0.75)) if program else 0.0
            inside = random.choice(themed, size=min(len(themed), int(count * share)), replace=False) if themed else []
            others = [gene for gene in range(len(GENES)) if gene not in themed]
            outside = random.choice(others, size=count - len(inside), replace=False)
            name = f"{prefix}_{number:04d} {titles[int(random.integers(len(titles)))]}"
            sets[name] = tuple(GENES[gene] for gene in sorted({*map(int, inside), *map(int, outside)}))
        collections[collection] = sets
    return collections
