"""The transformations of pipelines, one file each."""
