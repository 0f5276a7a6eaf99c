"""The nodes of pipelines, one file for each transformation."""
