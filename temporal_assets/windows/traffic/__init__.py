"""The window table `page_traffic`: visits, referrals and links of every page."""
