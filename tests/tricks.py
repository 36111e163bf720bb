"""Texts that no user means: odd paths, code, templates, numbers that are none."""

WORDS = """
../../../tmp/giantstep_broken /etc/passwd fig2/../fig2 .. . ~ FIG2 ｆｉｇ２ fig2.yaml `id`
{wildcards} {figure} %s * os.system polynomial:__import__('os') polynomial:nan student_t:1e999
inf nan 1e-3
"""
TRICKS = [
    *WORDS.split(),
    *("", " fig2", "fig2\n", "fig2\x00", "\u202efig", "\ud800", "; rm -rf /", "lambda x: x"),
    *("$(touch giantstep_broken)", "__import__('os').system('touch giantstep_broken')"),
    *("polynomial:" + "9," * 999 + "9", "é" * 1000, "x" * 100_000),
]
