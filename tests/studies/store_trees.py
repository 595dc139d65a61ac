"""A small treebank about a store, and its sums."""

from regard.corpus.engine import Run, run_local
from regard.corpus.readers.source import Source
from regard.studies.syntax.study import Syntax

# (form, head from 1, relation, part of speech), then whether a space follows; a range takes the words after it
STORE = """
# text = I didn't go to the store, it sat.
1 I 4 nsubj PRON
2-3 didn't
2 did 4 aux AUX
3 n't 4 advmod PART
4 go 0 root VERB
5 to 7 case ADP
6 the 7 det DET
7 store 4 obl NOUN SpaceAfter=No
8 , 10 punct PUNCT
9 it 10 nsubj PRON
9.1 was
10 sat 4 parataxis VERB SpaceAfter=No
11 . 4 punct PUNCT

# text = the cat bought strawberries
1 the 2 det DET
2 cat 3 nsubj NOUN
3 bought 0 root VERB
4 strawberries 3 obj NOUN

# text = unbeliev
1 unbeliev 0 root NOUN

# text = a dog sat on the mat .
1 a 2 det DET
2 dog 3 nsubj NOUN
3 sat 0 root VERB
4 on 6 case ADP
5 the 6 det DET
6 mat 3 obl NOUN
7 . 3 punct PUNCT
"""


def written(path, text):
    """Short rows as the ten columns of CoNLL-U."""
    lines = []
    for line in text.strip().splitlines():
        number, *rest = [*line.split(), "_", "_", "_", "_", "_"] if line and line[0] != "#" else [""]
        form, head, relation, upos, misc = rest[:5] if number else [""] * 5
        lines.append(f"{number}\t{form}\t_\t{upos}\t_\t_\t{head}\t{relation}\t_\t{misc}" if number else line)
    path.write_text("\n".join(lines) + "\n", "utf-8")
    return path


def summed(model, path, **options):
    return run_local(Syntax(**options), model, Run(Source(str(path), format="treebank"), long="skip")).sums
