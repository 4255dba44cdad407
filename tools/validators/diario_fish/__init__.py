"""What fish_harness.py computes by itself."""
