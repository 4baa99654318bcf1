"""What clients send and are answered, declared once.

Requests are decoded by these types (`question`), and the OpenAPI document is generated from them (`openapi`), as are
the JSON Schema files in docs/schemas of the same and of reason codes (`python docs/schemas.py`). What describes a part
of a request also finishes the sentence "it must be …" where one does not fit.
"""

from __future__ import annotations

from typing import Annotated, Literal

from msgspec import UNSET, Meta, Struct, UnsetType, field

MOST_REASONS = 100
MOST_ROWS = 100
LARGEST_COST = 1e9
MOST_CONSTRAINTS = 200
LONGEST_CONDITION = 1000
LONGEST_NAME = 200
LAST_ROW = 999_999_999

Value = Annotated[str | int | float | bool | None, Meta(description="a string, a number, true, false or null")]
Instance = Annotated[dict[str, Value], Meta(description="an object from feature to value")]
Features = Annotated[list[str], Meta(description="a list of features")]
Cost = Annotated[float, Meta(gt=0, le=LARGEST_COST, description="a number above 0, at most 1e9")]
_LETTERS = f"of at most {LONGEST_CONDITION} letters"
Text = Annotated[str, Meta(max_length=LONGEST_CONDITION)]
Within = Annotated[
    dict[
        str,
        Annotated[
            Text | Annotated[list[Text], Meta(max_length=LONGEST_CONDITION)],
            Meta(description=f"a condition such as '>= 52', or a list of states or conditions, each {_LETTERS}"),
        ],
    ],
    Meta(description="an object from feature to condition"),
]
Near = Annotated[
    dict[
        str,
        Annotated[
            Annotated[float, Meta(ge=0)] | Text,
            Meta(description="how far it may be from its value: a number, or a share such as '10%'"),
        ],
    ],
    Meta(description="an object from feature to a number, or to a share of its range such as '10%'"),
]
Given = Annotated[
    list[Text],
    Meta(
        max_length=MOST_CONSTRAINTS,
        description=f"a list of at most {MOST_CONSTRAINTS} constraints, texts {_LETTERS} such as 'a=yes -> b > 3'",
    ),
]
Facts = dict[str, str]
Certain = Annotated[
    bool,
    Meta(
        description="False where features are unknown, and the class is that one for some of their values but not all."
    ),
]
Listed = Annotated[
    bool, Meta(description="Whether `reasons` lists them all; false where a limit or the time cut it short.")
]


class Question(Struct, forbid_unknown_fields=True):
    """A question about one instance: why, or why not the class `against`, unless that is the one decided.

    Only worlds that are possible count: `within` has conditions on features, those in `only_up` and `only_down` cannot
    fall or rise, those in `near` stay so near to what they are, and `given` are constraints between features. Whether
    the decision hangs on features in `protected` alone is told too.
    """

    instance: Instance
    against: Annotated[str | None, Meta(description="the name of a class, or null")] = None
    frozen: Features = []
    costs: Annotated[dict[str, Cost], Meta(description="an object from feature to a positive number")] = {}
    without: Features = []
    states: Annotated[bool, Meta(description="true or false")] = False
    limit: Annotated[int, Meta(ge=0, le=MOST_REASONS, description=f"a whole number from 0 to {MOST_REASONS}")] = 10
    within: Within = {}
    only_up: Features = []
    only_down: Features = []
    near: Near = {}
    given: Given = []
    protected: Features = []


class Pair(Struct, forbid_unknown_fields=True):
    """Two instances to compare, in the worlds that `within` and `given` leave possible."""

    one: Instance
    other: Instance
    within: Within = {}
    given: Given = []


class RowsWanted(Struct):
    """The query of a request for rows."""

    start: Annotated[int, Meta(ge=1, le=LAST_ROW, description=f"a whole number from 1 to {LAST_ROW}")] = 1
    count: Annotated[int, Meta(ge=0, le=MOST_ROWS, description=f"a whole number from 0 to {MOST_ROWS}")] = 20


class DroppedFile(Struct):
    """The query of a request that brings a model file."""

    name: Annotated[
        str,
        Meta(min_length=1, max_length=LONGEST_NAME, description=f"a name of 1 to {LONGEST_NAME} letters"),
    ] = "the dropped file"


