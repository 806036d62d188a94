"""Reports: tables, charts, confusion matrices, readings and pictures of runs.

`cases_of` opens runs, `write_report` and `write_pages` write them as Markdown, HTML, LaTeX and JSON. `Table`, `Chart`
and the templates are what other pages are made of.
"""

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from assay.reporting.case import cases_of as cases_of
    from assay.reporting.case import coverage_of as coverage_of
    from assay.reporting.discovery import concept_rows as concept_rows
    from assay.reporting.discovery import unit_cards as unit_cards
    from assay.reporting.discovery import write_discovery as write_discovery
    from assay.reporting.interventions import build_record as build_record
    from assay.reporting.interventions import write_interventions as write_interventions
    from assay.reporting.pages import Table as Table
    from assay.reporting.pages import page_environment as page_environment
    from assay.reporting.pages import tex_file as tex_file
    from assay.reporting.plot import Chart as Chart
    from assay.reporting.plot import ChartGroup as ChartGroup
    from assay.reporting.plot import DotChart as DotChart
    from assay.reporting.plot import Line as Line
    from assay.reporting.write import write_pages as write_pages
    from assay.reporting.write import write_report as write_report
else:
    from assay.doors import door

    __getattr__, __dir__, __all__ = door(__name__)
