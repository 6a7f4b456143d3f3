"""Every value that flows through the bench, in flow order: Trace → Run → Sample → Case → Comparison → Verdict.

All are frozen msgspec structs: typed, comparable, and written and read as JSON without further code. No I/O here.
Units are in the names; fractions are 0–1.
"""

from .base import (
    SCHEMA_VERSION as SCHEMA_VERSION,
    Value as Value,
    plain as plain,
)
from .case import (
    CallShown as CallShown,
    Case as Case,
    Cause as Cause,
    CompactionShown as CompactionShown,
    CutShown as CutShown,
    FindingChange as FindingChange,
    Judgement as Judgement,
    Kept as Kept,
    Loss as Loss,
    Losses as Losses,
    NeededAt as NeededAt,
    NoteShown as NoteShown,
    RecordingShown as RecordingShown,
    ResetShown as ResetShown,
    ResultShown as ResultShown,
    RouteCount as RouteCount,
    RoutesShown as RoutesShown,
    Rows as Rows,
    RunShown as RunShown,
    Span as Span,
    Turn as Turn,
    WindowShown as WindowShown,
)
from .comparison import (
    SIGNED as SIGNED,
    Against as Against,
    Baseline as Baseline,
    Comparison as Comparison,
    GateRule as GateRule,
    Moment as Moment,
    Signature as Signature,
    Verdict as Verdict,
)
from .probe import (
    AskedProbe as AskedProbe,
    Probe as Probe,
)
from .run import (
    Counting as Counting,
    Decision as Decision,
    Failure as Failure,
    Message as Message,
    Note as Note,
    Prompt as Prompt,
    Reasoning as Reasoning,
    Record as Record,
    ReplyMade as ReplyMade,
    ResultOutcome as ResultOutcome,
    Run as Run,
    Splice as Splice,
    WriterCall as WriterCall,
)
from .score import (
    Asked as Asked,
    Delta as Delta,
    Detail as Detail,
    Lost as Lost,
    MetricInfo as MetricInfo,
    Missed as Missed,
    Row as Row,
    Sample as Sample,
    Told as Told,
    Turned as Turned,
)
from .trace import (
    AnyStep as AnyStep,
    Approval as Approval,
    Content as Content,
    ContextReset as ContextReset,
    ImagePart as ImagePart,
    ModelTurn as ModelTurn,
    OtherPart as OtherPart,
    Outcome as Outcome,
    Part as Part,
    RouteDecision as RouteDecision,
    Source as Source,
    Step as Step,
    SystemTurn as SystemTurn,
    TextPart as TextPart,
    ToolCall as ToolCall,
    ToolResult as ToolResult,
    ToolsChanged as ToolsChanged,
    Trace as Trace,
    Usage as Usage,
    UserTurn as UserTurn,
    as_text as as_text,
    compact_json as compact_json,
    lines_of as lines_of,
    non_text_parts as non_text_parts,
    text_of as text_of,
)
