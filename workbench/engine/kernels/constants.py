"""What numbers mean in the arrays of the kernels: kinds of nodes, answers, slots."""

from __future__ import annotations


class Stopped(Exception):
    """A kernel could not go on; whoever called it makes up for it, after ``Engine.recover``."""


class Full(Stopped):
    """The arena or the transitions are full, or an entry (NEED) is to be built: call again then."""


class Room(Stopped):
    """The store of masks is full."""


class Complex(Stopped):
    """A budget is used up."""


class Tangled(Stopped):
    """What a DFA state knows does not say enough; the stacks may."""


class Unclean(Stopped):
    """Another kernel had stopped, and what it left behind is there still: call again then."""


BOTTOM, FRAME, VARIABLE, SET, RETURN_SET, PEEK = 1, 2, 3, 4, 5, 6
SHAPE, BASES, CONFIG, SUBST, MASK_NODE = 7, 8, 9, 10, 11
TRACKER, FRAME_STATE, KEY_TRIE, TEXT = 12, 13, 14, 15
WHOLE, MEMBER, LIST, VALUE, KNOWN = 16, 17, 18, 19, 20

DEAD, UNKNOWN, ASK = -1, -2, -16
#: CHANGED: the array of the mask is not as it was
REFUSED, MISS, CHANGED = -1, -4, -5
#: in place of the stack variable that a mask tree asks about: this shape's masks are stored by their stacks
BY_STACKS = -3

FAR_BELOW, FAR_INSIDE = -2, -1
#: in place of a KEY_TRIE: off the trie, or (in a frame state) no longer known; of a TRACKER: all texts came that
#: begin so
OFF, LOST, EXHAUSTED = -1, -3, -4
#: in place of a KEY_TRIE in a return set: not said. In DFA states ASK - variable stands for the keys of the frame above
#: a variable. In place of what a value is made of so far: not known
UNSAID = -5
#: in place of a VALUE: not known, but that it differs from all of its place in the earlier values
DIFFERENT = -2
#: phases of a tracked text of which it was asked whether it came: it did not, it did
IS_FRESH, IS_KNOWN = 12, 13
#: so many texts are as good as endlessly many
MANY = 1 << 30
#: in place of a TEXT: not kept
UNKEPT = -1
#: what guards ask and do: let the frame state be seen; may one of some members come; one comes; one without a
#: number comes; may the scope end; the empty text comes
LOOK, MAY, TAKE, OTHER, END, EMPTY_TEXT = 0, 1, 2, 3, 4, 5
#: let the scope above be seen; a constant comes; a member's name has come; may a text come that is tracked
LOOK_ABOVE, CONSTANT, NAMED, ROOM_FOR = 6, 7, 8, 9
#: what scopes gather: members of an object, items of an array; and how
OBJECT_OF, ARRAY_OF = 1, 2
ORDERED, AMPLE, DISTINCT, OUTERMOST = 1, 2, 4, 8
#: tags of VALUEs: what their content is
STRING_TAG, NUMBER_TAG, CONSTANT_TAG, OBJECT_TAG, ARRAY_TAG = 1, 2, 3, 4, 5
#: what tracked texts are beside what they are tracked for: a member's name; a string or a number that is a value
NAME_ROLE, STRING_ROLE, NUMBER_ROLE = 3, 1, 2
#: in place of a pending name: none; an item of an array; the name without bytes
NOTHING, ITEM, NO_BYTES = 0, 1, 2
#: where a frame state has: what the value is made of so far, what comes next in it, whether it is known to
#: differ from all earlier ones; the bits of its members
CONTENT, PENDING, IS_APART, BITS = 5, 6, 7, 8
#: bits in a word of a set
WORD = 31

# slots of ``count`` (int64)
USED, NODES, DFA_STATES, NOTED, UNCLEAR, WORK, WORK_LIMIT = 0, 1, 2, 3, 4, 5, 6
N_QUERIES, WALKED, STEPS, HITS, MISSES, N_SHAPES, N_SETS, N_FRAMES = 7, 8, 9, 10, 11, 12, 13, 14
#: NEED: 1 + the entry whose states are to be built before the kernel can go on (it raises Full)
N_MASKS, NEED, EXPANDED = 15, 16, 17
#: whether walks keep the texts that they read: needed where a token holds two names of an object
KEEP = 18
#: set when a text was left open that only a quotation mark ends
LEFT_OPEN = 19
#: how many blocks are under way in which kernels run without the GIL or arrays are swapped; how often
#: positions were renumbered
BUSY, EPOCH = 20, 21
# NOTED: nodes listed in ``tree`` whose second notes are to be cleared. UNCLEAR: set where what is known of the
# values around does not say whether the thread at hand may go on. EXPANDING: 1 + the DFA state whose transitions are
# being filled in. DONE: how many sequences of a batch have gone on
EXPANDING, DONE = 22, 23
#: set by a kernel when it begins, cleared when it ends: where it had to stop it stays, until ``Engine.recover``
AT_WORK = 24
#: of the nodes before TO_MOVE, those from MOVED on are in the former unique table alone
MOVED, TO_MOVE = 25, 26
COUNT_SLOTS = 27

#: a frame's return from here on is the number of a call site with a value: ``site_loop`` has its loop, or
#: -1 - its watch, or SCOPE_SITE - its scope
SITE_BASE = 1 << 28
SCOPE_SITE = -(1 << 20)
#: in place of a call's return state: go on as the callee, no frame
JUMP = -1

#: most values around a value whose items must differ
MOST_NESTED = 4096
#: ways through the stacks around a value that are looked at
MOST_PATHS = 64
#: states that are looked at for what may come next
MOST_STEPS = 200
#: stack queries after which masks are stored by their stacks, at most, where values must differ
FEW_QUERIES = 6
MOST_RETURNS = 512
#: a walk that asks more is done on the stacks themselves
MOST_QUERIES = 48
ENDLESS = 1 << 20
#: the characters beyond ASCII that a slice has: all of them, or all but the line and paragraph separators
ALL_NON_ASCII, NO_LINES = 1, 2
#: DFA states that an invariance check may come to, at most
MOST_REACHED = 512
#: characters of a self-loop that are told apart
MOST_CHARACTERS = 511
