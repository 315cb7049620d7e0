#!/usr/bin/env python3
"""Writes small, mostly valid inputs for each fuzz target to OUT/TARGET/: where a search begins.

Why: libFuzzer finds little from nothing in formats with magic numbers, lengths and nesting. What a
search keeps is minimised into tests/fuzz/corpus, which is what ctest replays (scripts/fuzz).

Usage: make_seeds.py OUT
"""

import base64
import hashlib
import io
import json
import struct
import sys
import tarfile
from pathlib import Path

FIXTURES = Path(__file__).resolve().parent.parent / "text" / "fixtures"
CONFIG = {
    "architectures": ["LlamaForCausalLM"], "model_type": "llama", "hidden_size": 4,
    "intermediate_size": 6, "num_hidden_layers": 1, "num_attention_heads": 2,
    "num_key_value_heads": 1, "head_dim": 4, "vocab_size": 3, "max_position_embeddings": 64,
    "rms_norm_eps": 1e-5, "rope_theta": 10000.0, "tie_word_embeddings": True,
    "hidden_act": "silu", "bos_token_id": 1, "eos_token_id": [2],
}  # fmt: skip
FAMILIES = [
    ("qwen3", "Qwen3", {}),
    ("qwen3_moe", "Qwen3Moe", {"num_experts": 4, "num_experts_per_tok": 2, "norm_topk_prob": True,
                               "moe_intermediate_size": 8, "mlp_only_layers": [0]}),
    ("mixtral", "Mixtral", {"num_local_experts": 4, "num_experts_per_tok": 2}),
    ("gemma2", "Gemma2", {"query_pre_attn_scalar": 4, "final_logit_softcapping": 30.0,
                          "sliding_window": 8, "hidden_activation": "gelu_pytorch_tanh"}),
    ("gemma3_text", "Gemma3", {"rope_local_base_freq": 1e4, "sliding_window": 8,
                               "layer_types": ["sliding_attention"]}),
    ("phi3", "Phi3", {"partial_rotary_factor": 0.5, "original_max_position_embeddings": 32,
                      "rope_scaling": {"type": "longrope", "short_factor": [1.0],
                                       "long_factor": [2.0]}}),
    ("olmo2", "Olmo2", {}),
    ("smollm3", "SmolLM3", {"no_rope_layers": [1], "no_rope_layer_interval": 4}),
]  # fmt: skip
TENSORS = {
    "token_embd.weight": [4, 3], "blk.0.attn_norm.weight": [4], "blk.0.attn_q.weight": [4, 8],
    "blk.0.attn_k.weight": [4, 4], "blk.0.attn_v.weight": [4, 4],
    "blk.0.attn_output.weight": [8, 4], "blk.0.ffn_norm.weight": [4],
    "blk.0.ffn_gate.weight": [4, 6], "blk.0.ffn_up.weight": [4, 6],
    "blk.0.ffn_down.weight": [6, 4], "output_norm.weight": [4],
}  # fmt: skip


def text(s):
    return struct.pack("<Q", len(s.encode())) + s.encode()


def value(v):
    """(type id, bytes) of a metadata value; a pair is (type id, array)."""
    if isinstance(v, bool):
        return 7, bytes([v])
    if isinstance(v, int):
        return 4, struct.pack("<I", v)
    if isinstance(v, float):
        return 6, struct.pack("<f", v)
    if isinstance(v, str):
        return 8, text(v)
    kind, items = v
    pack = {4: "<I", 5: "<i", 6: "<f"}
    body = b"".join(text(i) if kind == 8 else struct.pack(pack[kind], i) for i in items)
    return 9, struct.pack("<IQ", kind, len(items)) + body


def gguf(metadata, tensors):
    out = b"GGUF" + struct.pack("<IQQ", 3, len(tensors), len(metadata))
    for key, v in metadata.items():
        kind, body = value(v)
        out += text(key) + struct.pack("<I", kind) + body
    data = b""
    for name, dims in tensors.items():
        n_bytes = 4
        out += text(name) + struct.pack("<I", len(dims))
        for d in dims:
            out += struct.pack("<Q", d)
            n_bytes *= d
        out += struct.pack("<IQ", 0, len(data))
        data += bytes(n_bytes) + bytes(-n_bytes % 32)
    return out + bytes(-len(out) % 32) + data


