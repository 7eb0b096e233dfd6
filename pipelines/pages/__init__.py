"""Pages in one file: a template, its scripts and styles, and a charting library.

``static/`` has the scripts of the report, in the order of
:data:`beam_topics.pipelines.pages.page.SCRIPTS`. ``vendor/`` has uPlot 1.6.32 (MIT licence) as its
project publishes it.
"""
