// The sentences of the neuron view, in English and Chinese.

export const words = {
  neurons: ["Neurons", "神经元"],
  ledeNeurons: [
    "“{query}” looks most at “{key}”: their vectors q and k agree best, with a score of {score}.",
    "“{query}”看得最多的是“{key}”：二者的向量 q 与 k 最一致，得分 {score}。",
  ],
  legendNeurons: [
    "Score: {scale} × the sum of q × k over {d} neurons{more}. Softmax turns the scores into weights. Blue is positive, orange negative.",
    "得分：{d} 个神经元上 q × k 之和乘以 {scale}{more}。softmax 把得分变为权重。蓝色为正，橙色为负。",
  ],
  cell: ["{query} → {key}", "{query} → {key}"],
  noVectors: [
    "The neuron view needs q and k; this trace holds only attention maps.",
    "神经元视图需要 q 和 k；此记录只有注意力图。",
  ],
  chooseQuery: ["Choose the token that looks, with ⊕.", "请用 ⊕ 选择在看的词元。"],
  expand: ["Expand {text}", "展开 {text}"],
  collapse: ["Collapse {text}", "收起 {text}"],
  query: ["query q", "查询 q"],
  keyVector: ["key k", "键 k"],
  product: ["q × k, neuron by neuron", "逐个神经元的 q × k"],
  productShort: ["q × k", "q × k"],
  weightShort: ["weight", "权重"],
  score: ["sum q · k", "总和 q · k"],
  scaled: ["score", "得分"],
  withBias: [", plus the position bias", "，再加位置偏置"],
  withCap: [", softly capped at {cap}", "，软上限 {cap}"],
  softmax: ["weight (· below 0.001)", "权重（· 小于 0.001）"],
  orderNeurons: ["order neurons by |q × k|", "按 |q × k| 排列神经元"],
  mostOfScore: [
    "{n} of {d} neurons make up 90 % of this score (of Σ|q × k|).",
    "{d} 个神经元中的 {n} 个占该得分的 90 %（按 Σ|q × k|）。",
  ],
  participation: ["Participation ratio {value}.", "参与度 {value}。"],
  pairGets: ["{query} gives {key} {value} of its attention.", "{query} 把 {value} 的注意力给了 {key}。"],
  rise: [
    "The score is {value} above the average of its row. Half of that comes from {n} of {d} neurons.",
    "得分比本行平均高 {value}，其中一半来自 {d} 个神经元中的 {n} 个。",
  ],
  fall: [
    "The score is {value} below the average of its row. Half of that comes from {n} of {d} neurons.",
    "得分比本行平均低 {value}，其中一半来自 {d} 个神经元中的 {n} 个。",
  ],
  neuronName: ["neuron {index}", "神经元 {index}"],
  unpin: ["Unpin", "取消固定"],
  pairs: ["Pinned pairs, q × k", "已固定的词元对，q × k"],
  attribution: ["What the score is made of", "得分由什么组成"],
  attributionHint: [
    "Rows: parts of q. Columns: parts of k. Each value is taken relative to its mean over the keys; together they give the score relative to the mean of its row.",
    "行：q 的组成部分。列：k 的组成部分。各值都减去它对所有键的均值；合计为得分减去本行均值。",
  ],
  neuron: ["neuron {index}: q {q}, k {k}, q × k {p}", "神经元 {index}：q {q}，k {k}，q × k {p}"],
  sum: ["sum", "合计"],
  toWalk: ["Back to the walk", "返回逐步视图"],
} as const;
