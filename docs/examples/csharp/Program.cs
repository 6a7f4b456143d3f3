// The summary of document 001 in the language of its engine: the first rows of a table, else the first lines of a long console log.
// Run as command:"dotnet run --project csharp".
using System.Text.Json;
using System.Text.Json.Nodes;

const int Shown = 5;

string? line;
while ((line = Console.In.ReadLine()) is not null)
{
    JsonObject reply;
    try
    {
        var result = JsonNode.Parse(line)!["result"]!;
        reply = new JsonObject { ["answer"] = TableSummary(result["data"]) ?? ConsoleSummary(result) };
    }
    catch (Exception error)
    {
        reply = new JsonObject { ["error"] = error.Message };
    }
    Console.Out.Write(reply.ToJsonString() + "\n");
    Console.Out.Flush();
}

static JsonNode? TableSummary(JsonNode? data)
{
    if (data is not JsonObject raw || (raw["structured_output"] ?? raw["structuredOutput"]) is not JsonArray items) return null;
    foreach (var item in items)
    {
        if (item is not JsonObject table || table["type"]?.GetValue<string>() != "table") continue;
        if (JsonNode.Parse(table["data"]!.GetValue<string>()) is not JsonArray rows) continue;
        var first = new JsonArray(rows.Take(Shown).Select(row => row?.DeepClone()).ToArray());
        return new JsonObject
        {
            ["type"] = "table",
            ["message"] = $"Showing {first.Count} of {rows.Count} rows",
            ["rows"] = first,
        };
    }
    return null;
}

static JsonNode? ConsoleSummary(JsonNode result)
{
    var console = (result["data"] as JsonObject)?["output"]?.GetValue<string>() ?? result["text"]?.GetValue<string>() ?? "";
    var lines = console.Split('\n').Where(text => text.Trim().Length > 0).ToArray();
    return lines.Length <= Shown
        ? null
        : JsonValue.Create(string.Join("\n", lines.Take(Shown)) + $"\nShowing {Shown} of {lines.Length} lines");
}
