"""Pure functions from a report to text or bytes, one module per output format."""
