"""The local web page: a server on this machine that answers what-if questions about a model."""