def model_metadata(architecture="llama"):
    keys = {
        "embedding_length": 4, "feed_forward_length": 6, "block_count": 1,
        "attention.head_count": 2, "attention.head_count_kv": 1, "attention.key_length": 4,
        "context_length": 64, "attention.layer_norm_rms_epsilon": 1e-5, "rope.freq_base": 1e4,
    }  # fmt: skip
    out = {"general.architecture": architecture}
    out.update({f"{architecture}.{k}": v for k, v in keys.items()})
    return out


def vocabulary(model, tokens, **more):
    out = {"tokenizer.ggml.model": model, "tokenizer.ggml.tokens": (8, tokens)}
    out.update({f"tokenizer.ggml.{k}": v for k, v in more.items()})
    return out


def gguf_seeds():
    bpe = vocabulary("gpt2", ["a", "b", "ab"], merges=(8, ["a b"]), pre="llama-bpe",
                     token_type=(5, [1, 1, 3]), bos_token_id=1, eos_token_id=2)  # fmt: skip
    yield gguf({**model_metadata(), **bpe, "tokenizer.chat_template": "{{ messages }}"}, TENSORS)
    yield gguf({**model_metadata("qwen2"), **bpe}, TENSORS)
    for name in ("qwen3", "qwen3moe", "gemma2", "gemma3", "phi3", "olmo2", "smollm3"):
        more = {f"{name}.expert_count": 2, f"{name}.expert_used_count": 1,
                f"{name}.expert_feed_forward_length": 6, f"{name}.attention.sliding_window": 8,
                f"{name}.rope.scaling.type": "yarn", f"{name}.rope.scaling.factor": 2.0}  # fmt: skip
        experts = {"blk.0.ffn_gate_inp.weight": [4, 2], "blk.0.ffn_gate_exps.weight": [4, 6, 2],
                   "blk.0.ffn_up_exps.weight": [4, 6, 2], "blk.0.ffn_down_exps.weight": [6, 4, 2],
                   "blk.0.attn_q_norm.weight": [4], "blk.0.attn_k_norm.weight": [4]}  # fmt: skip
        yield gguf({**model_metadata(name), **bpe}, {**TENSORS, **experts})
        yield gguf({**model_metadata(name), **more, **bpe}, {**TENSORS, **experts})
    spm = vocabulary("llama", ["<unk>", "<0x0A>", "▁a"], scores=(6, [0.0, 0.0, -1.0]),
                     token_type=(5, [2, 6, 1]), unknown_token_id=0)  # fmt: skip
    yield gguf({**spm, "tokenizer.ggml.add_space_prefix": True}, {})
    unigram = vocabulary("t5", ["<pad>", "</s>", "▁", "a"], scores=(6, [0.0, 0.0, -2.0, -1.0]),
                         token_type=(5, [3, 3, 1, 1]), unknown_token_id=0)  # fmt: skip
    yield gguf(unigram, {})
    yield gguf(vocabulary("bert", ["[UNK]", "[CLS]", "[SEP]", "▁a", "b"], unknown_token_id=0,
                          cls_token_id=1, seperator_token_id=2), {})  # fmt: skip
    yield gguf(vocabulary("gemma4", ["<unk>", "▁a", "<0x0A>"], merges=(8, [])), {})
    yield gguf({"general.alignment": 64, "split.no": 0, "split.count": 2}, {"a": [2], "b": [1, 2]})
    yield gguf({}, {})[:24]


def safetensors(header, n_bytes):
    body = json.dumps(header, separators=(",", ":")).encode()
    body += b" " * (-len(body) % 8)
    return struct.pack("<Q", len(body)) + body + bytes(n_bytes)


def safetensors_seeds():
    yield safetensors({}, 0)
    yield safetensors({"__metadata__": {"format": "pt"}}, 0)
    yield safetensors({
        "a": {"dtype": "F32", "shape": [2], "data_offsets": [0, 8]},
        "b": {"dtype": "BF16", "shape": [2, 1], "data_offsets": [8, 12]},
        "c": {"dtype": "F4", "shape": [4], "data_offsets": [12, 14]},
        "e": {"dtype": "I64", "shape": [0, 3], "data_offsets": [14, 14]},
    }, 14)  # fmt: skip


