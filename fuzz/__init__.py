"""Coverage-guided fuzzing of the readers; see README.md."""