class Unreadable(Struct, forbid_unknown_fields=True):
    """A constraint that cannot be read."""

    place: Annotated[int, Meta(ge=0, description="Its place in `given`, from 0 on.")]
    error: Annotated[str, Meta(description="One sentence: the fault, the value, the cure.")]


class AtFeature(Struct, forbid_unknown_fields=True):
    """What is said of a feature that cannot be: it cannot be read, never holds, or does not hold of the instance."""

    feature: str
    option: Annotated[Literal["within", "near", "costs"], Meta(description="The part of the question that says it.")]
    error: Annotated[str, Meta(description="One sentence: the fault, the value, the cure.")]


class Fault(Struct, forbid_unknown_fields=True):
    """Why there is no answer."""

    error: Annotated[str, Meta(description="One sentence: the fault, the value, the cure.")]
    given: (
        Annotated[list[Unreadable], Meta(min_length=1, description="Only where constraints cannot be read: which.")]
        | UnsetType
    ) = UNSET
    features: (
        Annotated[
            list[AtFeature],
            Meta(min_length=1, description="Only where what is said of single features cannot be: of which."),
        ]
        | UnsetType
    ) = UNSET


class ModelName(Struct, forbid_unknown_fields=True):
    """A model that can be asked about."""

    id: Annotated[str, Meta(description="What the server calls the model.")]
    name: str


class Table(Struct, forbid_unknown_fields=True):
    """The table that rows are picked from."""

    name: str
    rows: Annotated[int, Meta(ge=1, description="How many it has.")]


class Models(Struct, forbid_unknown_fields=True):
    """What can be asked about."""

    models: list[ModelName]
    data: Table | None
    largest: Annotated[int, Meta(description="How many bytes a dropped file may have.")]


class Rows(Struct, forbid_unknown_fields=True):
    """Rows of the table."""

    total: Annotated[int, Meta(ge=1, description="How many rows the table has.")]
    rows: Annotated[list[dict[str, str]], Meta(description="Each from column to text.")]


class Variable(Struct, forbid_unknown_fields=True):
    """A feature, as a form for it needs it."""

    name: str
    kind: Literal["nominal", "numeric"]
    tested: Annotated[bool, Meta(description="Whether the model looks at it at all.")]
    missing: Annotated[bool, Meta(description="Whether a missing number is a state of its own.")]
    states: Annotated[
        list[str], Meta(description="Its states, as answers name them; none of a feature whose numbers are not cut.")
    ]
    signs: Annotated[list[str], Meta(description="The same states in the same order, as people read them.")]
    cuts: Annotated[list[float | None], Meta(description="Where a numeric feature is cut; null for one at infinity.")]
    range: (
        Annotated[
            list[float],
            Meta(
                min_length=2,
                max_length=2,
                description="Only of a feature whose numbers are not cut: the least and the greatest.",
            ),
        ]
        | UnsetType
    ) = UNSET


class Possible(Struct, forbid_unknown_fields=True):
    """What was said when the server was started, as a question has it: what is possible, costs, what is protected."""

    within: Within = {}
    only_up: Features = []
    only_down: Features = []
    near: Near = {}
    given: list[str] = []
    frozen: Features = []
    costs: Annotated[dict[str, Cost], Meta(description="an object from feature to a positive number")] = {}
    protected: Features = []


class Model(Struct, forbid_unknown_fields=True):
    """What a form for a model's instances needs: what `quia serve` answers about a model."""

    schema: Literal["quia/model/1"]
    id: Annotated[str, Meta(description="What the server calls the model.")]
    name: str
    nodes: Annotated[int, Meta(ge=1)] | None
    classes: Annotated[list[str], Meta(min_length=1)]
    variables: Annotated[list[Variable], Meta(description="In the order in which a sequence of values is read.")]
    example: Annotated[
        dict[str, str | int | float], Meta(description="Some value for every feature, possible together if need be.")
    ]
    notes: Annotated[list[str], Meta(description="What was changed or assumed to read the model.")]
    given: (
        Annotated[
            list[str],
            Meta(min_length=1, description="Only if it has any: its own constraints, which every answer respects."),
        ]
        | UnsetType
    ) = UNSET
    possible: (
        Annotated[Possible, Meta(description="Only if any was given: what a page about it begins with.")] | UnsetType
    ) = UNSET
    image_shape: (
        Annotated[
            list[Annotated[int, Meta(ge=1)]],
            Meta(
                min_length=2,
                max_length=2,
                description="Only of a model of images: the rows and columns of the image whose pixels features are.",
            ),
        ]
        | UnsetType
    ) = UNSET