def small(tokenizer, n=24):
    """The tokenizer with few tokens: those of one byte, as far as they are needed first."""
    model = tokenizer["model"]
    if isinstance(model.get("vocab"), list):
        model["vocab"] = model["vocab"][:n]
    elif isinstance(model.get("vocab"), dict):
        model["vocab"] = dict(list(model["vocab"].items())[:n])
        known = set(model["vocab"])
        kept = []
        for merge in model.get("merges", []):
            pair = merge if isinstance(merge, list) else merge.split(" ")
            if {pair[0], pair[1], pair[0] + pair[1]} <= known:
                kept.append(merge)
        if "merges" in model:
            model["merges"] = kept
    return tokenizer


def tokenizer_seeds():
    """The parts that the fixtures' tokenizers are made of, over few tokens."""
    seen = set()
    for group in json.loads((FIXTURES / "tokenizer_models.json").read_text()):
        for entry in group["entries"]:
            whole = json.loads(json.dumps(group["base"]))
            whole.update(entry["patch"])
            if whole["model"].get("type") not in ("BPE", "Unigram", "WordPiece", "WordLevel"):
                continue
            whole = small(whole)
            body = json.dumps(whole, ensure_ascii=False, separators=(",", ":")).encode()
            if len(body) < 6000 and body not in seen:
                seen.add(body)
                config = json.dumps({"eos_token": "</s>"}).encode() if len(seen) % 4 == 0 else b""
                yield body + b"\0" + config + b"\0Hello <s> w\xc3\xb6rld 42"
    tiny = json.loads((FIXTURES / "tiny_tokenizer.json").read_text())
    yield json.dumps(small(tiny), ensure_ascii=False, separators=(",", ":")).encode()


def template_source_seeds():
    for path in sorted((FIXTURES / "templates").glob("*.jinja")):
        yield path.read_bytes()
    cases = json.loads((FIXTURES / "templates" / "language.json").read_text())["cases"]
    for case in cases:
        if len(case["template"]) < 300:
            yield case["template"].encode()


def template_data_seeds():
    values = ["1", "-1.5", '"aBc d"', "[1,2,3]", '{"k":1,"a":[null]}', '[{"k":1},{"k":"x"}]',
              "null", "true", '[["a",2],["b",1]]', "9223372036854775807", '"\\u00e9\\n<&\'"']  # fmt: skip
    for i, x in enumerate(values):
        yield f'{{"x":{x},"y":{values[i - 1]}}}'.encode()
    messages = [
        {"role": "system", "content": "S"}, {"role": "user", "content": [{"type": "text", "text": "t"}]},
        {"role": "assistant", "content": None, "tool_calls": [
            {"type": "function", "function": {"name": "f", "arguments": {"a": 1}}}]},
        {"role": "tool", "content": "{}"},
    ]  # fmt: skip
    tools = [{"type": "function", "function": {"name": "f", "description": "d", "parameters": {
        "type": "object", "properties": {"a": {"type": ["integer", "null"], "enum": [1]}}}}}]  # fmt: skip
    yield json.dumps({"messages": messages, "tools": tools, "bos_token": "<s>"}).encode()
    yield json.dumps({"messages": messages[:2], "add_generation_prompt": True}).encode()


def config_seeds():
    def changed(**change):
        return json.dumps({**CONFIG, **change}, separators=(",", ":")).encode()

    generation = json.dumps({"eos_token_id": [1, 2], "bos_token_id": 1}).encode()
    yield changed() + b"\0" + generation
    yield changed(rope_parameters={"rope_theta": 1e4, "rope_type": "default"}, rope_theta=None)
    yield changed(rope_scaling={"rope_type": "llama3", "factor": 8.0, "low_freq_factor": 1.0,
                                "high_freq_factor": 4.0, "original_max_position_embeddings": 64})  # fmt: skip
    llama3 = {"factor": 8.0, "low_freq_factor": 1.0, "high_freq_factor": 4.0}
    yield changed(rope_parameters={"rope_type": "llama3", "rope_theta": 1e4,
                                   "original_max_position_embeddings": 32, **llama3})  # fmt: skip
    yield changed(rope_scaling={"type": "yarn", "factor": 4.0, "beta_fast": 32,
                                "original_max_position_embeddings": 16})  # fmt: skip
    for model_type, name, more in FAMILIES:
        yield changed(model_type=model_type, architectures=[name + "ForCausalLM"], **more)
    yield changed(model_type="mistral", architectures=["MistralForCausalLM"], sliding_window=None)
    yield changed(model_type="qwen2", architectures=["Qwen2ForCausalLM"], use_sliding_window=False)
    yield changed(quantization_config={"quant_method": "gptq", "bits": 4}, dtype="bfloat16")


