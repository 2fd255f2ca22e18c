"""What nbgrader loads through its documented settings; see nbgrader_config.py for where each one goes."""