class Interval(Struct, forbid_unknown_fields=True):
    """The numbers between two ends."""

    low: Annotated[float | None, Meta(description="Null if there is no bound.")]
    high: Annotated[float | None, Meta(description="Null if there is no bound.")]
    low_closed: Annotated[bool, Meta(description="Whether the lower end is itself in it.")]
    high_closed: Annotated[bool, Meta(description="Whether the upper end is itself in it.")]


class Condition(Struct, forbid_unknown_fields=True):
    """A condition on a feature: a nominal one is in one of some states, a numeric one in some intervals or missing."""

    feature: str
    text: Annotated[
        str, Meta(description="As it is written and read back: '≠ high', '< 1450', '(0.6, 1.5] or missing'.")
    ]
    in_: (
        Annotated[list[str], Meta(min_length=1, description="Only of a nominal feature: the names of the states.")]
        | UnsetType
    ) = field(default=UNSET, name="in")
    intervals: (
        Annotated[
            list[Interval],
            Meta(description="Only of a numeric feature: from low to high, with gaps between; none if it is missing."),
        ]
        | UnsetType
    ) = UNSET
    missing: (
        Annotated[bool, Meta(description="Only of a numeric feature: whether it holds of a missing value.")] | UnsetType
    ) = UNSET
    type: (
        Annotated[
            Literal["float32"],
            Meta(
                description="Only of a numeric feature, and only if so: a value is rounded to 32 bits before it is"
                " compared; the ends of the intervals are such numbers."
            ),
        ]
        | UnsetType
    ) = UNSET


OneCondition = Annotated[
    Condition, Meta(extra_json_schema={"oneOf": [{"required": ["in"]}, {"required": ["intervals", "missing"]}]})
]
Conditions = list[OneCondition]


class ReasonCode(Struct, forbid_unknown_fields=True):
    """One principal reason: a feature, its value, what holds of it, and what would have been favourable."""

    rank: Annotated[int, Meta(ge=1)]
    feature: str
    value: Value
    condition: Annotated[OneCondition, Meta(description="What holds of it, and with the others forces the decision.")]
    favourable: Annotated[
        OneCondition,
        Meta(
            description="If `alone`, every state in it changes the decision, all else kept. Else the states that gain"
            " most (of a number that is added as it is, all that gain), or without a score, those in which this reason"
            " would not hold."
        ),
    ]
    alone: Annotated[bool, Meta(description="Whether this feature alone can change the decision.")]
    points: Annotated[
        float | None,
        Meta(description="The most that it could gain alone towards `instead`; null where the model has no score."),
    ]
    share: Annotated[
        float | None, Meta(description="The same as a share of what is `missing`; null also where nothing is.")
    ]


class CodedReason(Struct, forbid_unknown_fields=True):
    """The sufficient reason that codes are of."""

    features: Annotated[list[str], Meta(description="In the order of the model's features.")]
    conditions: Conditions


class ReasonCodes(Struct, forbid_unknown_fields=True):
    """The principal reasons of a decision: what `quia explain --reason-codes --json` prints."""

    schema: Literal["quia/reason-codes/1"]
    decision: str
    against: Annotated[str | None, Meta(description="The class that it is asked why the decision was not.")]
    instead: Annotated[
        str | None, Meta(description="The class that points are counted towards; null where there is no score.")
    ]
    missing: Annotated[
        Annotated[float, Meta(ge=0)] | None, Meta(description="How many points are missing for that class.")
    ]
    codes: Annotated[list[ReasonCode], Meta(description="The feature that moves the score most first.")]
    further: Annotated[int, Meta(ge=0, description="How many features the reason has beside those.")]
    reason: CodedReason
    others: Annotated[
        Annotated[int, Meta(ge=0)] | None,
        Meta(description="How many other sets of features are as short a reason; null if that was not counted."),
    ]
    shortest: Annotated[bool, Meta(description="Whether it is proved that no reason is shorter.")]


