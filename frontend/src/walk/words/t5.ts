// The walk through T5: what only it has, and what other steps say of it; in both languages. `gated` and `ungated` are its
// feed-forward networks.

export const T5 = {
  box_bias: ["+ B", "+ B"],
  box_residual_t5: ["Add", "相加"],
  step_embed_t5_formula: ["X = word", "X = 词"],
  step_embed_t5_text: [
    "Each token becomes the row of its word, and nothing is added. Where a token stands comes in later: a bias by distance is added to the scores.",
    "每个词元变成它那个词的一行，不加任何东西。词元在哪里，要到后面才进来：得分上加一个取决于距离的偏置。",
  ],
  step_embed_t5_claim: [
    "Every Transformer adds a position vector to the words.",
    "每个 Transformer 都把位置向量加到词上。",
  ],
  step_embed_t5_note: [
    "T5 adds none: X is the same wherever a word stands, and both stacks use one table of words.",
    "T5 什么都不加：一个词在哪里，X 都一样；两个部分共用一张词表。",
  ],
  step_bias_title: ["Bias by distance", "按距离的偏置"],
  step_bias_formula: ["Q·Kᵀ + B,  B = b[distance]", "Q·Kᵀ + B,  B = b[距离]"],
  step_bias_text: [
    "To each score a number is added that depends only on the head and on how far before or after the query the key stands. Near distances have a number each, farther ones share one (32 in all in the models that were published). Scores are not divided by √d.",
    "每个得分加上一个数，它只取决于是哪个头，以及键在查询之前或之后多远。近的距离各有一个数，远的几个共用一个（公开的模型共 32 个）。得分不除以 √d。",
  ],
  step_bias_claim: [
    "Every layer learns its own positions, and every attention divides by √d.",
    "每一层都学自己的位置，每种注意力都除以 √d。",
  ],
  step_bias_note: [
    "In T5 the first layer has the table, and all layers of the stack add the same B. Its weights began small enough to do without √d.",
    "在 T5 中表在第一层，同一部分的所有层加的是同一个 B。它的权重一开始就足够小，不需要 √d。",
  ],
  step_softmax_t5_formula: ["A = softmax(Q·Kᵀ + B)", "A = softmax(Q·Kᵀ + B)"],
  step_residual_t5_title: ["Add", "相加"],
  step_residual_t5_formula: ["X + attention(norm(X))", "X + attention(norm(X))"],
  step_residual_t5_text: [
    "The result is added to what came in, unnormalised: a layer corrects, it does not replace. The sum runs through the whole stack; the next norm works on a copy, and only the last one on the sum itself.",
    "结果加到未归一化的输入上：一层是修正，不是替换。这个和贯穿整个部分；下一次归一化作用在副本上，只有最后一次作用在和本身。",
  ],
  step_residual_t5_claim: ["The sum is normalised, as in BERT.", "和 BERT 一样，相加之后要归一化。"],
  step_residual_t5_note: [
    "Not here: T5 normalises before each part of a layer (pre-norm), with RMSNorm.",
    "这里不。T5 在一层的每个部分之前归一化（pre-norm），用的是 RMSNorm。",
  ],
  step_feed_ungated_formula: ["relu(x·W_1)·W_2", "relu(x·W_1)·W_2"],
  step_feed_ungated_text: [
    "Each token alone passes through two linear maps without biases, with ReLU between them. It reads a normalised copy, and its result is added.",
    "每个词元单独经过两个没有偏置的线性映射，中间是 ReLU。它读的是归一化的副本，结果相加。",
  ],
  step_feed_gated_title: ["Feed-forward network with a gate", "带门的前馈网络"],
  step_feed_gated_formula: ["(gelu(x·W_G) ∘ (x·W_1))·W_2", "(gelu(x·W_G) ∘ (x·W_1))·W_2"],
  step_feed_gated_text: [
    "Each token alone passes through two maps side by side, as in T5 1.1 and Flan-T5. One, bent by GELU, is a gate: number by number it multiplies the other. A third map brings the product back to the width of X, and the result is added.",
    "每个词元单独经过并排的两个映射，如 T5 1.1 和 Flan-T5。其中一个经 GELU 弯折后是一道门：逐个数地乘到另一个上。第三个映射把乘积带回 X 的宽度，结果相加。",
  ],
  step_stack_t5_text: [
    "The same block again, with other weights and the same B. Below are the states between the layers, one row per token; the last one, normalised once more, is E: what the decoder reads.",
    "同样的块，权重不同，B 相同。下面是各层之间的状态，每行一个词元；最后的状态再归一化一次，就是解码器所读的 E。",
  ],
  step_stack_t5_claim: ["T5 is an encoder, as BERT is.", "T5 和 BERT 一样，是编码器。"],
  step_stack_t5_note: [
    "It has both: this encoder, and a decoder that reads E and writes the answer to whatever task the text names.",
    "它两者都有：这个编码器，以及读 E 并写出答案的解码器；做什么任务由文本说明。",
  ],
  step_target_t5_text: [
    "The decoder reads what has been said so far, beginning with the padding token, which T5 uses to start. At each position it predicts the next word. In training the whole answer is given at once, shifted one position to the right.",
    "解码器读已经说出的部分，从填充词元开始，T5 用它起头。在每个位置预测下一个词。训练时一次给出整个答案，右移一位。",
  ],
  step_mask_t5_formula: ["Q·Kᵀ + B + M,  M = −∞ above the diagonal", "Q·Kᵀ + B + M，对角线以上 M = −∞"],
  step_mask_t5_text: [
    "No position may see a later one; otherwise it would read the word it has to predict. The decoder has a bias by distance of its own, for what lies before. The mask is added before the softmax, so that the remaining weights still sum to 1.",
    "任何位置都不能看到后面的词，否则就读到了要预测的词。解码器有自己的按距离的偏置，只管前面的词。掩码在 softmax 之前加上，因此剩下的权重之和仍为 1。",
  ],
  step_attend_t5_formula: ["softmax(Q·Kᵀ + B + M)·V", "softmax(Q·Kᵀ + B + M)·V"],
  step_attend_t5_text: [
    "After the softmax everything above the diagonal is exactly 0. The rest is as in the encoder: mix, join, project, add.",
    "softmax 之后，对角线以上恰好为 0。其余与编码器相同：混合、拼接、投影、相加。",
  ],
  step_cross_t5_formula: [
    "Q = norm(D)·W_Q   K = E·W_K   V = E·W_V",
    "Q = norm(D)·W_Q   K = E·W_K   V = E·W_V",
  ],
  step_cross_t5_text: [
    "Here source and answer meet. Queries come from the decoder, one row for each of the t words so far; keys and values from the last state E of the encoder, one for each of the n words of the source. So the map has t rows and n columns. No bias is added: a distance from one text to the other means nothing.",
    "源文与答案在此相遇。查询来自解码器（t 行），键和值来自编码器的最后状态 E（n 行），所以图有 t 行 n 列。这里不加偏置：从一个文本到另一个文本的距离没有意义。",
  ],
  step_dfeed_ungated_formula: ["D + relu(norm(D)·W_1)·W_2", "D + relu(norm(D)·W_1)·W_2"],
  step_dfeed_gated_formula: [
    "D + (gelu(norm(D)·W_G) ∘ (norm(D)·W_1))·W_2",
    "D + (gelu(norm(D)·W_G) ∘ (norm(D)·W_1))·W_2",
  ],
  step_dfeed_t5_title: ["Feed-forward, again with a norm before it", "前馈网络，之前同样归一化"],
  step_dfeed_t5_text: [
    "As in the encoder. A decoder block has three parts, each with its own norm before it and its sum after it.",
    "与编码器相同。解码器块有三个部分，每个之前都有自己的归一化，之后都有相加。",
  ],
  step_predict_t5_formula: ["p = softmax(norm(D)·W_U)", "p = softmax(norm(D)·W_U)"],
  step_predict_t5_text: [
    "The last state, normalised, meets the column of every word in the vocabulary; the softmax of these scores is the prediction. Where T5 uses its table of words for this, it divides by the root of the width first; that is part of W_U here. Click a word above to go on from there.",
    "最后的状态归一化后，与词表中每个词的那一列相遇；这些得分的 softmax 就是预测。若 T5 在这里用的是它的词表，会先除以宽度的平方根；这已算进此处的 W_U。单击上方的词，从那里继续。",
  ],
  step_loss_t5_text: [
    "Training makes the right word more likely: the loss is minus the logarithm of its probability, averaged over the positions of the answer.",
    "训练使正确的词更可能出现：损失是其概率的负对数，对答案的各位置取平均。",
  ],
  ask_embed_t5: ["Does “{word}” already know where it stands?", "“{word}”已经知道自己在哪里了吗？"],
  because_embed_t5: [
    "Its vector, {own} long, is the same at every place; positions come in with the bias of the scores.",
    "它的向量长 {own}，在哪里都一样；位置要到得分加偏置时才进来。",
  ],
  ask_bias: [
    "What does this head add to the score of “{word}” → “{key}”?",
    "这个头给“{word}”→“{key}”的得分加多少？",
  ],
  because_bias: [
    "{value}: what it adds wherever a key stands {apart} away on that side.",
    "{value}：只要键在那一侧相距 {apart}，它加的都是这个数。",
  ],
} as const;