def folder_seeds():
    names = {
        "token_embd": "model.embed_tokens", "output_norm": "model.norm",
        "blk.0.attn_norm": "model.layers.0.input_layernorm",
        "blk.0.attn_q": "model.layers.0.self_attn.q_proj",
        "blk.0.attn_k": "model.layers.0.self_attn.k_proj",
        "blk.0.attn_v": "model.layers.0.self_attn.v_proj",
        "blk.0.attn_output": "model.layers.0.self_attn.o_proj",
        "blk.0.ffn_norm": "model.layers.0.post_attention_layernorm",
        "blk.0.ffn_gate": "model.layers.0.mlp.gate_proj",
        "blk.0.ffn_up": "model.layers.0.mlp.up_proj",
        "blk.0.ffn_down": "model.layers.0.mlp.down_proj",
    }  # fmt: skip

    def model(matrix_type, n_bytes, scales):
        header, at = {}, 0

        def add(name, dtype, shape, size):
            nonlocal at
            for d in shape:
                size *= d
            header[name] = {"dtype": dtype, "shape": shape, "data_offsets": [at, at + size]}
            at += size

        for stored, dims in TENSORS.items():
            name = names[stored.removesuffix(".weight")] + ".weight"
            if len(dims) == 1 or stored.startswith("token"):
                add(name, "F32", dims[::-1], 4)
            else:
                add(name, matrix_type, dims[::-1], n_bytes)
                if scales:
                    add(name + "_scale_inv", "F32", [1, 1], 4)
        return safetensors(header, at)

    config = json.dumps(CONFIG, separators=(",", ":")).encode()
    yield config + b"\0" + model("F32", 4, scales=False)
    yield config + b"\0" + model("BF16", 2, scales=False)
    fp8 = {**CONFIG, "quantization_config": {"quant_method": "fp8", "weight_block_size": [128, 128]}}
    yield json.dumps(fp8, separators=(",", ":")).encode() + b"\0" + model("F8_E4M3", 1, scales=True)


def prompts_seeds():
    yield b'{"id":"a","prompt":"x"}\n\n{"messages":[{"role":"user","content":"x"}],"max_tokens":4}'
    yield json.dumps([{"prompt_token_ids": [1, 2], "sampling": {"temperature": 0.5, "seed": 7,
                       "logit_bias": {"3": -1}}, "stop": ["a"], "stop_token_ids": [2],
                       "ignore_eos": True, "tags": ["t"], "meta": {"k": 1}}]).encode()  # fmt: skip
    yield json.dumps({"custom_id": "r", "method": "POST", "url": "/v1/chat/completions", "body": {
        "model": "m", "messages": [{"role": "user", "content": "x"}], "temperature": 0}}).encode()  # fmt: skip
    yield json.dumps({"conversations": [{"from": "human", "value": "x"},
                                        {"from": "gpt", "value": "y"}]}).encode()  # fmt: skip
    yield json.dumps({"prompt": "x", "output_tokens_count": 5}).encode()


def policy_seeds():
    for path in sorted(Path(__file__).parents[2].glob("examples/policies/*.json")):
        yield path.read_bytes()
    yield json.dumps({
        "name": "p", "level": 2, "must_match": ["model.weights.stored_root", "prompts"],
        "expected_changes": {"expected": ["software.*"], "allowed": ["*"], "unexpected": "fail"},
        "rules": [{"id": "r", "metric": "token_mismatch_rate", "scope": "axis",
                   "against": "reference", "where": {"cells": ["a*"], "axes": {"a.b": "8"},
                                                     "tags": "t", "prompts": []},
                   "min": 0, "max": 0.5, "severity": "warn", "confidence": "bound"}],
        "coverage": {"min_prompts": 1, "min_samples": 2, "cells": ["*"]},
        "overrides": [{"rule": "r", "cell": "c", "prompt": "p", "reason": "x",
                       "expires": "2026-12-31"}],
        "tiers": [{"name": "a", "tags": ["x"], "level": 1}, {"name": "b"}]}).encode()  # fmt: skip