class Reason(Struct, forbid_unknown_fields=True):
    """A reason: some features, the instance's states of them, and all that is true of them."""

    features: Annotated[list[str], Meta(description="In the order of the model's features.")]
    states: Annotated[Facts, Meta(description="Each of them to the state that the instance's value is in.")]
    conditions: Annotated[
        Conditions,
        Meta(
            description="What is said of each of them; it holds of the instance. A sufficient reason's force the"
            " decision; a necessary one's must give way. Of reasons that are not `general`, these are the states."
        ),
    ]
    changes: (
        Annotated[
            Conditions,
            Meta(
                description="Only of a general necessary reason: a region in which every point, all else kept, changes"
                " the decision (if features are unknown: for some values of these)."
            ),
        ]
        | UnsetType
    ) = UNSET
    rows: (
        Annotated[
            int,
            Meta(
                ge=0,
                description="Only with a reference table: how many of its rows the conditions, or else the changes,"
                " hold of.",
            ),
        ]
        | UnsetType
    ) = UNSET

    is_minimal: (
        Annotated[
            bool,
            Meta(
                description="Only where time ran out before it was proved that all its features are needed: together"
                " they still force, or can change, the decision.",
                extra_json_schema={"const": False},
            ),
        ]
        | UnsetType
    ) = UNSET

    is_widest: (
        Annotated[
            bool,
            Meta(
                description="Only where conditions, or changes, are not proved to be as wide as they can be; they"
                " are true.",
                extra_json_schema={"const": False},
            ),
        ]
        | UnsetType
    ) = UNSET

    superfluous: (
        Annotated[
            bool,
            Meta(
                description="Only of a sufficient reason that another one implies, as constraints tie features: it"
                " covers fewer possible worlds. Such reasons come last.",
                extra_json_schema={"const": True},
            ),
        ]
        | UnsetType
    ) = UNSET


class Reasons(Struct, forbid_unknown_fields=True):
    """Reasons of one kind."""

    complete: Listed
    count: Annotated[
        Annotated[int, Meta(ge=0)] | None,
        Meta(
            description="How many there are in all, exactly (of any size); null if time or memory ran out first, or if"
            " only listing them would tell."
        ),
    ]
    sets: Annotated[
        Annotated[int, Meta(ge=0)] | None,
        Meta(
            description="How many sets of features they speak of, of which each may have several general reasons; null"
            " if time or memory ran out first."
        ),
    ]
    reasons: Annotated[
        list[Reason],
        Meta(
            description="Those with the fewest (with costs, cheapest) features first; with the same features, the"
            " widest first. Where they must be looked for, and not all were found, in the order in which they were."
        ),
    ]


class Counterfactual(Struct, forbid_unknown_fields=True):
    """A region of changes: wherever in it, all else kept, the decision is another one."""

    features: Annotated[list[str], Meta(min_length=1, description="Those that change.")]
    changes: Annotated[Conditions, Meta(description="What each of them changes to: any value that is in there.")]
    now: Annotated[
        dict[str, str | int | float | bool | None], Meta(description="What the value of each is now, as given.")
    ]
    decision: Annotated[str, Meta(description="The class then.")]
    certain: Certain


class Bias(Struct, forbid_unknown_fields=True):
    """Whether protected features alone can change the decision."""

    protected: list[str]
    biased: Annotated[
        bool | None,
        Meta(
            description="Whether changing protected features alone can change the decision; null if time ran out before"
            " that was told."
        ),
    ]
    reasons: Annotated[list[Reason], Meta(description="The necessary reasons that speak of protected features only.")]
    complete: Listed
    changes: Annotated[
        Conditions,
        Meta(
            description="A change of protected features that proves it: any value that is in there. Empty if not"
            " biased, or if time ran out before the nearest was found."
        ),
    ]
    decision: Annotated[str | None, Meta(description="The class after that change; null if there is none.")]
    certain: Certain
    vacuous: (
        Annotated[
            bool,
            Meta(
                description="Only where it is not biased because no possible world differs in protected features"
                " alone.",
                extra_json_schema={"const": True},
            ),
        ]
        | UnsetType
    ) = UNSET


