"""Pages and pictures of reproductions and of suites of test cases."""
