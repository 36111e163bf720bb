"""`giantstep explore`: a page in the browser whose curves follow sliders, served by this machine.

`server.serve` starts it; what is asked is a `question.Question`, and how it is shown a `view.View`.
"""
