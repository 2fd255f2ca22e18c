"""What several files of tests share: courses, classes, submissions, clocks. A file of tests rests on those that it imports, and no others."""
