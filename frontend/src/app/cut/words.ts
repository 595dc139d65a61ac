// Sentences about cutting links.

export const CUT = {
  cutLook: ["Cut this link", "切断这条连线"],
  cutRow: ["Cut all links of {query}", "切断{query}的所有连线"],
  cutColumn: ["Cut all links to {key}", "切断看向{key}的所有连线"],
  cutBlock: ["Cut these links", "切断这些连线"],
  cutHint: [
    "Run the model without what {head} takes from there",
    "去掉 {head} 从那里取来的内容，重新运行模型",
  ],
  cutRestore: ["Restore", "恢复"],
  cutRestoreAll: ["restore all", "全部恢复"],
  cutRestoreOne: ["Restore {name}", "恢复 {name}"],
  cutTitle: ["What the cut changes", "切断后的改变"],
  cutName: ["{head}: {line}", "{head}：{line}"],
  cutLine: ["{from} → {to}", "{from} → {to}"],
  cutAll: ["all", "全部"],
  cutShown: ["The picture keeps what is cut, as a dashed line.", "图中仍画出被切断的连线，用虚线表示。"],
  cutIs: ["cut", "已切断"],
  cutHow: ["How it is cut", "切断方式"],
  cut_mask: ["hide the token", "遮住词元"],
  cut_zero: ["drop what it sends", "去掉内容"],
  cutMeans_mask: [
    "From {query}, this head no longer sees {key}: that share of the attention goes to the other tokens.",
    "这个头从{query}不再看到{key}：那份注意力分给其他词元。",
  ],
  cutMeans_zero: [
    "What {key} sends to {query} is left out; the other tokens keep their shares of the attention.",
    "只去掉{key}传给{query}的内容；其他词元的注意力份额不变。",
  ],
  cutFrom: ["the tokens that look", "那些词元"],
  cutTo: ["the tokens that are cut", "被切断的词元"],
  cutMeasuring: ["Running the model without it …", "正在去掉它运行模型……"],
  cutControl: [
    "Cutting random links of similar weight, for comparison …",
    "正在切断权重相近的随机连线作比较……",
  ],
  cutBeyond: [
    "None of {count} random cuts did as much (p = {p}).",
    "{count} 次随机切断，没有一次改变这么多（p = {p}）。",
  ],
  cutUnclear: [
    "{larger} of {count} random cuts did as much: not clearly more than chance.",
    "{count} 次随机切断中，有 {larger} 次改变得不比它少：不明显超出偶然。",
  ],
  cutBeyondMany: [
    "None of {count} random cuts of {size} links did as much (p = {p}).",
    "{count} 次随机切断（每次 {size} 条连线），没有一次改变这么多（p = {p}）。",
  ],
  cutUnclearMany: [
    "{larger} of {count} random cuts of {size} links did as much: not clearly more than chance.",
    "{count} 次随机切断（每次 {size} 条连线）中，有 {larger} 次改变得不比它少：不明显超出偶然。",
  ],
  cutDid_lowers: [
    "lowers “{name}” after {token} from {before} to {after}",
    "使 {token} 之后“{name}”的概率从 {before} 降到 {after}",
  ],
  cutDid_raises: [
    "raises “{name}” after {token} from {before} to {after}",
    "使 {token} 之后“{name}”的概率从 {before} 升到 {after}",
  ],
  cutStrip: ["This cut beside {count} random cuts of similar weight", "与 {count} 次权重相近的随机切断相比"],
  cutStripMany: [
    "This cut beside {count} random cuts of {size} links of similar weight",
    "与 {count} 次随机切断（每次 {size} 条权重相近的连线）相比",
  ],
  cutStripOwn: ["this cut {value}", "这次切断 {value}"],
  cutStripOther: ["a random cut", "一次随机切断"],
  cutStripAsMuch: ["as much or more", "不少于它"],
  cutBefore: ["before", "之前"],
  cutAfter: ["after", "之后"],
  cutChange: ["change", "改变"],
  cutPoints: ["points", "百分点"], // percentage points
  cutAxis: ["change of {what}", "{what}的改变"],
  cutAxis_probability: ["the probability of “{name}” in percentage points", "“{name}”的概率（百分点）"],
  cutAxis_score: ["the score", "得分"],
  cutAxis_similarity: ["the similarity", "相似度"],
  cutAxis_turns: ["the cosine", "余弦"],
  cutGhost: ["Outline: before. Filled: after the cut.", "轮廓：之前；实心：切断之后。"],
  cutSame: ["The same after the cut.", "切断后相同。"],
  cutOffNote: ["Measured with all heads switched on.", "在所有头都打开时测得。"],
} as const;
