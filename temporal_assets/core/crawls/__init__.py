"""Mathematics of crawl orders: what a page is expected to bring, and orders made while crawling."""