def baseline_parts():
    positions = {"tokens": [5, 6], "logprobs": [-0.5, "7fc00000"], "margins": [0.25, None],
                 "logits_hashes": ["00" * 16, None], "top": [[[5, -0.5]], []]}  # fmt: skip
    sample = {"cell": 0, "prompt": 0, "repeat": 0, "sample_index": 0, "request_id": "a", "seed": "1",
              "finish_reason": "length", "text": {"bytes": "ff"}, "error": "", "non_finite": False,
              "scheduling": {"max_batch_requests": 1, "min_batch_requests": 1,
                             "max_batch_tokens": 1, "first_row": 0, "prefill_chunks_tokens": [2],
                             "n_steps": 2, "n_mixed_steps": 0, "n_cached_tokens": 0,
                             "n_preemptions": 0},
              "ttft_ms": 0.5, "total_ms": 1, "embedding": [0.5], **positions}  # fmt: skip
    return {
        "baseline": {"name": "prod", "version": 1, "created": "2026-01-02", "note": ""},
        "policy": ["{", "}"],
        "run": {"id": "r", "created": "2026-01-02", "target": "t", "label": "", "plan_json": "{}",
                "prompts_digest": "00", "status": "complete", "stop_reason": "",
                "fingerprint": "f", "redacted": False},
        "fingerprint": [{"class": "model", "name": "n", "value": "v", "source": "measured",
                         "reason": ""}],
        "requests": [{"id": "a", "text": "x", "prompt_token_ids": [1, 2], "max_tokens": 2,
                      "n_top": 1, "stop": ["s"], "stop_token_ids": [3], "ignore_eos": False,
                      "forced_token_ids": [], "tags": ["t"],
                      "sampling": {"temperature": 0, "top_k": 0, "top_p": 1, "min_p": 0,
                                   "repetition_penalty": 1, "frequency_penalty": 0,
                                   "presence_penalty": 0, "logit_bias": [[3, -1.5]], "seed": "1",
                                   "seed_source": "request", "n": 1}}],
        "cells": [{"index": 0, "name": "reference", "values": {"load.concurrency": "1"},
                   "reference_index": 0, "complete": True, "exercised": True,
                   "not_exercised_reason": "", "wall_ms": 1, "generated_tokens_per_s": 2}],
        "samples": [sample],
        "forced": [{"cell": 0, "prompt": 0, "repeat": 0, "sample_index": 0, "over_run": "",
                    **positions}],
    }  # fmt: skip


def baseline_seeds():
    def file(parts):
        def canonical(value):
            return json.dumps(value, sort_keys=True, separators=(",", ":"))

        sums = {name: hashlib.sha256(canonical(part).encode()).hexdigest()
                for name, part in parts.items()}  # fmt: skip
        lines = {"format": "isobit.baseline", "format_version": 1, **parts, "checksums": sums}
        return ("{" + ",".join(f"\n{json.dumps(k)}: {canonical(v)}" for k, v in lines.items())
                + "\n}\n").encode()  # fmt: skip

    yield file(baseline_parts())
    yield file(baseline_parts() | {"samples": [], "forced": [], "policy": []})
    yield file({name: [] if isinstance(part, list) else part
                for name, part in baseline_parts().items()})  # fmt: skip


def ustar(members):
    out = io.BytesIO()
    for name, content in sorted(members.items()):
        info = tarfile.TarInfo(name)
        info.size = len(content)
        out.write(info.tobuf(tarfile.USTAR_FORMAT) + content + bytes(-len(content) % 512))
    return out.getvalue() + bytes(1024)


