"""Window tables of pages: totals, histories by day, and the flow of new pages."""
