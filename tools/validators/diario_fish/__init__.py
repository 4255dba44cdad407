"""What fish.py computes by itself."""
