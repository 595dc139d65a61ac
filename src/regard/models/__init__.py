"""A name to something that can be traced: loading, preparing inputs, generating, running."""
