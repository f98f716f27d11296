"""WideSearch (Wong et al. 2025): collect many facts of one kind from the web into one table."""
