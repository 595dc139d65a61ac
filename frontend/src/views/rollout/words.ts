// The sentences of the roll-out, in English and Chinese.

export const words = {
  rollout: ["Roll-out", "逐层汇总"],
  rolloutAsk: [
    "Which tokens of the input end up in {word} after {count} layers?",
    "经过 {count} 层，输入中的哪些词元汇入了 {word}？",
  ],
  rolloutWeights: ["Counted from where the heads look.", "按各头看向哪里计算。"],
  rolloutContributions: ["Counted from what the heads carry.", "按各头传来什么计算。"],
  rolloutColours: ["Blue: more than an even share. Orange: less.", "蓝色：多于平均份额。橙色：更少。"],
  rolloutFinding: [
    "After {count} layers, against an even share, {word} holds most of {most}.",
    "经过 {count} 层，与平均份额相比，{word} 中最多的是 {most}。",
  ],
  rolloutTimes: ["{token} ({times} ×)", "{token}（{times} 倍）"],
  rolloutLeast: ["Least: {token} ({times} ×).", "最少：{token}（{times} 倍）。"],
  rolloutOne: [
    "1 × is an even share: what it would hold of a token if every layer looked at all of them alike.",
    "1 倍即平均份额：若每层都一视同仁地看所有词元，它会含有多少。",
  ],
  rolloutItself: ["itself", "它自己"],
  rolloutResting: ["Grey: where heads rest.", "灰色：各头休息的地方。"],
  rolloutNot: [
    "The maps of all layers are multiplied: the mean of the heads, and half of each step stays in place. One way to sum up, not the explanation: “regard study deletion” measures how well it finds the tokens that matter.",
    "各层的图相乘：取各头平均，每一步有一半留在原处。这只是一种汇总方法，不是解释：“regard study deletion”检验它能否找到重要的词元。",
  ],
  rolloutHint: [
    "Click a token to ask about it; ← and → go through the text.",
    "单击词元即可查看；按 ← 和 → 依次移动。",
  ],
  rolloutToken: ["what reaches token {index}: {text}", "汇入第 {index} 个词元：{text}"],
  rolloutRests: [
    "{words}% of it is words and marks; the other {share}% rests on {places}.",
    "其中 {words}% 是词与标点，其余 {share}% 停在{places}上休息。",
  ],
  rolloutRestsEven: [
    "{words}% of it is words and marks; the other {share}% rests on {places} ({even}% if every layer looked evenly).",
    "其中 {words}% 是词与标点，其余 {share}% 停在{places}上休息（若每层都平均地看：{even}%）。",
  ],
  rolloutShares: ["What it holds of each token", "它含有各词元多少"],
  rolloutShare: ["share", "份额"],
  rolloutShareOf: ["of the {words}%", "占这 {words}%"],
  rolloutTimesEven: ["× even", "倍数"],
  rolloutMixing: ["What {word} consists of, layer by layer", "{word} 逐层由什么组成"],
  rolloutAfter: ["after {count}", "{count} 层后"],
  rolloutStays: ["itself", "它自己"],
  rolloutOthers: ["other tokens", "其他词元"],
  rolloutRestsHere: ["resting places", "休息处"],
  rolloutEven: ["Line: an even share.", "竖线：平均份额。"],
  rolloutRest: ["{count} other tokens", "其余 {count} 个词元"],
  rolloutCross: [
    "Cross attention looks from one text at another, so its layers cannot be multiplied. Choose the encoder or the decoder above.",
    "交叉注意力从一个文本看向另一个文本，各层无法相乘。请在上方选择编码器或解码器。",
  ],
  rolloutParts: [
    "These layers look within windows, each with its own tokens, so they cannot be multiplied.",
    "这些层在各自的窗口内看，每个窗口的词元不同，无法相乘。",
  ],
  rolloutImage: [
    "The roll-out is shown for texts. For images, trace.rollout() in Python has the numbers.",
    "这里只显示文本。图像的数值可在 Python 中用 trace.rollout() 得到。",
  ],
  rolloutLayers: [
    "Some layers are not in this page, so there is no way from the last one to the input.",
    "本页缺少一些层，无法从最后一层走到输入。",
  ],
  rolloutLong: [
    "The text has {tokens} tokens; the roll-out is shown for up to {most}. trace.rollout() in Python has no such limit.",
    "文本有 {tokens} 个词元；此处最多显示 {most} 个。Python 中的 trace.rollout() 没有此限制。",
  ],
  rolloutNorms: [
    "What arrives is not known in layer {layer}: {why}. Choose weights above.",
    "第 {layer} 层传来什么不得而知：{why}。请在上方选择权重。",
  ],
  rolloutFailed: [
    "A layer could not be fetched; choose the view again.",
    "有一层未能取得，请重新打开此视图。",
  ],
  help_rollout: ["← → in the roll-out: the token asked about", "逐层汇总中按 ← →：换一个词元"],
} as const;