def bundle_seeds():
    def canonical(value):
        return json.dumps(value, sort_keys=True, separators=(",", ":")).encode()

    parts = baseline_parts()
    del parts["baseline"], parts["policy"]
    for name in (None, "samples", "forced", "requests"):
        sections = parts | ({name: []} if name else {})
        members = {f"runs/r/{key}.jsonl": b"".join(canonical(line) + b"\n" for line in lines)
                   for key, lines in sections.items() if key != "run"}  # fmt: skip
        members["runs/r/run.json"] = canonical(sections["run"]) + b"\n"
        members["policy.json"] = b"{}"
        runs = [{"id": "r", "created": sections["run"]["created"],
                 "sha256": hashlib.sha256(canonical(sections)).hexdigest()}]  # fmt: skip
        listed = [{"name": key, "bytes": len(content), "sha256": hashlib.sha256(content).hexdigest()}
                  for key, content in sorted(members.items())]  # fmt: skip
        manifest = {"format": "isobit.bundle", "format_version": 1, "runs": runs,
                    "members": listed}  # fmt: skip
        yield ustar(members | {"manifest.json": canonical(manifest) + b"\n"})
    yield ustar({"manifest.json": b"{}", "x": b"y"})
    yield ustar({})


def evidence_seeds():
    sha = "0" * 64
    statement = json.dumps({
        "_type": "https://in-toto.io/Statement/v1",
        "subject": [{"name": "run/r", "digest": {"sha256": sha}}],
        "predicateType": "https://in-toto.io/attestation/test-result/v0.1",
        "predicate": {"result": "PASSED", "passedTests": ["a"],
                      "configuration": [{"name": "p", "digest": {"sha256": sha}, "content": "e30=",
                                         "mediaType": "m", "annotations": {"a": 1}}]},
    })  # fmt: skip
    yield statement.encode()
    payload = base64.b64encode(statement.encode()).decode()
    yield json.dumps({"payloadType": "application/vnd.in-toto+json", "payload": payload,
                      "signatures": [{"keyid": sha, "sig": "AAAA"}, {"sig": "_-8="}]}).encode()  # fmt: skip
    verdict = {"format": "isobit.verdict", "version": 1, "outcome": "fail", "level": 1,
               "sentence": "FAIL at level 1: x", "policy": {"level": 1},
               "rules": [{"rule": "a", "tier": "t", "outcome": "fail"}],
               "reasons": [{"outcome": "fail", "subject": "a", "text": "b"}]}  # fmt: skip
    whole = json.loads(statement)
    whole["predicate"] = {
        "result": "FAILED", "passedTests": [], "warnedTests": [], "failedTests": ["t/a"],
        "configuration": [
            {"name": name, "digest": {"sha256": sha}, "annotations": {"isobit_outcome": "fail", "isobit_level": 1},
             "content": base64.b64encode(json.dumps(content).encode()).decode()}
            for name, content in (("policy.json", verdict["policy"]), ("verdict.json", verdict))],
    }  # fmt: skip
    yield json.dumps(whole).encode()
    names = ("fingerprint", "measured:model:architecture", "unknown:hardware:gpu",
             "reason:hardware:gpu")  # fmt: skip
    yield json.dumps({"bomFormat": "CycloneDX", "specVersion": "1.6", "properties": [
        {"name": "isobit:" + name, "value": "v"} for name in names]}).encode()  # fmt: skip


def configuration_seeds():
    yield b'{// now\n"label":"a","kernel_set":"cpu","isa":"avx2","threads":2,"kv_dtype":"f32"}'
    yield b'{"chunked_prefill":"016","contract":"1","environment":{"driver":"550.54"}}'
    yield b'{"$schema":"s","server":{"url":"x"}}'
    yield b"{}"


SEEDS = {
    "bundle": bundle_seeds, "evidence": evidence_seeds,
    "safetensors": safetensors_seeds, "gguf": gguf_seeds, "tokenizer": tokenizer_seeds,
    "template_source": template_source_seeds, "template_data": template_data_seeds,
    "config": config_seeds, "folder": folder_seeds, "prompts": prompts_seeds,
    "policy": policy_seeds,
    "baseline": baseline_seeds, "configuration": configuration_seeds,
}  # fmt: skip


def main():
    if len(sys.argv) != 2:
        sys.exit(__doc__.strip().splitlines()[-1])
    for target, seeds in SEEDS.items():
        folder = Path(sys.argv[1]) / target
        folder.mkdir(parents=True, exist_ok=True)
        for i, seed in enumerate(seeds()):
            (folder / f"seed_{i:03}").write_bytes(seed)


if __name__ == "__main__":
    main()
