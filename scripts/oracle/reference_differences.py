def explain_gguf(name, text, own, reference):
    return None


def explain_llama(meta, text, own, theirs, expected, vocabulary):
    return None
