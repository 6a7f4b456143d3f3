// The engine's summary of document 001: the first rows of a table, however short it is; else the first lines of a console log of more than five;
// else none. Needs nothing but the framework: run as command:"dotnet run --project csharp", or compiled by Mono as command:"mono Program.exe".
using System;
using System.Collections.Generic;
using System.IO;
using System.Linq;
using System.Runtime.Serialization.Json;
using System.Text;
using System.Xml;

static class OutputSummary
{
    const int Shown = 5;
    static readonly UTF8Encoding Utf8 = new UTF8Encoding(false);

    static void Main()
    {
        var asked = new StreamReader(Console.OpenStandardInput(), Utf8);
        var answers = new StreamWriter(Console.OpenStandardOutput(), Utf8) { AutoFlush = true };
        for (string line = asked.ReadLine(); line != null; line = asked.ReadLine())
            answers.Write(Answer(line) + "\n");
    }

    static string Answer(string line)
    {
        try
        {
            XmlElement result = Parse(line)["result"];
            return Json(writer => WriteSummary(writer, result));
        }
        catch (Exception error)
        {
            return Json(writer => writer.WriteElementString("error", error.Message));
        }
    }

    static void WriteSummary(XmlWriter writer, XmlElement result)
    {
        string text = result["text"].InnerText;
        XmlElement raw = Type(result["data"]) == "null" && text.StartsWith("{") ? TryParse(text) : result["data"];
        bool isScriptResult = Type(raw) == "object" && (raw["output"] ?? raw["structured_output"] ?? raw["structuredOutput"]) != null;
        List<XmlElement> rows = isScriptResult ? Table(raw) : null;
        string console = isScriptResult ? raw["output"]?.InnerText ?? "" : text;
        List<string> lines = console.Split('\n', '\r').Where(said => said.Trim().Length > 0).ToList();
        if (rows != null)
        {
            Open(writer, "answer", "object");
            writer.WriteElementString("type", "table");
            writer.WriteElementString("message", $"Showing {Math.Min(Shown, rows.Count)} of {rows.Count} rows");
            Open(writer, "table", "object");
            Number(writer, "row_count", rows.Count);
            Open(writer, "truncated_rows", "array");
            foreach (XmlElement row in rows.Take(Shown)) row.WriteTo(writer);
            for (int open = 0; open < 3; open++) writer.WriteEndElement();
        }
        else if (lines.Count > Shown)
        {
            Open(writer, "answer", "object");
            writer.WriteElementString("type", "console");
            writer.WriteElementString("message", $"Showing {Shown} of {lines.Count} lines");
            Open(writer, "console", "object");
            Number(writer, "line_count", lines.Count);
            Open(writer, "truncated_lines", "array");
            foreach (string said in lines.Take(Shown)) writer.WriteElementString("item", said);
            for (int open = 0; open < 3; open++) writer.WriteEndElement();
        }
        else
        {
            Open(writer, "answer", "null");
            writer.WriteEndElement();
        }
    }

    // The rows of the first table that can be read; null where there is none.
    static List<XmlElement> Table(XmlElement raw)
    {
        XmlElement items = raw["structured_output"] ?? raw["structuredOutput"];
        if (Type(items) != "array") return null;
        foreach (XmlElement item in items.ChildNodes)
        {
            if (item["type"]?.InnerText != "table") continue;
            XmlElement data = item["data"];
            if (Type(data) == "string") data = TryParse(data.InnerText);
            if (Type(data) == "array") return data.ChildNodes.Cast<XmlElement>().ToList();
        }
        return null;
    }

    // ---- JSON as the framework reads and writes it: an element for each value, its attribute `type` says which

    static XmlElement Parse(string json)
    {
        var document = new XmlDocument();
        using (var reader = JsonReaderWriterFactory.CreateJsonReader(Utf8.GetBytes(json), XmlDictionaryReaderQuotas.Max))
            document.Load(reader);
        return document.DocumentElement;
    }

    static XmlElement TryParse(string json)
    {
        try { return Parse(json); }
        catch (Exception error) when (error is XmlException || error is FormatException) { return null; }
    }

    static string Type(XmlElement value) => value == null ? "null" : value.HasAttribute("type") ? value.GetAttribute("type") : "string";

    static string Json(Action<XmlWriter> write)
    {
        var bytes = new MemoryStream();
        using (var writer = JsonReaderWriterFactory.CreateJsonWriter(bytes, Utf8))
        {
            Open(writer, "root", "object");
            write(writer);
            writer.WriteEndElement();
        }
        return Utf8.GetString(bytes.ToArray());
    }

    static void Open(XmlWriter writer, string name, string type)
    {
        writer.WriteStartElement(name);
        writer.WriteAttributeString("type", type);
    }

    static void Number(XmlWriter writer, string name, int value)
    {
        Open(writer, name, "number");
        writer.WriteValue(value);
        writer.WriteEndElement();
    }
}
