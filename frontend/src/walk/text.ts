// What each step of the walk says, in English and Chinese: title, formula, and a few plain sentences.

import type { Language } from "../strings";

export const ENCODER = [
  "tokens",
  "embed",
  "project",
  "scores",
  "scale",
  "softmax",
  "mix",
  "join",
  "output",
  "residual",
  "feed",
  "stack",
] as const;
export const DECODER = ["target", "mask", "attend", "cross", "dfeed", "predict", "loss"] as const;
export type StepId = (typeof ENCODER)[number] | (typeof DECODER)[number];

interface Words {
  title: string;
  formula: string;
  text: string;
}

const EN: Record<StepId, Words> = {
  tokens: {
    title: "Text → tokens → ids",
    formula: "text → pieces → rows of a table",
    text: "The tokenizer cuts the text into pieces it knows and looks up their numbers. That is all it does: meaning starts with the embedding table, where each number picks out one row.",
  },
  embed: {
    title: "Embedding",
    formula: "X = word + position (+ segment)",
    text: "Each token becomes a vector: the row of its word, plus one for its place, since attention by itself knows no order. In the Transformer of 2017 places are sines and cosines; BERT learns them, and adds a vector for sentence A or B.",
  },
  project: {
    title: "Queries, keys, values",
    formula: "Q = X·W_Q + b   K = X·W_K + b   V = X·W_V + b",
    text: "Three learned matrices turn each token into what it looks for (query), what it offers to be found by (key) and what it hands over when looked at (value). The values are projections of X, not the words themselves. Each head has its own columns of the three matrices.",
  },
  scores: {
    title: "Scores",
    formula: "Q·Kᵀ",
    text: "Every query meets every key: row i, column j is the dot product of query i and key j. The table is not symmetric, since Q and K come from different matrices: that hello looks at you does not mean that you looks at hello.",
  },
  scale: {
    title: "Scaling",
    formula: "Q·Kᵀ / √d",
    text: "A dot product of d numbers of size 1 has size √d. Dividing by √d keeps the softmax from becoming all-or-nothing, where nothing could be learned: switch the scaling off and look at the next step.",
  },
  softmax: {
    title: "Softmax",
    formula: "A = softmax(Q·Kᵀ / √d)",
    text: "Row by row, scores become shares that are positive and sum to 1: how a token's look is divided. It is a softmax, not a sigmoid: what one word gains, the others lose.",
  },
  mix: {
    title: "Mixing values",
    formula: "A·V",
    text: "Each token's new vector is the average of all value vectors, weighted by its row of A. Where a head looks is not yet how much arrives: a large weight on a short value vector carries little.",
  },
  join: {
    title: "Joining heads",
    formula: "[head 0, head 1, …]",
    text: "All heads did the same in parallel, each with its own d columns. Their results are written side by side, back to the width of X. One head of full width would cost as much, but could look in only one way.",
  },
  output: {
    title: "Output projection",
    formula: "joined·W_O + b",
    text: "W_O mixes what the heads found and puts it where later layers can read it. What a head contributes is its part of this product, α·f(x), not its weights alone.",
  },
  residual: {
    title: "Add and norm",
    formula: "X + attention(X), LayerNorm per token",
    text: "The result is added to what came in: a layer corrects, it does not replace. LayerNorm brings each token's vector to mean 0 and variance 1 and then applies a learned scale and shift. In 2017, and in BERT, it comes after the addition (post-norm); in regard's translator before each sub-layer (pre-norm), which trains more easily.",
  },
  feed: {
    title: "Feed-forward network",
    formula: "act(x·W_1 + b_1)·W_2 + b_2",
    text: "Each token alone passes two linear maps with a bend between them: ReLU in 2017, GELU in BERT. Attention moves information between tokens; this works on it in place. Its result is added too.",
  },
  stack: {
    title: "Stacked layers",
    formula: "x₀ → layer 0 → x₁ → … → E",
    text: "The same block again, with other weights. Below, what stands between the layers, one row a token: it is this last state, E, that a decoder reads. BERT ends here: it is an encoder only.",
  },
  target: {
    title: "The decoder's input",
    formula: "target, shifted right: <s> w₁ w₂ …",
    text: "The decoder reads what has been said so far, beginning with a start token, and at each position says the next word. In training the whole target is given at once, moved one to the right; when translating, each new word is put at the end.",
  },
  mask: {
    title: "Causal mask",
    formula: "Q·Kᵀ / √d + M,  M = −∞ above the diagonal",
    text: "No position may see a later one: else it would read the word it has to predict. The mask is added before the softmax, so that the remaining weights still sum to 1. Row i sees itself and what came before.",
  },
  attend: {
    title: "Masked self-attention",
    formula: "softmax(… + M)·V",
    text: "After the softmax everything above the diagonal is exactly 0. The rest is as in the encoder: mix, join, project, add and norm.",
  },
  cross: {
    title: "Cross attention",
    formula: "Q = D·W_Q   K = E·W_K   V = E·W_V",
    text: "Here source and target meet. Queries come from the decoder (t rows), keys and values from the encoder's last state E (n rows), so the map has t rows and n columns: for each word to be said, where in the source to look.",
  },
  dfeed: {
    title: "Feed-forward, again with add and norm",
    formula: "D + act(D·W_1 + b_1)·W_2 + b_2",
    text: "As in the encoder. A decoder block has three sub-layers, and each has its own residual and norm, this one too.",
  },
  predict: {
    title: "The next word",
    formula: "p = softmax(D·Wᵀ + b)",
    text: "The last state meets the vector of every word in the vocabulary; the softmax of these scores is the prediction. Taking the most likely word each time is greedy decoding; beam search keeps several sentences alive and may find a better one. Choose a position to go word by word.",
  },
  loss: {
    title: "Loss",
    formula: "−log p(next word), mean over positions",
    text: "Training makes the right word likelier: the loss is minus the logarithm of its probability. With label smoothing (0.1 here) a tenth of the target is spread over the whole vocabulary, so that the model does not become too sure.",
  },
};

