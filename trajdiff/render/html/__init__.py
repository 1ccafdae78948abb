"""The report as one HTML file that opens offline.

The page is a template with plain tables that read without script. What belongs to one task (its aligned table,
the full texts) lies in the file as a compressed chunk, which the script unpacks when the task is opened. Texts
of a log reach the page through the escaping of the template or, in the script, as ``textContent``.
"""

from trajdiff.render.html.page import render
from trajdiff.render.registry import Renderer

RENDERERS = (Renderer(name="html", subject="report", render=render, suffixes=(".html",)),)
