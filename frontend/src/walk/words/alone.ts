// The walk through a decoder that is alone: steps that only it has, and what the others say of it; in both languages.
// `gpt2` and `llama` are the two kinds, `alone` is either, `rms` is Llama's kind and T5: a step's own words are used where a
// kind has none.

export const ALONE = {
  box_norm: ["LayerNorm", "LayerNorm"],
  box_norm_rms: ["RMSNorm", "RMSNorm"],
  box_group: ["Shared keys", "共用的键"],
  box_rotate: ["Turn by position", "按位置旋转"],
  box_residual_alone: ["Add", "相加"],
  box_feed_llama: ["Gated feed-forward", "带门的前馈"],
  box_cache: ["One more token", "再来一个词元"],
  walk_keyHead: ["key head {head}", "键头 {head}"],
  walk_new: ["new", "新"],
  walk_kept: ["kept", "保留"],
  walk_earlier: ["{count} earlier ones are kept too", "更早的 {count} 个也都保留着"],
  walk_changes: ["it changes", "会变"],
  walk_stays: ["it stays the same", "不变"],
  step_tokens_alone_claim: ["One word is one token.", "一个词就是一个词元。"],
  step_tokens_alone_note: [
    "Byte-pair encoding cuts by what was frequent in its training text: a common word is one token, a rare one several, and a token often begins with the space before it, so “cat” and “ cat” have different ids.",
    "字节对编码按训练文本中的频率切分：常见的词是一个词元，少见的词是几个；词元常以它前面的空格开头，所以“cat”和“ cat”的编号不同。",
  ],
  step_embed_gpt2_formula: ["X = word + position", "X = 词 + 位置"],
  step_embed_gpt2_text: [
    "Each token becomes a vector: the row of its word plus the row of its position, since attention by itself knows no order. Both tables are learned; GPT-2 has 1,024 positions and can read no further.",
    "每个词元变成一个向量：词的那一行加上位置的那一行，因为注意力本身不知道顺序。两张表都是学出来的；GPT-2 有 1024 个位置，再长就读不了。",
  ],
  step_embed_gpt2_claim: [
    "GPT-2's positions are sines and cosines, and its sum is normalised first.",
    "GPT-2 的位置是正弦和余弦，相加之后先归一化。",
  ],
  step_embed_gpt2_note: [
    "They are learned, and the sum enters the first layer as it is: the norm belongs to the layers.",
    "位置是学出来的，而且和直接进入第一层：归一化属于各层自己。",
  ],
  step_embed_llama_formula: ["X = word", "X = 词"],
  step_embed_llama_text: [
    "Each token becomes the row of its word, and nothing is added. Where a token stands comes in later: queries and keys are turned by their positions.",
    "每个词元变成它那个词的一行，不加任何东西。词元在哪里，要到后面才进来：查询和键按位置旋转。",
  ],
  step_embed_llama_claim: [
    "Every Transformer adds a position vector to the words.",
    "每个 Transformer 都把位置向量加到词上。",
  ],
  step_embed_llama_note: [
    "Models with rotary positions add none: X is the same wherever a word stands.",
    "用旋转位置的模型什么都不加：一个词在哪里，X 都一样。",
  ],
  step_norm_title: ["Norm", "归一化"],
  step_norm_formula: ["w · z / σ + b,  z = x − μ", "w · z / σ + b,  z = x − μ"],
  step_norm_text: [
    "Before anything else the layer normalises each token's vector: its mean μ is taken off, it is divided by its spread σ, and a learned scale and shift follow. The vector itself stays as it is on the side; what the layer finds is added to it later (pre-norm).",
    "这一层先把每个词元的向量归一化：减去均值 μ，除以标准差 σ，再乘以学到的缩放并加上平移。原来的向量留在一边不动，这一层所得稍后加到它上面（pre-norm）。",
  ],
  step_norm_rms_title: ["RMSNorm", "RMSNorm"],
  step_norm_rms_formula: ["w · x / r,  r² = mean(x²) + ε", "w · x / r,  r² = mean(x²) + ε"],
  step_norm_rms_text: [
    "Before anything else the layer divides each token's vector by its root mean square r and multiplies it by a learned scale. The vector itself stays as it is on the side; what the layer finds is added to it later (pre-norm).",
    "这一层先把每个词元的向量除以它的均方根 r，再乘以学到的缩放。原来的向量留在一边不动，这一层所得稍后加到它上面（pre-norm）。",
  ],
  step_norm_rms_claim: ["RMSNorm is LayerNorm by another name.", "RMSNorm 就是 LayerNorm，换了个名字。"],
  step_norm_rms_note: [
    "It takes off no mean and adds no shift: only the length changes, and the learned scale.",
    "它不减均值，也不加平移：只改变长度，再乘以学到的缩放。",
  ],
  step_norm_claim: ["The norm replaces the vector that came in.", "归一化之后，原来的向量就没有了。"],
  step_norm_note: [
    "Only what attention reads is normalised. The vector that came in is added back unchanged after W_O.",
    "归一化的只是注意力读到的那一份。进来的向量原样保留，在 W_O 之后加回去。",
  ],
  step_project_gpt2_formula: [
    "Q = norm(X)·W_Q + b   K = norm(X)·W_K + b   V = norm(X)·W_V + b",
    "Q = norm(X)·W_Q + b   K = norm(X)·W_K + b   V = norm(X)·W_V + b",
  ],
  step_project_rms_formula: [
    "Q = norm(X)·W_Q   K = norm(X)·W_K   V = norm(X)·W_V",
    "Q = norm(X)·W_Q   K = norm(X)·W_K   V = norm(X)·W_V",
  ],
  step_group_title: ["Heads that share keys", "共用键的头"],
  step_group_formula: ["g = h·G / H,  rounded down", "g = h·G / H，向下取整"],
  step_group_text: [
    "There are fewer heads of keys and values (G) than of queries (H): neighbouring query heads h read the same keys and values g, each with queries of its own. What has to be kept for every token of a long text shrinks by the same factor (grouped-query attention).",
    "键和值的头（G 个）比查询的头（H 个）少：相邻的几个查询头 h 读同样的键和值 g，但各有各的查询。长文本中每个词元要保留的数也按同样的倍数减少（分组查询注意力）。",
  ],
  step_group_claim: ["Heads that share keys look at the same words.", "共用键的头看同样的词。"],
  step_group_note: [
    "They share what can be found, not what is looked for: their queries differ, and so do their maps. Change the head and compare.",
    "它们共用的是能被找到的，不是要找的：查询不同，注意力图也不同。换一个头比较一下。",
  ],
  step_rotate_title: ["Turned by position", "按位置旋转"],
  step_rotate_formula: ["a → a·cos φ − b·sin φ,  φ = p·θ", "a → a·cos φ − b·sin φ,  φ = p·θ"],
  step_rotate_text: [
    "Two numbers of a query, a at i and b at i + d/2, are an arrow; it is turned by the position p times the pair's own rate θ, and so is that pair of every key. Turning changes no length, and a score then depends on how far apart two tokens are, not on where they stand. The first pairs turn fast, the last hardly at all. From here on Q and K are the turned ones.",
    "一个查询的第 i 个数 a 和第 i + d/2 个数 b 合成一支箭；它转过的角度是位置 p 乘以这一对自己的速率 θ，每个键的这一对也一样。旋转不改变长度，于是得分取决于两个词元相距多远，而不是它们在哪里。前面的对转得快，最后的几乎不转。从这里起，Q 和 K 指转过的。",
  ],
  step_rotate_claim: [
    "Rotary positions are added to the words, like those of 2017.",
    "旋转位置和 2017 年的一样，是加到词上的。",
  ],
  step_rotate_note: [
    "Nothing is added, and values are never turned: positions reach the scores alone, in every layer anew.",
    "什么都没有加，值也从不旋转：位置只影响得分，而且每一层都重新来一次。",
  ],
  step_softmax_alone_formula: ["A = softmax(Q·Kᵀ / √d + M)", "A = softmax(Q·Kᵀ / √d + M)"],
  step_mask_alone_text: [
    "No position may see a later one; otherwise it would read the word it has to predict. The mask is added before the softmax, so that the remaining weights still sum to 1. This is what makes a decoder: an encoder has no such mask.",
    "任何位置都不能看到后面的词，否则就读到了要预测的词。掩码在 softmax 之前加上，因此剩下的权重之和仍为 1。解码器正是由此而来：编码器没有这样的掩码。",
  ],
  step_output_rms_formula: ["joined·W_O", "拼接·W_O"],
  step_output_alone_claim: [
    "A head that looks at the first token takes something from it.",
    "一个头看向第一个词元，就从那里取得了内容。",
  ],
  step_output_alone_note: [
    "Many heads of decoders rest there, because a row has to sum to 1 even if there is nothing to find. What counts is the length of α·f(x), with f(x) = (x·W_V)·W_O, and on the first token it is often close to 0.",
    "解码器的许多头停在那里，因为即使没有要找的，一行的和也必须是 1。要看的是 α·f(x) 的长度，其中 f(x) = (x·W_V)·W_O；在第一个词元上它常常接近 0。",
  ],
  step_residual_alone_title: ["Add", "相加"],
  step_residual_alone_formula: ["X + attention(norm(X))", "X + attention(norm(X))"],
  step_residual_alone_text: [
    "The result is added to what came in, unnormalised: a layer corrects, it does not replace. The sum runs through the whole model as one stream, to which every head and every feed-forward network adds its part.",
    "结果加到未归一化的输入上：一层是修正，不是替换。这个和像一条河流贯穿整个模型，每个头、每个前馈网络都往里加上自己的一份。",
  ],
  step_residual_alone_claim: ["The sum is normalised, as in BERT.", "和 BERT 一样，相加之后要归一化。"],
  step_residual_alone_note: [
    "Not here: the next norm works on a copy, before the feed-forward network. The stream itself is normalised only once, at the very end.",
    "这里不。下一次归一化在前馈网络之前，作用在一个副本上；这条流本身只在最后归一化一次。",
  ],
  step_feed_gpt2_text: [
    "Each token alone passes through two linear maps with a bend between them, GELU. Attention moves information between tokens; this step works on it in place. It reads a normalised copy, and its result is added to the stream.",
    "每个词元单独经过两个线性映射，中间有一个弯折 GELU。注意力在词元之间传递信息，这一步就地加工。它读的是归一化的副本，结果加到流上。",
  ],
  step_feed_llama_title: ["Feed-forward network with a gate", "带门的前馈网络"],
  step_feed_llama_formula: ["(silu(x·W_G) ∘ (x·W_1))·W_2", "(silu(x·W_G) ∘ (x·W_1))·W_2"],
  step_feed_llama_text: [
    "Each token alone passes through two maps side by side. One, bent by SiLU, is a gate: number by number it multiplies the other. A third map brings the product back to the width of X, and the result is added to the stream.",
    "每个词元单独经过并排的两个映射。其中一个经 SiLU 弯折后是一道门：逐个数地乘到另一个上。第三个映射把乘积带回 X 的宽度，结果加到流上。",
  ],
  step_feed_llama_claim: ["A gate is open or closed, between 0 and 1.", "门要么开，要么关，在 0 和 1 之间。"],
  step_feed_llama_note: [
    "SiLU(x) = x·sigmoid(x) has no upper end and goes down to −0.28: it can enlarge, and even turn the sign.",
    "SiLU(x) = x·sigmoid(x) 没有上限，最低到 −0.28：它能放大，甚至能改变符号。",
  ],
  ask_feed_llama: [
    "How many of the {all} gates of “{word}” are above 0?",
    "“{word}”的 {all} 道门中，有多少大于 0？",
  ],
  because_feed_llama: [
    "{count} of {all}; the others are a little below 0, at most by 0.28.",
    "{all} 道中有 {count} 道；其余略低于 0，最多低 0.28。",
  ],
  step_stack_alone_formula: ["x₀ → layer 0 → x₁ → … → norm", "x₀ → 第 0 层 → x₁ → … → 归一化"],
  step_stack_alone_text: [
    "The same block again, with other weights. Below are the states between the layers, one row per token. Only after the last one comes a final norm, and then the words.",
    "同样的块，不同的权重。下面是各层之间的状态，每行一个词元。最后一层之后才有最终的归一化，然后是词。",
  ],
  step_stack_alone_claim: [
    "A decoder without an encoder only writes; it does not read.",
    "没有编码器的解码器只写不读。",
  ],
  step_stack_alone_note: [
    "It reads the whole prompt in one pass, all positions at once, under the mask. Only what it adds comes token by token.",
    "它一遍读完整个提示，所有位置同时进行，只是有掩码。一个一个来的，只是它续写的词元。",
  ],
  step_predict_alone_formula: ["p = softmax(norm(X)·W_U)", "p = softmax(norm(X)·W_U)"],
  step_predict_alone_text: [
    "The last state, normalised once more, meets the column of every word in the vocabulary; the softmax of these scores is the prediction for the next token. Every position predicts its own next word, so one pass over a text gives as many predictions as tokens. Click a word above to see what comes after it.",
    "最后的状态再归一化一次，与词表中每个词的那一列相遇；这些得分的 softmax 就是对下一个词元的预测。每个位置各预测自己的下一个词，所以读一遍文本就有和词元一样多的预测。单击上方的词，看它后面是什么。",
  ],
  step_predict_alone_claim: [
    "The model puts one word after the other into the text by itself.",
    "模型自己把词一个个写进文本。",
  ],
  step_predict_alone_note: [
    "It gives probabilities. Which word is taken, the likeliest or one drawn at a temperature, is decided outside.",
    "它只给出概率。取哪个词，是最可能的还是按温度抽取的，由外面决定。",
  ],
  step_cache_title: ["One more token", "再来一个词元"],
  step_cache_formula: ["K, V: one row more each;  Q: one row alone", "K、V：各多一行；Q：只有一行"],
  step_cache_text: [
    "When a word is appended, nothing of the earlier ones changes: no position sees a later one. So their keys and values are kept, and the layer computes one row: a query, a key and a value of the new token. The query meets all keys and is then forgotten. Below are the numbers that are kept for each token: k and v, of every layer and every key head.",
    "接上一个词时，前面的什么都不变：没有位置能看到后面。所以它们的键和值都保留着，这一层只算一行：新词元的一个查询、一个键、一个值。查询与所有的键相遇，然后就被忘掉。下面是每个词元要保留的数：每一层、每个键头的 k 和 v。",
  ],
  step_cache_claim: [
    "A cache makes the model read the text faster, but a little less exactly.",
    "缓存让模型读得更快，但略不精确。",
  ],
  step_cache_note: [
    "The rows are the same numbers that a pass over the whole text computes; only work is saved, and memory is paid for it.",
    "这些行与把整个文本算一遍得到的数相同；省下的只是计算，代价是内存。",
  ],
  step_loss_alone_text: [
    "Training makes the word that really follows more likely: the loss is minus the logarithm of its probability, averaged over all positions of the text at once.",
    "训练使真正跟在后面的词更可能出现：损失是其概率的负对数，对文本的所有位置一起取平均。",
  ],
  ask_embed_llama: ["Does “{word}” already know where it stands?", "“{word}”已经知道自己在哪里了吗？"],
  because_embed_llama: [
    "Its vector, {own} long, is the same at every place; positions come in when q and k are turned.",
    "它的向量长 {own}，在哪里都一样；位置要到 q 和 k 旋转时才进来。",
  ],
  ask_norm: [
    "What is the mean of the numbers of “{word}” after the norm, before scale and shift?",
    "归一化之后、缩放和平移之前，“{word}”各数的均值是多少？",
  ],
  because_norm: ["It was {mean}, and it has been taken off.", "原来是 {mean}，已经减掉了。"],
  ask_norm_rms: [
    "What is the root mean square of “{word}” after the norm, before the scale?",
    "归一化之后、缩放之前，“{word}”的均方根是多少？",
  ],
  because_norm_rms: ["It was {rms}, and was divided by just that.", "原来是 {rms}，除以的正是它。"],
  ask_group: ["Whose keys does head {head} read?", "头 {head} 读的是哪个键头？"],
  because_group: [
    "{each} query heads to a key head: head {head} reads key head {key}.",
    "每个键头有 {each} 个查询头：头 {head} 读键头 {key}。",
  ],
  ask_rotate: [
    "“{word}” looks at itself: does turning change that score?",
    "“{word}”看自己：旋转会改变这个得分吗？",
  ],
  because_rotate: [
    "q·k is {before} before and {after} after: both are turned by the same angle.",
    "q·k 之前是 {before}，之后是 {after}：两者转过同样的角度。",
  ],
  ask_cache: [
    "When “{word}” is appended, how many new keys does this head need?",
    "接上“{word}”时，这个头需要几个新的键？",
  ],
  because_cache: [
    "One: those of the {kept} tokens before it are kept.",
    "一个：它前面 {kept} 个词元的键都保留着。",
  ],
} as const;
