"""What users rely on. The folders mirror the code; what several files of tests share is in `tests.support`."""
