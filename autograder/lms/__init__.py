"""Marks and pages to a learning management system (LMS), and submissions from one, in files."""
