"""The tiny models of architectures.py: one of each architecture and of each option that changes
what it computes, with the fields that real configurations have, small enough that every option is
in force within the prompts.

A model is a dict: name, model_type (transformers' config class), config (its arguments), and
optionally lengths (prompt lengths; 5, 40 and 150 otherwise), dtype (of the weights; BF16
otherwise), gains (regular expression of a tensor's name: factor on its usual scale, the first that
matches), fp8 (the name of a weight's scale), older(config) (edits that make the older spelling),
gguf (what has to change in the configuration before a GGUF can say it; or why it cannot at all).
"""

LENGTHS = [5, 40, 150]
WINDOW = 24  # shorter than the second and third prompt


def common(**more):
    sizes = {
        "vocab_size": 151,
        "hidden_size": 96,
        "intermediate_size": 160,
        "num_hidden_layers": 4,
        "num_attention_heads": 6,
        "num_key_value_heads": 2,
        "max_position_embeddings": 256,
        "rms_norm_eps": 1e-5,
        "bos_token_id": 1,
        "eos_token_id": 2,
        "pad_token_id": None,
        "tie_word_embeddings": False,
    }
    return {**sizes, **more}


def rope(theta=10000.0, **scaling):
    return {"rope_type": "default", "rope_theta": theta, **scaling}


def without(config, *keys):
    """Left out: older files rely on the class's defaults."""
    for key in keys:
        config.pop(key)


def older_experts(config):
    config["num_experts"] = config.pop("num_local_experts")


def alternating(n_layers, every):
    """Each `every`-th layer sees everything, the others a window."""
    return [
        "full_attention" if (i + 1) % every == 0 else "sliding_attention" for i in range(n_layers)
    ]


def llama_models():
    # Embeddings as small as real ones: that is where rms_norm_eps shows.
    yield {
        "name": "llama",
        "model_type": "llama",
        "config": common(),
        "dtype": "F32",
        "gains": {r"embed_tokens": 2**-5},
    }
    yield {
        "name": "llama3",
        "model_type": "llama",
        "config": common(
            tie_word_embeddings=True,
            rope_parameters=rope(
                500000.0,
                rope_type="llama3",
                factor=8.0,
                low_freq_factor=1.0,
                high_freq_factor=4.0,
                original_max_position_embeddings=64,
            ),
        ),
    }
    yield {
        "name": "llama-linear",
        "model_type": "llama",
        "config": common(rope_parameters=rope(rope_type="linear", factor=4.0)),
        "dtype": "F16",
    }
    yield {
        "name": "llama-yarn",
        "model_type": "llama",
        "config": common(
            head_dim=32,
            max_position_embeddings=2048,
            # Both ends of the ramp lie inside the head: 1 and 8 of 16 frequencies.
            rope_parameters=rope(
                rope_type="yarn", factor=4.0, original_max_position_embeddings=512
            ),
        ),
    }
    yield {
        "name": "llama-bias",
        "model_type": "llama",
        "config": common(hidden_size=108, head_dim=20, attention_bias=True, mlp_bias=True),
    }
    yield {
        "name": "mistral",
        "model_type": "mistral",
        "config": common(head_dim=24, sliding_window=WINDOW),
        "gguf": {"sliding_window": None},  # the converter drops it
    }
    yield {
        "name": "smollm3",
        "model_type": "smollm3",
        "config": common(
            num_hidden_layers=5,
            tie_word_embeddings=True,
            rope_parameters=rope(5000000.0),
            pad_token_id=0,
            no_rope_layers=[1, 1, 1, 0, 1],
        ),
        "older": lambda config: without(config, "layer_types", "tie_word_embeddings"),
    }


