"""The same model as an ONNX graph, for onnxruntime to compute: the reference of the golden tests and of the benchmark."""

import numpy as np
import onnx
from onnx import TensorProto, helper, numpy_helper

from blob import count_layers


def plain(tensors, heads, epsilon=1e-12):
    """A graph of ONNX's own operators, in fp32: ids [1, tokens] to hidden [1, tokens, hidden]."""
    nodes, constants = [], []

    def constant(name, value):
        constants.append(numpy_helper.from_array(np.ascontiguousarray(value), name))
        return name

    def op(kind, *inputs, **attributes):
        out = f"{kind}_{len(nodes)}"
        nodes.append(helper.make_node(kind, list(inputs), [out], **attributes))
        return out

    def linear(x, name):
        weight = constant(name + ".weight.T", tensors[name + ".weight"].T)
        return op("Add", op("MatMul", x, weight), constant(name + ".bias", tensors[name + ".bias"]))

    def norm(x, name):
        return op("LayerNormalization", x, constant(name + ".weight", tensors[name + ".weight"]),
                  constant(name + ".bias", tensors[name + ".bias"]), epsilon=epsilon, axis=-1)

    width = tensors["encoder.layer.0.attention.self.query.weight"].shape[0]
    split = constant("split", np.array([1, -1, heads, width // heads], np.int64))
    join = constant("join", np.array([1, -1, width], np.int64))
    root = constant("root", np.array(np.sqrt(width / heads), np.float32))
    half, one, two = (constant(n, np.array(v, np.float32)) for n, v in (("half", .5), ("one", 1), ("two", np.sqrt(2))))
    places = op("Slice", constant("positions", tensors["embeddings.position_embeddings.weight"]), constant("zero", np.array([0])),
                op("Slice", op("Shape", "ids"), constant("from", np.array([1])), constant("to", np.array([2]))))
    kind = constant("type", tensors["embeddings.token_type_embeddings.weight"][0])
    words = op("Gather", constant("words", tensors["embeddings.word_embeddings.weight"]), "ids")
    x = norm(op("Add", op("Add", words, places), kind), "embeddings.LayerNorm")
    for i in range(count_layers(tensors)):
        at = f"encoder.layer.{i}."
        q, k, v = (op("Reshape", linear(x, f"{at}attention.self.{part}"), split) for part in ("query", "key", "value"))
        scores = op("MatMul", op("Transpose", q, perm=[0, 2, 1, 3]), op("Transpose", k, perm=[0, 2, 3, 1]))
        weights = op("Softmax", op("Div", scores, root), axis=-1)
        mixed = op("Transpose", op("MatMul", weights, op("Transpose", v, perm=[0, 2, 1, 3])), perm=[0, 2, 1, 3])
        x = norm(op("Add", x, linear(op("Reshape", mixed, join), at + "attention.output.dense")), at + "attention.output.LayerNorm")
        inner = linear(x, at + "intermediate.dense")
        inner = op("Mul", op("Mul", inner, half), op("Add", op("Erf", op("Div", inner, two)), one))
        x = norm(op("Add", x, linear(inner, at + "output.dense")), at + "output.LayerNorm")
    return finish(nodes, constants, x, [])


def fused(tensors, heads, epsilon=1e-12):
    """A graph of the operators that onnxruntime fuses a BERT into, which its 8-bit quantisation knows."""
    nodes, constants = [], []
    ms = "com.microsoft"

    def constant(name, value):
        constants.append(numpy_helper.from_array(np.ascontiguousarray(value), name))
        return name

    def op(kind, *inputs, outputs=1, **attributes):
        outs = [f"{kind}_{len(nodes)}_{i}" for i in range(outputs)]
        nodes.append(helper.make_node(kind, list(inputs), outs, **attributes))
        return outs[0]

    def weight(name):
        return constant(name + ".weight", tensors[name + ".weight"])

    def bias(name):
        return constant(name + ".bias", tensors[name + ".bias"])

    x = op("EmbedLayerNormalization", "ids", op("Sub", "ids", "ids"),
           constant("words", tensors["embeddings.word_embeddings.weight"]),
           constant("positions", tensors["embeddings.position_embeddings.weight"]),
           constant("types", tensors["embeddings.token_type_embeddings.weight"]),
           weight("embeddings.LayerNorm"), bias("embeddings.LayerNorm"), outputs=2, domain=ms, epsilon=epsilon)
    for i in range(count_layers(tensors)):
        at = f"encoder.layer.{i}."
        parts = [f"{at}attention.self.{part}" for part in ("query", "key", "value")]
        mixed = op("Attention", x, constant(at + "qkv.weight", np.concatenate([tensors[p + ".weight"] for p in parts]).T),
                   constant(at + "qkv.bias", np.concatenate([tensors[p + ".bias"] for p in parts])), domain=ms, num_heads=heads)
        for name, size in (("attention.output", None), ("output", "intermediate.dense")):
            inner = mixed if size is None else op(
                "BiasGelu", op("MatMul", x, constant(at + size + ".T", tensors[at + size + ".weight"].T)), bias(at + size), domain=ms)
            dense = op("MatMul", inner, constant(at + name + ".T", tensors[f"{at}{name}.dense.weight"].T))
            x = op("SkipLayerNormalization", dense, x, weight(f"{at}{name}.LayerNorm"), bias(f"{at}{name}.LayerNorm"),
                   bias(f"{at}{name}.dense"), domain=ms, epsilon=epsilon)
    return finish(nodes, constants, x, [helper.make_opsetid(ms, 1)])


def finish(nodes, constants, out, extra):
    nodes.append(helper.make_node("Identity", [out], ["hidden"]))
    graph = helper.make_graph(
        nodes, "encoder", [helper.make_tensor_value_info("ids", TensorProto.INT32 if extra else TensorProto.INT64, [1, "tokens"])],
        [helper.make_tensor_value_info("hidden", TensorProto.FLOAT, [1, "tokens", None])], constants)
    model = helper.make_model(graph, opset_imports=[helper.make_opsetid("", 17), *extra])
    model.ir_version = 9
    return model
