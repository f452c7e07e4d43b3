"""Reading access logs: streams, formats, cleaning, canonical URLs, pseudonyms."""
