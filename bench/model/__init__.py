"""Every value that flows through the bench, in flow order: Trace → Run → Sample → Comparison → Verdict.

All are frozen msgspec structs: typed, comparable, and written and read as JSON without further code. No I/O here.
Units are in the names; fractions are 0–1.
"""

from .base import (
    SCHEMA_VERSION as SCHEMA_VERSION,
)
from .base import (
    Value as Value,
)
from .run import (
    Decision as Decision,
)
from .run import (
    Failure as Failure,
)
from .run import (
    Message as Message,
)
from .run import (
    Note as Note,
)
from .run import (
    Prompt as Prompt,
)
from .run import (
    Record as Record,
)
from .run import (
    ReplyMade as ReplyMade,
)
from .run import (
    ResultOutcome as ResultOutcome,
)
from .run import (
    Run as Run,
)
from .run import (
    Splice as Splice,
)
from .run import (
    WriterCall as WriterCall,
)
from .score import (
    Baseline as Baseline,
)
from .score import (
    Comparison as Comparison,
)
from .score import (
    Delta as Delta,
)
from .score import (
    GateRule as GateRule,
)
from .score import (
    MetricInfo as MetricInfo,
)
from .score import (
    Row as Row,
)
from .score import (
    Sample as Sample,
)
from .score import (
    Signature as Signature,
)
from .score import (
    Verdict as Verdict,
)
from .trace import (
    AnyStep as AnyStep,
)
from .trace import (
    Approval as Approval,
)
from .trace import (
    Content as Content,
)
from .trace import (
    ContextReset as ContextReset,
)
from .trace import (
    ImagePart as ImagePart,
)
from .trace import (
    ModelTurn as ModelTurn,
)
from .trace import (
    OtherPart as OtherPart,
)
from .trace import (
    Part as Part,
)
from .trace import (
    RouteDecision as RouteDecision,
)
from .trace import (
    Source as Source,
)
from .trace import (
    Step as Step,
)
from .trace import (
    SystemTurn as SystemTurn,
)
from .trace import (
    TextPart as TextPart,
)
from .trace import (
    ToolCall as ToolCall,
)
from .trace import (
    ToolResult as ToolResult,
)
from .trace import (
    ToolsChanged as ToolsChanged,
)
from .trace import (
    Trace as Trace,
)
from .trace import (
    Usage as Usage,
)
from .trace import (
    UserTurn as UserTurn,
)
from .trace import (
    as_text as as_text,
)
from .trace import (
    compact_json as compact_json,
)
from .trace import (
    lines_of as lines_of,
)
from .trace import (
    non_text_parts as non_text_parts,
)
from .trace import (
    text_of as text_of,
)
