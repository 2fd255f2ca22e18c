"""What makes the course and proves it: answers, releases, stored outputs, mutants, and a class to try it on."""
