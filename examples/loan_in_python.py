"""A small loan classifier, built, explained and audited from Python."""

import quia

loans = quia.DecisionGraph.from_dict(
    {
        "quia": 1,
        "variables": {
            "income": {"kind": "numeric"},
            "debt": {"kind": "numeric"},
            "job": {"kind": "nominal", "states": ["none", "temporary", "permanent"]},
            "postcode": {"kind": "nominal", "states": ["north", "south"]},
        },
        "classes": ["deny", "refer", "grant"],
        "root": "income",
        "nodes": {
            "income": {"test": "income", "edges": [{"if": "< 30000", "to": "job"}, {"if": ">= 30000", "to": "debt"}]},
            "job": {
                "test": "job",
                "edges": [{"if": ["none"], "to": "no"}, {"if": ["temporary", "permanent"], "to": "debt"}],
            },
            "debt": {"test": "debt", "edges": [{"if": "<= 5000", "to": "yes"}, {"if": "> 5000", "to": "post"}]},
            "post": {"test": "postcode", "edges": [{"if": ["north"], "to": "ask"}, {"if": ["south"], "to": "no"}]},
            "no": {"class": "deny"},
            "ask": {"class": "refer"},
            "yes": {"class": "grant"},
        },
    }
)
applicant = {"income": 28000, "debt": 9000, "job": "permanent", "postcode": "south"}

why = quia.explain(loans, applicant)
print(why)

print("\nWhy not granted?")
for reason in quia.explain(loans, applicant, against="grant").necessary_reasons(general=True):
    print("  it would be with", " and ".join(change.phrase for change in reason.changes))

print("\nIs the decision biased by the postcode?", why.bias(["postcode"]))
print("Would it stand whatever the income were?", why.holds_without(["income"]))

for reason in why.sufficient_reasons(general=True):
    quia.verify(loans, applicant, reason, "sufficient", maximal=True)  # raises Refuted if it were none, or too narrow
