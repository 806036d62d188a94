"""Reports: tables, confusion matrices, readings and pictures, as Markdown and as one HTML page."""
