"""From a name to a model that can be traced: loading, preparing inputs, generating, running."""