const ZH: Record<StepId, Words> = {
  tokens: {
    title: "文本 → 词元 → 编号",
    formula: "文本 → 词片 → 表的行号",
    text: "分词器把文本切成它认识的词片并查出编号，仅此而已：含义从嵌入表开始，每个编号取出表中的一行。",
  },
  embed: {
    title: "嵌入",
    formula: "X = 词 + 位置（+ 片段）",
    text: "每个词元变成一个向量：词的那一行，加上位置向量，因为注意力本身不知道顺序。2017 年的 Transformer 用正弦和余弦表示位置；BERT 的位置是学出来的，并另加句子 A/B 的向量。",
  },
  project: {
    title: "查询、键、值",
    formula: "Q = X·W_Q + b   K = X·W_K + b   V = X·W_V + b",
    text: "三个学到的矩阵把每个词元变成：它在找什么（查询）、它凭什么被找到（键）、被看时交出什么（值）。值是 X 的投影，不是词本身。每个头使用这三个矩阵中属于自己的列。",
  },
  scores: {
    title: "得分",
    formula: "Q·Kᵀ",
    text: "每个查询与每个键相遇：第 i 行第 j 列是查询 i 与键 j 的点积。此表不对称，因为 Q 与 K 来自不同的矩阵。",
  },
  scale: {
    title: "缩放",
    formula: "Q·Kᵀ / √d",
    text: "d 个大小为 1 的数的点积大小约为 √d。除以 √d 使 softmax 不至于非此即彼而无法学习：关掉缩放，再看下一步。",
  },
  softmax: {
    title: "Softmax",
    formula: "A = softmax(Q·Kᵀ / √d)",
    text: "逐行把得分变成正的、和为 1 的份额：一个词元的目光如何分配。这是 softmax，不是 sigmoid：一个词得到的，正是别的词失去的。",
  },
  mix: {
    title: "混合值",
    formula: "A·V",
    text: "每个词元的新向量是所有值向量按 A 的该行加权的平均。头看向哪里，还不等于传来多少：大的权重乘以短的值向量，带来的很少。",
  },
  join: {
    title: "拼接各头",
    formula: "[头 0, 头 1, …]",
    text: "所有头并行地做同样的事，各用自己的 d 列。结果并排写回 X 的宽度。一个全宽的头花费相同，却只能有一种看法。",
  },
  output: {
    title: "输出投影",
    formula: "拼接·W_O + b",
    text: "W_O 把各头所得混合，放到后面的层能读到的地方。一个头的贡献是它在这个乘积中的部分 α·f(x)，而不只是权重。",
  },
  residual: {
    title: "相加与归一化",
    formula: "X + attention(X)，逐词元 LayerNorm",
    text: "结果加到输入上：一层是修正，不是替换。LayerNorm 把每个词元的向量变为均值 0、方差 1，再乘以学到的缩放并加上平移。2017 年的模型和 BERT 在相加之后做（post-norm）；regard 的翻译模型在每个子层之前做（pre-norm），更容易训练。",
  },
  feed: {
    title: "前馈网络",
    formula: "act(x·W_1 + b_1)·W_2 + b_2",
    text: "每个词元单独经过两个线性映射，中间有一个弯折：2017 年用 ReLU，BERT 用 GELU。注意力在词元之间传递信息，这里就地加工。结果同样相加。",
  },
  stack: {
    title: "堆叠各层",
    formula: "x₀ → 第 0 层 → x₁ → … → E",
    text: "同样的块，不同的权重。下面是各层之间的状态，一行一个词元：解码器读的就是最后的状态 E。BERT 到此为止：它只有编码器。",
  },
  target: {
    title: "解码器的输入",
    formula: "右移的目标句：<s> w₁ w₂ …",
    text: "解码器读已经说出的部分，从起始词元开始，在每个位置说出下一个词。训练时一次给出整个目标句并右移一位；翻译时每个新词接在末尾。",
  },
  mask: {
    title: "因果掩码",
    formula: "Q·Kᵀ / √d + M，对角线以上 M = −∞",
    text: "任何位置都不能看到后面的词，否则就读到了要预测的词。掩码在 softmax 之前相加，因此剩下的权重之和仍为 1。第 i 行看到自己和之前的词。",
  },
  attend: {
    title: "带掩码的自注意力",
    formula: "softmax(… + M)·V",
    text: "softmax 之后，对角线以上恰好为 0。其余与编码器相同：混合、拼接、投影、相加与归一化。",
  },
  cross: {
    title: "交叉注意力",
    formula: "Q = D·W_Q   K = E·W_K   V = E·W_V",
    text: "源句与目标句在此相遇。查询来自解码器（t 行），键和值来自编码器的最后状态 E（n 行），所以图有 t 行 n 列：每说一个词，看源句的哪里。",
  },
  dfeed: {
    title: "前馈网络，同样相加与归一化",
    formula: "D + act(D·W_1 + b_1)·W_2 + b_2",
    text: "与编码器相同。解码器块有三个子层，每个都有自己的残差与归一化，这一个也有。",
  },
  predict: {
    title: "下一个词",
    formula: "p = softmax(D·Wᵀ + b)",
    text: "最后的状态与词表中每个词的向量相遇；这些得分的 softmax 就是预测。每次取最可能的词是贪心解码；束搜索同时保留几个句子，可能找到更好的。选择一个位置，逐词前进。",
  },
  loss: {
    title: "损失",
    formula: "−log p(下一个词)，对位置取平均",
    text: "训练使正确的词更可能：损失是其概率的负对数。标签平滑（此处 0.1）把目标的十分之一分给整个词表，使模型不至于过分自信。",
  },
};

