"""Terms and programs as mathematics on a page."""
