// A compactor as a process: all but the newest tool results become one line each.
// Run as command:"npx tsx mask_results.ts", or with Node 22.6 or newer as command:"node --experimental-strip-types mask_results.ts".
import { createInterface } from "node:readline";

interface Message {
  role: string;
  content: string;
  tool_call_id?: string;
}

const KEPT: number = 10;

function compact(messages: Message[]): Message[] {
  const results = messages.filter((message) => message.role === "tool");
  const old = new Set(results.slice(0, Math.max(0, results.length - KEPT)));
  return messages.map((message) =>
    old.has(message) ? { ...message, content: `[${message.content.length} characters left out]` } : message,
  );
}

createInterface({ input: process.stdin }).on("line", (line: string) => {
  const request = JSON.parse(line) as { messages: Message[] };
  process.stdout.write(JSON.stringify({ answer: compact(request.messages) }) + "\n");
});
