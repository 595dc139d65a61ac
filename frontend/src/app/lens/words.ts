// Sentences about the next word over the layers.

export const LENS = {
  lensAsk: ["Prediction by layer", "逐层的预测"],
  lensHint: ["Read the next word after every layer", "在每一层之后读出下一个词"],
  lensClose: ["Close", "关闭"],
  lensTitle: ["Next word over the layers", "逐层的下一个词"],
  lensLayers: ["layers", "层数"],
  lensFirst: ["first word", "首位的词"],
  lensShare: ["its share", "概率"],
  lensAnswer: ["“{answer}”", "“{answer}”"],
  lensRank: ["place", "名次"],
  lensLeads: [
    "“{answer}” leads, and stays first, after {layers} of {all} layers.",
    "从第 {layers} 层（共 {all} 层）之后，“{answer}”领先并一直保持第一。",
  ],
  lensAtOnce: ["“{answer}” leads from the embeddings on.", "从嵌入开始，“{answer}”就一直领先。"],
  lensNote: [
    "A lens: the model's last norm and its map to words, applied early. Earlier layers may hold more than it shows.",
    "这是一面透镜：提前使用模型最后的归一化和到词的映射。较早的层里可能有它看不到的内容。",
  ],
  lensPending: ["Reading every layer …", "正在读每一层……"],
} as const;
