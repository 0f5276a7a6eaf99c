"""The sources of pipelines, one file each."""
