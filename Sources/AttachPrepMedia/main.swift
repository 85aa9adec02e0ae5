print("attachprep-media")
