"""`temporal-assets policy`: what it says, what it says of a URL, and what it is for a crawler."""