def qwen_models():
    yield {
        "name": "qwen2",
        "model_type": "qwen2",
        "config": common(
            rope_parameters=rope(1000000.0),
            rms_norm_eps=1e-6,
            tie_word_embeddings=True,
            sliding_window=WINDOW,
            use_sliding_window=False,
            max_window_layers=2,
        ),
        "older": lambda config: config.update(sliding_window=WINDOW) or config.pop("layer_types"),
    }
    yield {
        "name": "qwen2-window",
        "model_type": "qwen2",
        "config": common(
            rope_parameters=rope(1000000.0),
            rms_norm_eps=1e-6,
            sliding_window=WINDOW,
            use_sliding_window=True,
            max_window_layers=2,
        ),
        "older": lambda config: config.pop("layer_types"),
        "gguf": "the converter drops sliding_window",
    }
    yield {
        "name": "qwen3",
        "model_type": "qwen3",
        "config": common(
            head_dim=32,
            rope_parameters=rope(1000000.0),
            rms_norm_eps=1e-6,
            sliding_window=None,
            use_sliding_window=False,
            max_window_layers=4,
        ),
        "older": lambda config: config.pop("layer_types"),
    }
    moe = {
        "head_dim": 24,
        "num_attention_heads": 4,
        "rope_parameters": rope(1000000.0),
        "rms_norm_eps": 1e-6,
        "moe_intermediate_size": 48,
        "num_experts": 8,
        "num_experts_per_tok": 3,
    }
    yield {
        "name": "qwen3-moe",
        "model_type": "qwen3_moe",
        "config": common(**moe, norm_topk_prob=True, decoder_sparse_step=1, mlp_only_layers=[]),
        "older": older_experts,
    }
    yield {
        "name": "qwen3-moe-mixed",
        "model_type": "qwen3_moe",
        "config": common(
            **moe,
            num_hidden_layers=6,
            norm_topk_prob=False,
            decoder_sparse_step=2,
            mlp_only_layers=[3],
        ),
        "older": older_experts,
        "gguf": "dense layers and norm_topk_prob = false cannot be said in GGUF",
    }
    yield {
        "name": "mixtral",
        "model_type": "mixtral",
        "config": common(
            intermediate_size=72,
            rope_parameters=rope(1000000.0),
            num_local_experts=5,
            num_experts_per_tok=2,
            sliding_window=None,
        ),
    }


def phi_models():
    """Long and short factors: transformers chooses by the running length against
    original_max_position_embeddings, isobit once, by max_position_embeddings. They agree where all
    prompts are on the same side of the original length as the configured one: phi3-short and
    phi3-long are such."""
    mini = {"pad_token_id": 0, "num_key_value_heads": 2}
    factors = {
        "short_factor": [1.0, 1.025, 1.05, 1.1, 1.175, 1.25],
        "long_factor": [1.0, 1.118, 1.7, 2.9, 5.3, 9.1],
    }
    older = lambda config: config.pop("layer_types", None)  # noqa: E731
    yield {
        "name": "phi3",
        "model_type": "phi3",
        "config": common(**mini, original_max_position_embeddings=256, sliding_window=WINDOW),
        "gguf": {"sliding_window": None},  # llama.cpp writes it and ignores it
        "older": older,
    }
    yield {
        "name": "phi3-partial",
        "model_type": "phi3",
        "config": common(
            **mini,
            original_max_position_embeddings=256,
            tie_word_embeddings=True,
            sliding_window=None,
            rope_parameters=rope(partial_rotary_factor=0.75),
        ),
        "older": older,
    }
    for name, original, lengths in [("short", 256, LENGTHS), ("long", 32, [40, 90, 150])]:
        yield {
            "name": "phi3-" + name,
            "model_type": "phi3",
            "lengths": lengths,
            "config": common(
                **mini,
                original_max_position_embeddings=original,
                sliding_window=None,
                rope_parameters=rope(
                    rope_type="longrope",
                    partial_rotary_factor=0.75,
                    original_max_position_embeddings=original,
                    **factors,
                ),
            ),
            "older": older,
        }


def older_gemma3(config):
    config["sliding_window_pattern"] = 3
    without(config, "layer_types", "_sliding_window_pattern", "tie_word_embeddings")


