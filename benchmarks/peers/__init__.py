"""Peers to measure against, assembled from public packages."""
