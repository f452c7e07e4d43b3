"""What people are told when something fails, and how it reaches them. Knows nothing of Dagster."""
