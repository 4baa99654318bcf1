"""What a notebook shows of an audit: what was found first, the rules folded, and how to save the page."""

from __future__ import annotations

from quia.auditing.audit import Audit
from quia.show.audit_words import (
    findings,
    model_name,
    possible_sentence,
    rules_sentence,
    summary_sentences,
    unfinished_sentence,
)
from quia.show.markup import Child, element, short
from quia.show.notebook_pieces import decided, folds, framed, heading, title
from quia.show.words import number, plural

_MOST_RULES = 5
_MOST_CLASSES = 6


def audit_view(audit: Audit) -> str:
    """An audit: its key findings."""
    document = audit.document
    possible = possible_sentence(document)
    found = [
        element("li", element("strong", f"{each.about}: {each.figure}"), element("br"), each.said)
        for each in findings(document)
    ]
    rules: list[Child] = []
    for each in document.rules[:_MOST_CLASSES]:
        rules.append(heading(decided(each.decision), rules_sentence(each)))
        told = [f"{plural(rule.rows, 'row')}: {short(rule.text, 160)}" for rule in each.rules[:_MOST_RULES]]
        more = [f"… {number(len(each.rules) - len(told))} more"] if len(each.rules) > len(told) else []
        rules.append(element("ul", [element("li", line) for line in (*told, *more)]))
    idle = [each.feature for each in document.features if each.matters is False]
    save = element("code", 'pathlib.Path("audit.html").write_text(audit.to_html())')
    return framed(
        title(f"Audit of {model_name(document)}"),
        element("p", " ".join(summary_sentences(document))),
        element("p", possible, class_="faint") if possible else None,
        element("ul", found) if found else None,
        element("p", unfinished_sentence(document), class_="faint"),
        folds(
            ("Rules", rules) if rules else None,
            (
                f"{plural(len(idle), 'feature')} proved not to matter",
                element("p", ", ".join(short(name, 60) for name in idle[:60])),
            )
            if idle
            else None,
            ("The whole page", element("p", "Save it with ", save, "; it needs nothing else and can be filed.")),
        ),
    )
