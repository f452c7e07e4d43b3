"""Views and transits of pages (BB 2), counted for a window or updated from an earlier one."""
