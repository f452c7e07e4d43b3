"""Running the pipeline from Python, through Dagster."""