def older_multimodal(config):
    older_gemma3(config["text_config"])
    without(config["text_config"], "hidden_activation", "rms_norm_eps", "attention_bias")
    without(config["text_config"], "num_attention_heads", "num_key_value_heads")  # 8 and 4
    without(config["text_config"], "rope_parameters")  # 1000000 and 10000
    config["text_config"]["rope_scaling"] = {"rope_type": "linear", "factor": 8.0}


def gemma_models():
    tokens = {"bos_token_id": 2, "eos_token_id": 1, "pad_token_id": 0, "tie_word_embeddings": True}
    gemma = common(**tokens, rms_norm_eps=1e-6, sliding_window=WINDOW)
    yield {
        "name": "gemma2",
        "model_type": "gemma2",
        "config": {
            **gemma,
            "head_dim": 24,
            "num_attention_heads": 4,
            "query_pre_attn_scalar": 20,
            "attn_logit_softcapping": 50.0,
            "final_logit_softcapping": 30.0,
        },
        # Scores near 50 and logits near 30, so that the caps matter.
        "gains": {
            r"self_attn\.(q|k)_proj\.weight": 8,
            r"embed_tokens": 2,
            r"post_\w+_layernorm": 2,
        },
        "older": lambda config: without(config, "layer_types", "tie_word_embeddings"),
        "gguf": {"query_pre_attn_scalar": 24},
    }
    gemma3 = {
        **gemma,
        "num_hidden_layers": 6,
        "head_dim": 32,
        "num_attention_heads": 4,
        "num_key_value_heads": 1,
        "query_pre_attn_scalar": 24,
        "layer_types": alternating(6, 3),
        "rope_parameters": {
            "full_attention": rope(1000000.0, rope_type="linear", factor=8.0),
            "sliding_attention": rope(10000.0),
        },
    }
    yield {
        "name": "gemma3",
        "model_type": "gemma3_text",
        "config": gemma3,
        "older": older_gemma3,
        "gguf": {"query_pre_attn_scalar": 32, "layer_types": alternating(6, 6)},
    }
    vision = {
        "hidden_size": 16,
        "intermediate_size": 16,
        "num_hidden_layers": 1,
        "num_attention_heads": 2,
        "image_size": 8,
        "patch_size": 4,
    }
    text = {
        **gemma3,
        "num_attention_heads": 8,
        "num_key_value_heads": 4,
        "query_pre_attn_scalar": 32,
    }
    yield {
        "name": "gemma3-multimodal",
        "model_type": "gemma3",
        "config": {
            "text_config": text,
            "vision_config": {"model_type": "siglip_vision_model", **vision},
            "mm_tokens_per_image": 4,
            "image_token_index": 150,
            "boi_token_index": 148,
            "eoi_token_index": 149,
        },
        "older": older_multimodal,
        "gguf": {"layer_types": alternating(6, 6)},
    }


def other_models():
    yield {
        "name": "olmo2",
        "model_type": "olmo2",
        "config": common(rope_parameters=rope(500000.0), rms_norm_eps=1e-6, pad_token_id=0),
    }
    # Not multiples of 128, so that the last blocks of rows and of columns are cut.
    fp8_sizes = {
        "hidden_size": 160,
        "intermediate_size": 288,
        "num_hidden_layers": 2,
        "num_attention_heads": 5,
        "num_key_value_heads": 1,
        "head_dim": 32,
    }
    fp8 = {"quant_method": "fp8", "activation_scheme": "dynamic", "fmt": "e4m3"}
    yield {
        "name": "qwen3-fp8-block",
        "model_type": "qwen3",
        "config": common(**fp8_sizes, rms_norm_eps=1e-6),
        "fp8": "weight_scale_inv",
        "quantization_config": {**fp8, "weight_block_size": [128, 128]},
        "older": lambda config: config.pop("layer_types"),
        "gguf": "GGUF has no FP8",
    }
    yield {
        "name": "llama-fp8-tensor",
        "model_type": "llama",
        "config": common(**fp8_sizes),
        "fp8": "weight_scale",
        "quantization_config": fp8,
        "gguf": "GGUF has no FP8",
    }


def models():
    for group in (llama_models, qwen_models, phi_models, gemma_models, other_models):
        yield from group()
