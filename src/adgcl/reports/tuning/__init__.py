"""What a search for settings found: tables, figures and a page."""
