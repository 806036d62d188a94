"""Machines that read concepts off pictures: a vision-language model behind an endpoint, or CLIP from a local folder."""
