// The sentences of the neuron view, in English and Chinese.

export const words = {
  neurons: ["Neurons", "神经元"],
  legendNeurons: [
    "Score = q · k, the sum of q × k over {d} neurons. Blue positive, orange negative; softmax turns scores into weights.",
    "得分 = q · k，即 {d} 个神经元上 q × k 之和。蓝正橙负；softmax 把得分变为权重。",
  ],
  cell: ["{query} → {key}", "{query} → {key}"],
  noVectors: [
    "The neuron view needs q and k; this trace holds attention maps only.",
    "神经元视图需要 q 和 k；此记录只有注意力图。",
  ],
  chooseQuery: ["Choose the token that looks (⊕).", "选择在看的词元（⊕）。"],
  expand: ["Expand {text}", "展开 {text}"],
  collapse: ["Collapse {text}", "收起 {text}"],
  query: ["query q", "查询 q"],
  keyVector: ["key k", "键 k"],
  product: ["q × k", "q × k"],
  score: ["q · k", "q · k"],
  scaled: ["score", "得分"],
  scaledHint: ["q · k × {scale}{more}", "q · k × {scale}{more}"],
  withBias: [", plus the position bias", "，加上位置偏置"],
  withCap: [", softly capped at {cap}", "，软上限 {cap}"],
  softmax: ["softmax", "softmax"],
  orderNeurons: ["order neurons by contribution", "按贡献排列神经元"],
  carryScore: [
    "{n} of {d} neurons carry 90 % of this score (of Σ|q × k|).",
    "{d} 个神经元中有 {n} 个承担该得分的 90 %（按 Σ|q × k|）。",
  ],
  participation: ["Participation ratio {value}.", "参与度 {value}。"],
  rise: [
    "Score above the mean of its row: {value}; about {n} of {d} neurons make the difference.",
    "得分高出本行平均 {value}；约 {n} / {d} 个神经元造成这一差别。",
  ],
  riseBy: ["Largest: {list}.", "最大的：{list}。"],
  unpin: ["Unpin", "取消固定"],
  pairs: ["Pinned pairs, q × k", "已固定的对，q × k"],
  attribution: ["What the score is made of", "得分由什么组成"],
  attributionHint: [
    "Rows: parts of q. Columns: parts of k. Each less its mean over keys; the sum is the score less its row's mean.",
    "行：q 的组成。列：k 的组成。各减去对所有键的均值；总和为得分减去行均值。",
  ],
  neuron: ["neuron {index}: q {q}, k {k}, q × k {p}", "神经元 {index}：q {q}，k {k}，q × k {p}"],
  sum: ["sum", "和"],
  toWalk: ["Back to the walk", "返回步骤"],
} as const;
