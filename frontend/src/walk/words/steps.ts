// What each step of the walk says: title, formula, a few plain sentences; and what is often claimed, with a note that puts it
// right.

export const STEPS = {
  step_tokens_title: ["Text → tokens → ids", "文本 → 词元 → 编号"],
  step_tokens_formula: ["text → pieces → rows of a table", "文本 → 词片 → 表的行号"],
  step_tokens_text: [
    "The tokenizer cuts the text into pieces it knows and looks up their numbers. That is all it does: meaning begins with the embedding table, where each number picks one row.",
    "分词器把文本切成它认识的词片，并查出它们的编号，仅此而已：含义从嵌入表开始，每个编号取出表中的一行。",
  ],
  step_tokens_claim: ["The tokenizer turns words into vectors.", "分词器把词变成向量。"],
  step_tokens_note: [
    "It only cuts and numbers; vectors come in the next step. What it adds itself, as [CLS] here, has a number too: [CLS] separates nothing, it is a place whose last vector a classifier can read.",
    "它只切分并编号，向量要到下一步才出现。它自己加上的词元（如这里的 [CLS]）也有编号：[CLS] 不分隔任何东西，它是一个位置，分类器可以读它最后的向量。",
  ],
  step_embed_title: ["Embedding", "嵌入"],
  step_embed_formula: ["X = word + position (+ segment)", "X = 词 + 位置（+ 片段）"],
  step_embed_text: [
    "Each token becomes a vector: the row of its word plus a vector for its position, since attention by itself knows no order. In the Transformer of 2017 positions are sines and cosines; BERT learns them, and adds a vector for sentence A or B.",
    "每个词元变成一个向量：词的那一行加上位置向量，因为注意力本身不知道顺序。2017 年的 Transformer 用正弦和余弦表示位置；BERT 的位置是学出来的，并另加表示句子 A 或 B 的向量。",
  ],
  step_embed_claim: [
    "In BERT, X is word + position, with sines and cosines for the positions.",
    "在 BERT 中，X 就是词 + 位置，位置由正弦和余弦表示。",
  ],
  step_embed_note: [
    "In BERT a segment vector is added too, and the sum goes through a LayerNorm. Its 512 positions are learned. Sines and cosines belong to the model of 2017, chosen so that PE(p + k) is a rotation of PE(p).",
    "BERT 还要加片段向量，其和再经过 LayerNorm；它的 512 个位置是学出来的。正弦和余弦属于 2017 年的模型，其性质是 PE(p + k) 为 PE(p) 的旋转。",
  ],
  step_project_title: ["Queries, keys, values", "查询、键、值"],
  step_project_formula: [
    "Q = X·W_Q + b   K = X·W_K + b   V = X·W_V + b",
    "Q = X·W_Q + b   K = X·W_K + b   V = X·W_V + b",
  ],
  step_project_text: [
    "Three learned matrices turn each token into what it looks for (query), what it offers to be found by (key) and what it hands over when looked at (value). The values are projections of X, not the words themselves. Each head has its own columns of the three matrices.",
    "三个学到的矩阵把每个词元变成：它在找什么（查询）、它凭什么被找到（键）、被看时交出什么（值）。值是 X 的投影，不是词本身。每个头使用这三个矩阵中属于自己的列。",
  ],
  step_project_claim: ["Every head has the full width of the model.", "每个头都有模型的全部宽度。"],
  step_project_note: [
    "Models split the width among their heads, as here. A single head of full width is only a simple example.",
    "模型把宽度分给各个头，如这里所示。一个全宽的头只是简单的例子。",
  ],
  step_scores_title: ["Scores", "得分"],
  step_scores_formula: ["Q·Kᵀ", "Q·Kᵀ"],
  step_scores_text: [
    "Every query meets every key: row i, column j is the dot product of query i and key j. The table is not symmetric, since Q and K come from different matrices: a word may look at one that does not look back.",
    "每个查询与每个键相遇：第 i 行第 j 列是查询 i 与键 j 的点积。此表不对称，因为 Q 与 K 来自不同的矩阵：一个词看另一个词，对方不一定回看。",
  ],
  step_scores_claim: ["The scores say how similar two words are.", "得分表示两个词有多相似。"],
  step_scores_note: [
    "Similarity would be symmetric; these scores are not.",
    "相似度应当是对称的，而这些得分不对称。",
  ],
  step_scale_title: ["Scaling", "缩放"],
  step_scale_formula: ["Q·Kᵀ / √d", "Q·Kᵀ / √d"],
  step_scale_text: [
    "A score is a sum of d products. In an untrained model their signs are random and partly cancel, so that the sum grows like √d. Dividing by √d keeps the softmax from becoming all-or-nothing, where nothing can be learned.",
    "得分是 d 个乘积之和。在未训练的模型中，它们的正负号是随机的，会部分抵消，和的大小按 √d 增长。除以 √d 使 softmax 不至于非此即彼、无法学习。",
  ],
  step_scale_claim: ["Dividing by √d makes the weights add up to 1.", "除以 √d 使权重之和为 1。"],
  step_scale_note: [
    "Softmax makes them add up to 1, whatever the scores are. Dividing by √d only keeps the scores small, so that softmax does not give everything to one word.",
    "和为 1 是 softmax 的作用，与得分大小无关；除以 √d 只是让得分小一些，使 softmax 不至于把一切都给一个词。",
  ],
  step_softmax_title: ["Softmax", "Softmax"],
  step_softmax_formula: ["A = softmax(Q·Kᵀ / √d)", "A = softmax(Q·Kᵀ / √d)"],
  step_softmax_text: [
    "Row by row, scores become shares that are positive and sum to 1: how a token divides its attention. It is a softmax, not a sigmoid: what one word gains, the others lose.",
    "逐行把得分变成和为 1 的正数份额：一个词元如何分配它的注意力。这是 softmax，不是 sigmoid：一个词得到的，正是别的词失去的。",
  ],
  step_softmax_claim: ["A score of 0 means no attention.", "得分为 0 就是没有注意力。"],
  step_softmax_note: [
    "Every score becomes a positive weight: 0 becomes e⁰ = 1 before the row is divided by its sum, and a negative score a smaller number. Only −∞, the mask of a decoder, becomes 0.",
    "每个得分都变成正的权重：0 先变成 e⁰ = 1，再除以该行之和；负的得分变成较小的数。只有 −∞（解码器的掩码）变成 0。",
  ],
  step_mix_title: ["Mixing values", "混合值"],
  step_mix_formula: ["A·V", "A·V"],
  step_mix_text: [
    "The new vector of each token is the average of all value vectors, weighted by its row of A. Where a head looks is not yet how much arrives: a large weight on a short value vector contributes little.",
    "每个词元的新向量是所有值向量按 A 的该行加权的平均。头看向哪里，还不等于传来多少：大的权重乘以短的值向量，贡献仍然很小。",
  ],
  step_join_title: ["Joining heads", "拼接各头"],
  step_join_formula: ["[head 0, head 1, …]", "[头 0, 头 1, …]"],
  step_join_text: [
    "All heads do the same in parallel, each with its own d columns. Their results are written side by side, back to the width of X. One head of full width would cost as much, but could look in only one way.",
    "所有头并行地做同样的事，各用自己的 d 列。结果并排写回 X 的宽度。一个全宽的头花费相同，却只能有一种看法。",
  ],
  step_output_title: ["Output projection", "输出投影"],
  step_output_formula: ["joined·W_O + b", "拼接·W_O + b"],
  step_output_text: [
    "W_O mixes what the heads found and puts it where later layers can read it. What a head contributes is its part of this product, α·f(x), not its weights alone.",
    "W_O 把各头所得混合，放到后面的层能读到的地方。一个头的贡献是它在这个乘积中的部分 α·f(x)，而不只是权重。",
  ],
  step_output_claim: [
    "A head that looks at [SEP] takes something from it.",
    "一个头看向 [SEP]，就从那里取得了内容。",
  ],
  step_output_note: [
    "It may add next to nothing: what counts is how long α·f(x) is, with f(x) = (x·W_V + b_V)·W_O, and on [SEP] or a full stop f(x) is often short.",
    "它可能几乎什么也没有加：要看的是 α·f(x) 有多长，其中 f(x) = (x·W_V + b_V)·W_O；在 [SEP] 或句号上，f(x) 往往很短。",
  ],
  step_residual_title: ["Add and norm", "相加与归一化"],
  step_residual_formula: ["X + attention(X), LayerNorm per token", "X + attention(X)，逐词元 LayerNorm"],
  step_residual_text: [
    "The result is added to what came in: a layer corrects, it does not replace. LayerNorm brings each token's vector to mean 0 and variance 1 and then applies a learned scale and shift. In 2017, and in BERT, it comes after the addition (post-norm); in regard's translator before each sub-layer (pre-norm), which trains more easily.",
    "结果加到输入上：一层是修正，不是替换。LayerNorm 把每个词元的向量变为均值 0、方差 1，再乘以学到的缩放并加上平移。2017 年的模型和 BERT 在相加之后做（post-norm）；regard 的翻译模型在每个子层之前做（pre-norm），更容易训练。",
  ],
  step_residual_claim: [
    "LayerNorm works over the batch, or over the sentence.",
    "LayerNorm 跨批次或跨句子计算。",
  ],
  step_residual_note: [
    "It works on one token at a time, over that token's own numbers.",
    "它每次只处理一个词元，在该词元自身的各个数上计算。",
  ],
  step_feed_title: ["Feed-forward network", "前馈网络"],
  step_feed_formula: ["act(x·W_1 + b_1)·W_2 + b_2", "act(x·W_1 + b_1)·W_2 + b_2"],
  step_feed_text: [
    "Each token alone passes through two linear maps with a bend between them: ReLU in 2017, GELU in BERT. Attention moves information between tokens; this step works on it in place. Its result is added too.",
    "每个词元单独经过两个线性映射，中间有一个弯折：2017 年用 ReLU，BERT 用 GELU。注意力在词元之间传递信息，这一步就地加工。结果同样相加。",
  ],
  step_stack_title: ["Stacked layers", "堆叠各层"],
  step_stack_formula: ["x₀ → layer 0 → x₁ → … → E", "x₀ → 第 0 层 → x₁ → … → E"],
  step_stack_text: [
    "The same block again, with other weights. Below are the states between the layers, one row per token; the last one, E, is what a decoder reads. BERT ends here: it is only an encoder.",
    "同样的块，不同的权重。下面是各层之间的状态，每行一个词元；最后的状态 E 就是解码器所读的。BERT 到此为止：它只有编码器。",
  ],
  step_stack_claim: ["BERT can write an answer, as a chat model does.", "BERT 能像聊天模型一样写出回答。"],
  step_stack_note: [
    "It has no decoder: it ends with one vector per token, which other programs read. GPT has only a decoder, T5 has both.",
    "它没有解码器：最后得到的是每个词元一个向量，供别的程序读取。GPT 只有解码器，T5 两者都有。",
  ],
  step_target_title: ["The decoder's input", "解码器的输入"],
  step_target_formula: ["target, shifted right: <s> w₁ w₂ …", "右移的目标句：<s> w₁ w₂ …"],
  step_target_text: [
    "The decoder reads what has been said so far, beginning with a start token, and at each position predicts the next word. In training the whole target is given at once, shifted one position to the right; in translation each new word is appended.",
    "解码器读已经说出的部分，从起始词元开始，在每个位置预测下一个词。训练时一次给出整个目标句，右移一位；翻译时每个新词接在末尾。",
  ],
  step_target_claim: ["The decoder reads the answer while it is being trained.", "训练时解码器能读到答案。"],
  step_target_note: [
    "It is given the answer, but at each position sees only what comes before: the mask of the next step hides the rest.",
    "答案虽然给了它，但每个位置只能看到前面的部分：下一步的掩码把其余的遮住。",
  ],
  step_mask_title: ["Causal mask", "因果掩码"],
  step_mask_formula: ["Q·Kᵀ / √d + M,  M = −∞ above the diagonal", "Q·Kᵀ / √d + M，对角线以上 M = −∞"],
  step_mask_text: [
    "No position may see a later one; otherwise it would read the word it has to predict. The mask is added before the softmax, so that the remaining weights still sum to 1. Row i sees itself and what came before.",
    "任何位置都不能看到后面的词，否则就读到了要预测的词。掩码在 softmax 之前加上，因此剩下的权重之和仍为 1。第 i 行看到自己和之前的词。",
  ],
  step_mask_claim: [
    "The mask sets weights to zero, the diagonal included.",
    "掩码把权重置零，对角线也在内。",
  ],
  step_mask_note: [
    "It is added before the softmax: set to zero afterwards, the weights of a row would no longer sum to 1. And the diagonal stays: M is −∞ strictly above it.",
    "掩码在 softmax 之前加上：若在之后置零，一行的权重之和就不再是 1。对角线保留：M 只在严格高于对角线处为 −∞。",
  ],
  step_attend_title: ["Masked self-attention", "带掩码的自注意力"],
  step_attend_formula: ["softmax(… + M)·V", "softmax(… + M)·V"],
  step_attend_text: [
    "After the softmax everything above the diagonal is exactly 0. The rest is as in the encoder: mix, join, project, add and norm.",
    "softmax 之后，对角线以上恰好为 0。其余与编码器相同：混合、拼接、投影、相加与归一化。",
  ],
  step_cross_title: ["Cross attention", "交叉注意力"],
  step_cross_formula: ["Q = D·W_Q   K = E·W_K   V = E·W_V", "Q = D·W_Q   K = E·W_K   V = E·W_V"],
  step_cross_text: [
    "Here source and target meet: queries come from the decoder, one row for each of the t words so far; keys and values from the encoder's last state E, one for each of the n words of the source. So the map has t rows and n columns.",
    "源句与目标句在此相遇：查询来自解码器，到目前为止的 t 个词各占一行；键和值来自编码器的最后状态 E，源句的 n 个词各占一列。所以图有 t 行 n 列。",
  ],
  step_dfeed_title: ["Feed-forward, again with add and norm", "前馈网络，同样相加与归一化"],
  step_dfeed_formula: ["D + act(D·W_1 + b_1)·W_2 + b_2", "D + act(D·W_1 + b_1)·W_2 + b_2"],
  step_dfeed_text: [
    "As in the encoder. A decoder block has three sub-layers, each with its own residual and norm, this one included.",
    "与编码器相同。解码器块有三个子层，每个都有自己的残差与归一化，这一个也不例外。",
  ],
  step_predict_title: ["The next word", "下一个词"],
  step_predict_formula: ["p = softmax(D·Wᵀ + b)", "p = softmax(D·Wᵀ + b)"],
  step_predict_text: [
    "The last state meets the vector of every word in the vocabulary; the softmax of these scores is the prediction. Taking the most likely word each time is greedy decoding; beam search keeps several sentences alive and may find a better one. Click a word above to go on from there.",
    "最后的状态与词表中每个词的向量相遇；这些得分的 softmax 就是预测。每次取最可能的词是贪心解码；束搜索同时保留几个句子，可能找到更好的。单击上方的词，从那里继续。",
  ],
  step_predict_claim: ["A model always says the most likely word.", "模型总是说出最可能的词。"],
  step_predict_note: [
    "It gives probabilities; which word is taken is decided outside, and taking the likeliest is only one way.",
    "它只给出概率；取哪个词由外面决定，取最可能的只是其中一种做法。",
  ],
  step_loss_title: ["Loss", "损失"],
  step_loss_formula: ["−log p(next word), mean over positions", "−log p(下一个词)，对位置取平均"],
  step_loss_text: [
    "Training makes the right word more likely: the loss is minus the logarithm of its probability. With label smoothing (0.1 here) a tenth of the target is spread over the whole vocabulary, so that the model does not become too sure.",
    "训练使正确的词更可能出现：损失是其概率的负对数。标签平滑（此处为 0.1）把目标的十分之一分给整个词表，使模型不至于过分自信。",
  ],
} as const;
