"""Datasets on disk: a folder of Parquet shards, a manifest, a Croissant file and a card."""
