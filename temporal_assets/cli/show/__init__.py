"""`temporal-assets show`: a page, a site, or all sites, and why they are judged as they are."""
