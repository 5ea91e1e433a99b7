"""The page of a model's table."""


def document_of(folder):
    return None
