"""The engine's kernels, and what the arrays that they work on mean.

Everything that has an identity is a *node*: a tuple of int32 with a kind. Nodes are hash-consed: each is kept once, in
one arena, found by a unique table, so equal ids mean equal contents. A node's id is its offset:

    arena[i] = kind + 32 * n    arena[i + 1], arena[i + 2] = notes (-1 when unset)    arena[i + 3 : i + 3 + n]

kind         contents                        notes
BOTTOM       -                               the empty stack
FRAME        return, count, parents (SET)    return >= SITE_BASE: a counted call site
VARIABLE     above (VARIABLE or -1), return or number, zone; an unknown stack below a shape
SET          FRAME, VARIABLE, BOTTOM...      first note: its PEEK
RETURN_SET   has bottom, (return, zone)...   what a stack query is answered with
PEEK         RETURN_SET, parents (SET) for each return
SHAPE        (state, variable's number)...   notes: its DFA state over variables alone; its root MASK_NODE
BASES        SET...                          the stacks that a shape's variables stand for
CONFIG       SHAPE, BASES                    notes: its DFA state; whether it accepts
SUBST        DFA state, VARIABLE, RETURN_SET; first note: the DFA state with the variable's frames written in
MASK_NODE    above (MASK_NODE or SHAPE), RETURN_SET; a decision tree; notes: VARIABLE asked about; stored mask
WHOLE        VARIABLE                        a stack query, also for earlier keys; or SET; note: its PEEK
MEMBER       FRAME                           a stack query: whether the text that the frame tracks is an earlier key
TRACKER      watch's tree node, phase, number so far, KEY_TRIE, TEXT, KEY_TRIE; where a text that is read stands
FRAME_STATE  count, KEY_TRIE, content, pending, apart, bits...; of a scope (content: see ``objects/item_values.py``)
KEY_TRIE     whether a text ends here (in objects: its VALUE), texts below, whether those are all, (byte, KEY_TRIE)...
TEXT         TEXT or 0, byte                 the bytes of a text so far
LIST         LIST or 0, VALUE, length        the items of an array so far
VALUE        tag, TEXT or KEY_TRIE or LIST   a value
KNOWN        VALUE, scope or -1 - watch      that it is one of what this scope or text can become

FRAMEs and SETs are a graph-structured stack (Tomita): frames with equal returns share what lies below. A sequence
stands at ``(SHAPE, BASES)`` with concrete stacks. A *configuration* over stack variables is a state of a lazy DFA: its
threads are as the items of an Earley set, and ``transitions[dfa_state * stride + 1 + symbol]`` is the next one, DEAD,
UNKNOWN, or ASK - variable when the step depends on what lies at a variable. "State" alone is one of the automaton
(an NFA state).

A walk over the trie runs on DFA states alone. Whatever it had to ask of the actual stacks is noted, and its mask is
stored in a decision tree under the answers. Where stacks are so tangled that a walk would ask too much (ambiguous
grammars), it runs on the stacks themselves, and the mask is stored under them (BY_STACKS).

Counts of repetitions are abstracted to zones in DFA states (``counters.py``), exact in sequences. All kernels run as
plain Python with WORKBENCH_DISABLE_JIT=1. They never allocate: when the arena is full they raise ``Full``, the caller
grows it and calls again. What numbers mean is in ``constants.py``, the one argument ``ctx`` of all kernels in
``context.py``, what Python calls in ``entries.py``. What frames hold beside a return is in ``objects``, behind
``objects/interface.py``.
"""
