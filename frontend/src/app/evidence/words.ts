// Sentences about where an answer came from.

export const EVIDENCE = {
  evidenceAsk: ["Which sentences led to it", "由哪些句子得来"],
  evidenceHint: [
    "Which sentences the answer came from, and which heads fetched them",
    "回答来自哪些句子，又是哪些头取来的",
  ],
  evidenceClose: ["Close", "关闭"],
  evidencePending: ["Looking for the evidence …", "正在寻找依据……"],
  evidenceTitle: ["Where “{answer}” came from", "“{answer}”来自哪里"],
  evidenceBy: ["tint by", "着色依据"],
  evidencePrompt: ["The prompt, tinted", "着色的提示"],
  evidence_worth: ["worth (what it changes)", "价值（改变什么）"],
  evidence_contribution: ["contribution", "贡献"],
  evidence_attention: ["attention", "注意力"],
  evidenceMeans_worth: [
    "What the answer's log probability would lose without the links to a token, to first order; orange where they work against the answer.",
    "去掉对某个词元的注视后，回答的对数概率会损失多少（一阶估计）；橙色表示这些注视不利于该回答。",
  ],
  evidenceMeans_contribution: [
    "Share of what arrives from the sentences in the rows that produce the answer.",
    "在产生回答的各行中，从这些句子到达的内容所占的份额。",
  ],
  evidenceMeans_attention: [
    "Share of the weight that the rows which produce the answer give to the sentences.",
    "产生回答的各行分给这些句子的权重所占的份额。",
  ],
  evidenceNats: ["worth {value} nats", "价值 {value} 奈特"],
  evidenceShare: ["{value} of all; {chance} of the tokens", "占全部的 {value}；词元占 {chance}"],
  evidenceHeads: ["fetched by heads", "取来它的头："],
  evidenceHeadHint: [
    "Show head {name}: weight {value} on this sentence",
    "查看头 {name}：对此句的权重为 {value}",
  ],
  evidenceRows: [
    "Read from the rows that produce the answer. What earlier words had gathered counts where they stand.",
    "读自产生回答的各行。较早的词先前收集的内容，算在这些词所在的位置上。",
  ],
} as const;
