"""Evidence for elephan: published experiments and test cases, and comparisons of its models with packets."""
