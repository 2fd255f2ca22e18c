"""Public repositories that hold an nbgrader course. Nothing of them is kept here but where they are."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True)
class Known:
    """A course.

    Attributes:
        repository: on GitHub.
        commit: that was measured.
        field: what it is about.
        notebooks: patterns of the paths of its source notebooks; those of one folder are one assignment, with the other files there.
        without: those that are left out, by name.
        beside: other files that a release needs: the path there, and in the course.
        kernel: the kernel that they are run with, whatever they name.
        settings: further lines for nbgrader_config.py.
    """

    repository: str
    commit: str
    field: str
    notebooks: tuple[str, ...]
    without: tuple[str, ...] = ()
    beside: tuple[tuple[str, str], ...] = ()
    kernel: str = "python3"
    settings: str = ""

    @property
    def folder(self) -> str:
        """What its clone may be called."""
        return self.repository.replace("/", "+")


HEADER = "source/header.ipynb"
UPPERCASE_SOLUTION = (
    "c.ClearSolutions.begin_solution_delimeter = 'BEGIN SOLUTION'\n"
    "c.ClearSolutions.end_solution_delimeter = 'END SOLUTION'\n"
)

KNOWN = (
    Known(
        "jupyter/nbgrader",
        "207a8e544968092c93af807cce6f002552c628fa",
        "nbgrader's documentation",
        ("nbgrader/docs/source/user_guide/source/ps1*/*.ipynb",),
        beside=(
            ("nbgrader/docs/source/user_guide/source/header.ipynb", HEADER),
            ("nbgrader/docs/source/user_guide/autotests.yml", "autotests.yml"),
        ),
    ),
    Known(
        "219project/num_meth_nbgrader",
        "8246e07eef02092ed9ed23a82b0ee8d9c5b49f5e",
        "numerical methods",
        ("TestCourse/source/*/*.ipynb", "TestCourse/source/drafts/*/*.ipynb"),
        without=("week_3_newton_fixed_pt.ipynb",),  # stock cannot release it
    ),
    Known(
        "lukassnoek/introPy",
        "3df98e53810a96bbdd6ac91d0aa35ef2fb3295ef",
        "psychology",
        ("intropy/solutions/week_1/*.ipynb",),
    ),
    Known(
        "ccha23/cs1302i21a",
        "52ad875cc49cf51f805d3c7797ff0a2f808fb7a6",
        "computer science",
        ("source/Lab*/*.ipynb",),
    ),
    Known(
        "jhamrick/nbgrader-demo",
        "05a5c90582fc3a575e70f94a0cc214c275311264",
        "data, LaTeX",
        ("instructor/source/ps1/*.ipynb",),
    ),
    Known(
        "spanto/2021WNPhys260",
        "26c72724c31253d16ac3644c12f0f453d2f16a47",
        "physics",
        ("source/*/*.ipynb",),
        without=("tutorialhw-Copy1.ipynb",),
    ),
    Known(
        "madclam/info113",
        "a36cc6bf5e378d9a4d35899e8b9be52c21badd17",
        "images, data",
        ("source/HW1/*.ipynb", "source/HW2/*.ipynb", "source/HW3/*.ipynb"),
    ),
    Known(
        "earthlab/nbgrader-test-course",
        "0d446e9e9a1a4abf9b90e1e3391b22a47eba73ec",
        "earth science",
        ("source/week1/*.ipynb",),
        beside=((HEADER, HEADER),),
    ),
    Known(
        "numberisnan/isc4u-notebooks",
        "083375d414da725afa57c116ef7475b3417a0714",
        "school, computer science",
        ("source/Topic 3 Test/*.ipynb",),
    ),
    Known(
        "feldlime/nbgrader-itmo-recsys-2025-spring",
        "959381fbd5742922cf0b5e9c6b7355c6d23eb694",
        "recommender systems",
        ("nbgrader/app/source/*/*.ipynb",),
    ),
    Known(
        "tongwang/data_notebook", "84e91716b35e84f9f3de054a7a44628bd1c605c0", "data", ("source/exercise-01/*.ipynb",)
    ),
    Known(
        "SamLau95/python-workshops",
        "8ec885fc7ceaead7fd02b28d74796fa7af9fc809",
        "data visualisation",
        ("sol/data-viz/*.ipynb",),
    ),
    Known("evgenytsydenov/python_course", "cb265bdd2437b0c14d758109694960577ad3523e", "programming", ("demo/*.ipynb",)),
    Known("jedbrown/nbgrader-test", "4c5cfb15141bba1b0ffb9b5302aa4d165ee0069d", "numerics", ("source/ps1/*.ipynb",)),
    Known(
        "ttimbers/nbgrader_r_demo",
        "00c5866bae137af5957b57247efe4bfa3314febb",
        "statistics, in R",
        ("source/lab1/*.ipynb",),
        kernel="ir",
        settings=UPPERCASE_SOLUTION,
    ),
    Known(
        "mpvanderschelling/test_nbgrader",
        "de4bf0ac8068c14120ddcf8a32c5e185011b86cd",
        "engineering",
        ("source/ps1/*.ipynb",),
    ),
    Known(
        "havardei/nbgrader-exercises",
        "be0606cb1dbfffd3310048f7df2d5d9400a4d7e8",
        "programming",
        ("source/ps1/*.ipynb",),
        beside=((HEADER, HEADER),),
    ),
    Known(
        "Purrity1/skriptsprachen",
        "d51f53a7a4c4b0e118dae23475ecd6f0738b884c",
        "scripting languages",
        ("u1/*.ipynb", "u2/*.ipynb", "u3/*.ipynb", "p2/*.ipynb", "p3/*.ipynb"),
    ),
    Known(
        "halflearned/EC1151",
        "e8517ea13c2b3f9c1c495bbfe28ed783b6df36e0",
        "economics",
        ("Homeworks/source/HW[1-4]/HW?.ipynb",),
    ),
    Known(
        "ShaunFChen/Applied_bioinfo_nbgrader",
        "ebe2f2863dd5fa84108998eb45644d9a17aee094",
        "bioinformatics, in bash",
        ("HW1/*.ipynb", "HW2/*.ipynb"),
    ),
    Known(
        "Wojtas1411/BigData",
        "1ed93060834d5c3e796e21a596b5a2617b347584",
        "big data",
        ("01-SQL/*.ipynb", "04-MAPRED/*.ipynb", "08-STATS/*.ipynb", "09-PLOTS/*.ipynb", "1?-*/*.ipynb"),
    ),
    Known(
        "UBC-DSCI/dsci-100-student",
        "182cb01d4bee5579533603ea78875e381a7cdbb2",
        "data science, in R",
        ("materials/R/worksheet_intro/*.ipynb", "materials/R/tutorial_intro/*.ipynb"),
        kernel="ir",
    ),
    Known(
        "vladimiracunadev-create/neural-network-training-labs",
        "99413a663ec8fae50e92fa149a5124bb21e659d8",
        "neural networks",
        ("assignments/source/0[0-5]_*/*.ipynb",),
    ),
)