class Explanation(Struct, forbid_unknown_fields=True):
    """One decision explained: what `quia explain --json` prints and `Explanation.to_dict` returns."""

    schema: Literal["quia/explanation/2"]
    instance: Annotated[
        dict[str, str | int | float | bool | None],
        Meta(description="Feature to value, as given. Not-a-number is null; an infinite number is a text."),
    ]
    states: Annotated[
        Facts,
        Meta(
            description="Tested feature to the state that its value is in: a nominal state, or an interval such as"
            " '(0.6, 1.5]', '< 1450' or 'missing'."
        ),
    ]
    decision: Annotated[str, Meta(description="The class that the model gave.")]
    against: Annotated[
        str | None,
        Meta(description="The class that the question 'why not?' was about; null if the question was 'why?'."),
    ]
    general: Annotated[
        bool,
        Meta(
            description="Whether the reasons are general, their conditions as wide as they are true; if not, they are"
            " the instance's states."
        ),
    ]
    necessary: Annotated[
        Reasons, Meta(description="Minimal sets of facts which, altered properly, change the decision.")
    ]
    sufficient: Annotated[Reasons, Meta(description="Minimal sets of facts that alone force the decision.")]
    counterfactuals: Annotated[
        list[Counterfactual],
        Meta(
            description="The nearest changes: the fewest (with costs, cheapest) features, then the shortest way. Where"
            " time ran out before the nearest were told, changes that are not known to be."
        ),
    ]
    counterfactuals_complete: (
        Annotated[
            bool,
            Meta(
                description="Only where a limit or the time cut `counterfactuals` short.",
                extra_json_schema={"const": False},
            ),
        ]
        | UnsetType
    ) = UNSET
    unknown: (
        Annotated[
            list[str],
            Meta(
                min_length=1,
                description="Only if there are any: the tested features whose values are missing, where the model has"
                " no state for that. The decision is the same whatever they are, and no reason speaks of them.",
            ),
        ]
        | UnsetType
    ) = UNSET
    possible: (
        Annotated[
            list[str],
            Meta(min_length=1, description="Only if not all is possible: what holds in every world that counts."),
        ]
        | UnsetType
    ) = UNSET
    rows: Annotated[int, Meta(ge=0, description="Only with a reference table: how many rows it has.")] | UnsetType = (
        UNSET
    )
    bias: Annotated[Bias, Meta(description="Only if protected features were named.")] | UnsetType = UNSET


class Without(Struct, forbid_unknown_fields=True):
    """Whether the decision holds whatever some features are."""

    features: list[str]
    holds: Annotated[bool | None, Meta(description="Null if time ran out before that was told.")]
    changes: Annotated[
        Conditions,
        Meta(description="A region of them in which it does not hold; empty if it holds, or if time ran out first."),
    ]
    decision: Annotated[str | None, Meta(description="The class then; null if it holds.")]
    certain: Annotated[bool, Meta(description="Whether it is that class whatever the unknown features are.")]
    text: Annotated[str, Meta(description="The same in a sentence.")]


class Answer(Struct, forbid_unknown_fields=True):
    """A question answered."""

    explanation: Explanation
    mentioned: Annotated[list[str], Meta(description="The features that the complete reason speaks of.")]
    without: Without | None
    html: Annotated[dict[str, str], Meta(description="The page's sections by name.")]


class Difference(Struct, forbid_unknown_fields=True):
    """A feature in which two instances are in different states; null is a state that is not known."""

    feature: str
    one: str | None
    other: str | None


class CommonReason(Struct, forbid_unknown_fields=True):
    """A general sufficient reason for both decisions."""

    features: list[str]
    conditions: Conditions


class Witness(Struct, forbid_unknown_fields=True):
    """Changes of what differs that change the decision."""

    changes: Conditions
    decision: str | None


class Comparison(Struct, forbid_unknown_fields=True):
    """Whether two instances are decided alike for a common reason, and the proof either way."""

    congruent: Annotated[bool, Meta(description="Whether the states that they share force the decision.")]
    decisions: Annotated[list[str], Meta(min_length=2, max_length=2)]
    differences: list[Difference]
    common_reason: Annotated[
        CommonReason | None,
        Meta(description="Null if the smallest box with both in it does not force the decision."),
    ]
    witness: Annotated[
        Witness | None,
        Meta(
            description="If they are decided alike and not congruent: proof of that, and where there is no common"
            " reason, between the two, of that too."
        ),
    ]
    html: str
