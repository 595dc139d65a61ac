// The sentences of the roll-out, in English and Chinese.

export const words = {
  rollout: ["Roll-out", "逐层汇总"],
  rolloutAsk: [
    "Which tokens of the input end up in {word} after {count} layers?",
    "经过 {count} 层，输入中的哪些词元汇入了{word}？",
  ],
  rolloutFinding: [
    "After 1 layer, {first} of {word} is still itself; after {count} layers {own}, and {share}% of what ends up in it comes from {places}.",
    "经过 1 层，{word}还有 {first} 是它自身；经过 {count} 层只剩 {own}，汇入其中的有 {share}% 来自{places}。",
  ],
  rolloutFindingOwn: [
    "After 1 layer, {first} of {word} is still itself; after {count} layers {own}.",
    "经过 1 层，{word}还有 {first} 是它自身；经过 {count} 层则为 {own}。",
  ],
  rolloutFindingRests: [
    "After {count} layers, {share}% of what ends up in {word} comes from {places}.",
    "经过 {count} 层，汇入{word}的有 {share}% 来自{places}。",
  ],
  rolloutAllRests: [
    "After {count} layers, {share}% of what ends up in {word} comes from {places}, where heads rest: too little of other tokens is left to tell them apart.",
    "经过 {count} 层，汇入{word}的有 {share}% 来自{places}，即各头停放注意力的地方：其他词元所剩太少，无法区分。",
  ],
  rolloutMost: [
    "Of the other tokens, {token} stands out most: {share}, {times} × an even share.",
    "其他词元中，{token}最突出：{share}，是平均份额的 {times} 倍。",
  ],
  rolloutPlaces: [" and ", " 和 "], // between names like [CLS]
  rolloutOne: [
    "1 × is an even share: what a token would have if every layer looked at all tokens alike.",
    "1 倍即平均份额：若每层都一视同仁地看所有词元时的份额。",
  ],
  rolloutOneLeft: [
    "1 × is an even share of the rest: what a token would have of it if every layer looked at all tokens alike.",
    "1 倍即其余部分的平均份额：若每层都一视同仁地看所有词元时的份额。",
  ],
  rolloutGrey: ["Grey: {places}, where heads rest.", "灰色：{places}，各头停放注意力的地方。"],
  rolloutScale: ["times an even share, from ½ to 2", "平均份额的倍数，½ 到 2"],
  rolloutStays: ["{word} itself", "{word}自身"],
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
  rolloutShares: ["Share of each token in {word}", "{word}中各词元所占的份额"],
  rolloutShare: ["share", "占比"],
  rolloutTimesEven: ["× even share", "平均的倍数"],
  rolloutResting: ["{places}, where heads rest", "{places}（停放注意力处）"],
  rolloutRestingEven: ["{share}% if every layer looked evenly", "若每层都平均地看：{share}%"],
  rolloutMixing: ["What {word} consists of, layer by layer", "{word}逐层由什么组成"],
  rolloutAfter: ["after {count}", "{count} 层后"],
  rolloutOthers: ["other tokens", "其他词元"],
  rolloutEven: ["line: even share", "竖线：平均份额"],
  rolloutOwnLine: [
    "Its line stands farther right: half of each step stays in place.",
    "它的竖线更靠右：每一步都有一半留在原处。",
  ],
  rolloutLines: [
    "Lines differ because half of each step stays in place, and because some tokens are within reach of more others.",
    "竖线位置不同，因为每一步都有一半留在原处，而且有些词元能被更多词元看到。",
  ],
  rolloutMethod: [
    "Attention roll-out (Abnar & Zuidema 2020): {maps} of every layer, averaged over heads and multiplied; half of each step stays in place. A summary, not an explanation: {command} measures how well it finds the tokens that matter.",
    "注意力逐层汇总（attention rollout，Abnar & Zuidema 2020）：把每层的{maps}对各头取平均后相乘，每一步有一半留在原处。它是概括，不是解释：{command} 检验它能否找到重要的词元。",
  ],
  rolloutWeightMaps: ["the attention weights", "注意力权重"],
  rolloutContributionMaps: ["the contributions", "贡献"],
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
