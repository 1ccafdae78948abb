"""What was worked out before, kept in one file of the user: never needed, always safe to delete."""
