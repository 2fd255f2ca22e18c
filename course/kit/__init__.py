"""What stands around the notebooks on a student's machine: their own copies, JupyterLab, PyTorch, and handing in."""
