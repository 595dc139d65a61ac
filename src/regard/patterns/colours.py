"""One colour for one thing: patterns and types of maps, in the terminal and in figures as on the page.

The first of Okabe and Ito's set, and others that stay apart from them for colour-blind readers; greys for where
attention merely rests. The page has the same (frontend/src/data/report.ts).
"""

PATTERN_COLOURS = {
    "previous token": "#0072B2",
    "next token": "#E69F00",
    "itself": "#F0E442",
    "same word": "#009E73",
    "same word in the other sentence": "#99B59B",
    "related word": "#AF41F0",
    "related word in the other sentence": "#C3AFFF",
    "other pieces of the word": "#889FC6",
    "delimiter": "#C5CBD4",
    "punctuation": "#C5D083",
    "first token (sink)": "#4E525B",
    "repeated token": "#009E73",
    "induction": "#D55E00",
    "bag of words": "#473599",
}
TYPE_COLOURS = {
    "vertical": "#0072B2",
    "diagonal": "#E69F00",
    "vertical + diagonal": "#009E73",
    "block": "#889FC6",
    "heterogeneous": "#C5CBD4",
}