const LABELS = {
  step: ["Step {at} of {all}", "第 {at} 步，共 {all} 步"],
  back: ["Back", "上一步"],
  next: ["Next", "下一步"],
  hint: [
    "← → steps, ↑ ↓ heads. Point at a number to see what it is made of.",
    "← → 换步，↑ ↓ 换头。指向一个数，看它由什么组成。",
  ],
  whatIf: ["What if …", "如果……"],
  scaling: ["scaling by √d", "除以 √d"],
  masking: ["mask", "掩码"],
  symmetric: ["K in place of Q", "用 K 代替 Q"],
  single: ["one head", "只有一个头"],
  permuted: ["other word order", "打乱词序"],
  positions: ["positions", "位置"],
  temperature: ["temperature", "温度"],
  changed: ["Changed: these are not the model's numbers.", "已改动：这些不是模型的数。"],
  reset: ["as in the model", "恢复模型"],
  neurons: ["This head in the neuron view", "在神经元视图中看此头"],
  token: ["token", "词元"],
  id: ["id", "编号"],
  soFar: ["so far", "已说"],
  following: ["next word", "下一个词"],
  probability: ["probability", "概率"],
  loss: ["loss", "损失"],
  mean: ["mean", "平均"],
  symmetricNote: [
    "With K in place of Q the scores are symmetric before the softmax, and a word's match with itself is never negative. After it they are not: each row is divided by its own sum. What is lost is the freedom to look at what does not look back.",
    "用 K 代替 Q 时，softmax 之前得分对称，且词与自身的得分不为负。之后不再对称：每行除以自己的和。失去的是“看向不回看者”的自由。",
  ],
  placelessNote: [
    "Without positions a permuted sentence gives the same rows in another order: to attention it is a bag of words.",
    "没有位置时，打乱的句子得到相同的行，只是次序不同：对注意力来说它只是一袋词。",
  ],
  row: ["row", "行"],
  column: ["column", "列"],
  state: ["after layer {layer}", "第 {layer} 层之后"],
  entered: ["embedding", "嵌入"],
} as const;

export type Label = keyof typeof LABELS;

export const wordsOf = (language: Language, id: StepId): Words => (language === "zh" ? ZH : EN)[id];

export function label(language: Language, key: Label, values: Record<string, string | number> = {}): string {
  const text: string = LABELS[key][language === "zh" ? 1 : 0];
  return text.replace(/\{(\w+)\}/g, (whole, name) => (name in values ? String(values[name]) : whole));
}
