"""Several processes that train one network: who they are, and what they compute together."""
