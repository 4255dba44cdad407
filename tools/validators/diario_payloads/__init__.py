"""Parts of payloads.py."""
