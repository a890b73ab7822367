"""What claims are checked on and against: exact laws, naive learners, the library's solvers."""
