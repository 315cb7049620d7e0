"""llama.cpp's own token ids, through libllama.so of b11434 (the public C interface, loaded with ctypes).

Vocabulary-only files load, and two thousand texts cost one process. The layout of llama_model_params is that release's;
another release refuses to load a vocabulary-only file, loudly, because the flag for it sits elsewhere.
"""
import ctypes
import pathlib


class ModelParams(ctypes.Structure):
    _fields_ = [("devices", ctypes.c_void_p), ("tensor_buft_overrides", ctypes.c_void_p), ("n_gpu_layers", ctypes.c_int32), ("split_mode", ctypes.c_int),
                ("load_mode", ctypes.c_int), ("lazy_mode", ctypes.c_int), ("main_gpu", ctypes.c_int32), ("tensor_split", ctypes.c_void_p),
                ("progress_callback", ctypes.c_void_p), ("progress_callback_user_data", ctypes.c_void_p), ("kv_overrides", ctypes.c_void_p),
                ("vocab_only", ctypes.c_bool), ("check_tensors", ctypes.c_bool), ("use_extra_bufts", ctypes.c_bool), ("no_host", ctypes.c_bool),
                ("no_alloc", ctypes.c_bool), ("load_mtp", ctypes.c_bool)]


LOG = ctypes.CFUNCTYPE(None, ctypes.c_int, ctypes.c_char_p, ctypes.c_void_p)


class LlamaLibrary:
    def __init__(self, path):
        lib = ctypes.CDLL(str(path), mode=ctypes.RTLD_GLOBAL)
        lib.llama_model_default_params.restype = ModelParams
        lib.llama_model_load_from_file.argtypes = [ctypes.c_char_p, ModelParams]
        lib.llama_model_load_from_file.restype = ctypes.c_void_p
        lib.llama_model_get_vocab.argtypes = [ctypes.c_void_p]
        lib.llama_model_get_vocab.restype = ctypes.c_void_p
        lib.llama_model_free.argtypes = [ctypes.c_void_p]
        lib.llama_tokenize.argtypes = [ctypes.c_void_p, ctypes.c_char_p, ctypes.c_int32, ctypes.POINTER(ctypes.c_int32), ctypes.c_int32, ctypes.c_bool, ctypes.c_bool]
        self._silent = LOG(lambda level, text, data: None)
        lib.llama_log_set.argtypes = [LOG, ctypes.c_void_p]
        lib.llama_log_set(self._silent, None)
        self.lib = lib

    def vocabulary(self, path):
        return LlamaVocabulary(self.lib, path)


class LlamaVocabulary:
    def __init__(self, lib, path):
        self.lib = lib
        params = lib.llama_model_default_params()
        params.vocab_only = True
        self.model = lib.llama_model_load_from_file(str(path).encode(), params)
        if not self.model:
            raise SystemExit(f"libllama.so cannot load {path}; is it of llama.cpp b11434?")
        self.vocab = lib.llama_model_get_vocab(self.model)

    def encode(self, text, add_special):
        data = text.encode("utf-8") if isinstance(text, str) else text
        room = len(data) + 8
        while True:
            ids = (ctypes.c_int32 * room)()
            n = self.lib.llama_tokenize(self.vocab, data, len(data), ids, room, add_special, True)
            if n >= 0:
                return list(ids[:n])
            room = -n

    def close(self):
        self.lib.llama_model_free(self.model)


def find_library(folder):
    """libllama.so in `folder` or below it, or None."""
    found = sorted(pathlib.Path(folder).rglob("libllama.so")) if folder and pathlib.Path(folder).is_dir() else []
    return found[0] if found else None
