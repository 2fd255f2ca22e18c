"""How long grading takes: stock nbgrader and this repository's in turn, on the same class, beside what the cells alone cost."""
