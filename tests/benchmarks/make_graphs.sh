#!/usr/bin/env bash
# Writes COUNT graphs with shapes that all differ: convolution, attention, matmul, batchnorm, pointwise in turn.
# Usage: make_graphs.sh COUNT FOLDER [FIRST]     FIRST: number of the first one (0); later ones are larger
set -euo pipefail
mkdir -p "$2"
awk -v count="$1" -v folder="$2" -v first="${3:-0}" '
  function tensor(uid, name, type, dims, strides, rest) {
    return "{\"uid\":" uid ",\"name\":\"" name "\",\"data_type\":\"" type "\",\"dims\":[" dims "],\"strides\":[" strides "],\"virtual\":false}" rest
  }
  function head(name, type) {
    return "{\"name\":\"" name "\",\"compute_data_type\":\"float\",\"io_data_type\":\"" type "\",\"intermediate_data_type\":\"float\",\"tensors\":["
  }
  function nchw(n, c, h, w) { return n "," c "," h "," w }
  function packed(n, c, h, w) { return c * h * w "," h * w "," w ",1" }
  function node(type, inputs, outputs, rest) {
    return "],\"nodes\":[{\"name\":\"node\",\"type\":\"" type "\",\"compute_data_type\":\"float\",\"inputs\":{" inputs "},\"outputs\":{" outputs "}" rest "}]}"
  }
  BEGIN {
    for (i = first; i < first + count; i++) {
      kind = i % 5; v = int(i / 5); a = 1 + v % 61; b = 1 + int(v / 61) % 53; c = 1 + int(v / 3233)
      if (kind == 0) {
        h = 8 + b; ch = 4 * c
        text = head("conv", "float") tensor(1, "x", "float", nchw(a, ch, h, h), packed(a, ch, h, h), ",") \
          tensor(2, "w", "float", nchw(16, ch, 3, 3), packed(16, ch, 3, 3), ",") \
          tensor(3, "y", "float", nchw(a, 16, h, h), packed(a, 16, h, h), "") \
          node("ConvolutionFwdAttributes", "\"x_tensor_uid\":1,\"w_tensor_uid\":2", "\"y_tensor_uid\":3", \
            ",\"parameters\":{\"conv_mode\":\"CROSS_CORRELATION\",\"pre_padding\":[1,1],\"post_padding\":[1,1],\"stride\":[1,1],\"dilation\":[1,1]}")
      } else if (kind == 1) {
        text = head("sdpa", "half")
        for (t = 1; t <= 4; t++) text = text tensor(t, "t" t, "half", nchw(a, c, 8 * b, 64), packed(a, c, 8 * b, 64), t < 4 ? "," : "")
        text = text node("SdpaAttributes", "\"q_tensor_uid\":1,\"k_tensor_uid\":2,\"v_tensor_uid\":3", "\"o_tensor_uid\":4", \
          ",\"attributes\":{\"attn_scale_value\":0.125,\"causal_mask\":true,\"diagonal_alignment\":\"TOP_LEFT\"}")
      } else if (kind == 2) {
        m = 16 * a; k = 16 * b; n = 16 * c
        text = head("matmul", "half") tensor(1, "a", "half", "1," m "," k, m * k "," k ",1", ",") \
          tensor(2, "b", "half", "1," k "," n, k * n "," n ",1", ",") tensor(3, "c", "half", "1," m "," n, m * n "," n ",1", "") \
          node("MatmulAttributes", "\"a_tensor_uid\":1,\"b_tensor_uid\":2", "\"c_tensor_uid\":3", "")
      } else if (kind == 3) {
        h = 4 + b; ch = 8 * c
        text = head("batchnorm", "float") tensor(1, "x", "float", nchw(a, ch, h, h), packed(a, ch, h, h), ",")
        for (t = 2; t <= 5; t++) text = text tensor(t, "p" t, "float", nchw(1, ch, 1, 1), ch ",1,1,1", ",")
        text = text tensor(6, "y", "float", nchw(a, ch, h, h), packed(a, ch, h, h), "") \
          node("BatchnormInferenceAttributes", "\"x_tensor_uid\":1,\"mean_tensor_uid\":2,\"inv_variance_tensor_uid\":3,\"scale_tensor_uid\":4,\"bias_tensor_uid\":5", "\"y_tensor_uid\":6", "")
      } else {
        text = head("add", "bfloat16")
        for (t = 1; t <= 3; t++) text = text tensor(t, "t" t, "bfloat16", nchw(a, b, c, 32), packed(a, b, c, 32), t < 3 ? "," : "")
        text = text node("PointwiseAttributes", "\"operation\":\"add\",\"in_0_tensor_uid\":1,\"in_1_tensor_uid\":2", "\"out_0_tensor_uid\":3", "")
      }
      file = sprintf("%s/g%06d.json", folder, i)
      print text > file
      close(file)
    }
  }'
