print("attachprep")
