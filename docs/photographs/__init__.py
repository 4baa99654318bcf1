"""The photographs of the documentation: what quia shows, as people see it. `make pictures` takes them all anew.

Each module has the `PICTURES` of one kind of thing, a name and what takes it; `album` has them all. Nothing is shown
but the invented people of `examples/`, models that are learned from them here, and scikit-learn's own digits.
"""
