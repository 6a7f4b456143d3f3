"use strict";
/* What a page can do beyond being read. Everything here is also readable without it, except a case in full. No eval, no network. */
(() => {
  const one = (selector, root = document) => root.querySelector(selector);
  const all = (selector, root = document) => [...root.querySelectorAll(selector)];
  const make = (tag, fields = {}, ...inner) => {
    const node = document.createElement(tag);
    for (const [name, value] of Object.entries(fields)) {
      if (name in node) node[name] = value;
      else node.setAttribute(name, value);
    }
    node.append(...inner);
    return node;
  };
  const say = (text) => { one("#said").textContent = text; };
  const strategies = JSON.parse(one("#names").textContent);
  const state = { scenario: null, case: null, strategy: null, step: null };

  const unpack = async (text) => {
    const bytes = Uint8Array.from(atob(text), (char) => char.charCodeAt(0));
    const stream = new Blob([bytes]).stream().pipeThrough(new DecompressionStream("deflate"));
    return new Response(stream).text();
  };

  // ------------------------------------------------------------ addresses

  const read = () => {
    const text = location.hash.slice(1);
    if (!/(^|&)(scenario|case|strategy|step)=/.test(text)) return null;
    const found = {};
    for (const part of text.split("&")) {
      const at = part.indexOf("=");
      try { found[part.slice(0, at)] = decodeURIComponent(part.slice(at + 1)); } catch { /* a broken address names nothing */ }
    }
    return found;
  };
  const address = (fields) => "#" + ["scenario", "case", "strategy", "step"]
    .filter((name) => fields[name] !== null && fields[name] !== undefined && fields[name] !== "")
    .map((name) => `${name}=${encodeURIComponent(fields[name])}`).join("&");
  const remember = () => {
    if (state.case !== null || state.strategy !== null) history.replaceState(null, "", address(state));
  };
  const go = (fields) => {
    const target = address(fields);
    if (location.hash === target) follow(); else location.hash = target;
  };
  const article = (name) => all("article").find((item) => item.dataset.scenario === name);
  const blockOf = (root, name) => all(".cases > script[data-case]", root).find((item) => item.dataset.case === name);

  const unfold = (node) => {  // what stands in closed folds is opened with them
    for (; node; node = node.parentElement) if (node.tagName === "DETAILS") node.open = true;
  };

  const follow = async () => {
    const wanted = read();
    if (!wanted) return;
    if (wanted.strategy !== undefined) highlight(wanted.strategy);
    if (wanted.case === undefined) return;
    const home = wanted.scenario !== undefined ? article(wanted.scenario) : all("article").find((item) => blockOf(item, wanted.case));
    const block = home && blockOf(home, wanted.case);
    if (!block) { say(`This page has no case ${wanted.case}.`); return; }
    await open(home, block, wanted);
  };

  const open = async (home, block, wanted) => {
    const view = one(".caseview", home);
    unfold(view);
    const name = block.dataset.case;
    Object.assign(state, { scenario: home.dataset.scenario, case: name, step: wanted.step ?? null });
    if (view.dataset.open !== name) {
      view.dataset.open = name;
      view.hidden = false;
      if (!block.textContent) {
        view.textContent = `${name}: left out, because this page is full. A report of this trace alone shows it; the CSV and JSON reports hold its numbers.`;
      } else {
        const inner = await unpack(block.textContent);
        if (view.dataset.open !== name) return;
        view.innerHTML = inner;  // written and escaped by the renderer; the policy of the page runs nothing in it
        const close = make("button", { type: "button", textContent: "Close" });
        close.onclick = () => { view.hidden = true; view.textContent = ""; delete view.dataset.open; Object.assign(state, { case: null, step: null }); remember(); };
        view.prepend(make("h4", { className: "opened" }, name, " ", close));
        enliven(view);
      }
    }
    const prompts = one(".prompts", view);
    if (prompts && prompts.show && (wanted.step !== undefined || wanted.strategy !== undefined)) prompts.show(wanted.strategy, wanted.step);
    const target = wanted.step !== undefined && prompts ? prompts : view;
    target.scrollIntoView({ block: "start" });
    view.focus({ preventScroll: true });
    say(`Case ${name} is open.`);
  };

  // ------------------------------------------------------------ one strategy everywhere

  const named = (node) => strategies[Number([...node.classList].find((name) => /^s\d+$/.test(name))?.slice(1))];
  const classOf = (name) => { const at = strategies.indexOf(name); return at < 0 ? "" : `s${at}`; };
  const paint = (root) => {
    const chosen = classOf(state.strategy);
    for (const row of all("tbody tr", root)) {
      const own = row.firstElementChild && one(".strategy", row);
      row.classList.toggle("dim", Boolean(chosen && own && !own.classList.contains(chosen)));
    }
    for (const table of all(".table table", root)) {
      all("thead th", table).forEach((head, at) => {
        const lit = Boolean(chosen) && head.classList.contains(chosen);
        if (lit === head.classList.contains("lit")) return;
        head.classList.toggle("lit", lit);
        for (const row of table.tBodies[0].rows) row.cells[at].classList.toggle("lit", lit);
      });
    }
    for (const kept of all(".kept", root)) kept.classList.toggle("dim", Boolean(chosen) && !one(`.strategy.${chosen}`, kept));
    for (const name of all(".legend .strategy, svg :is(.line, .mark, .point)", root)) name.classList.toggle("dim", Boolean(chosen) && !name.classList.contains(chosen));
  };
  const highlight = (name) => {
    const known = strategies.includes(name) ? name : null;
    if (known === state.strategy) return;
    state.strategy = known;
    one("#highlight").value = state.strategy ?? "";
    paint(document);
  };

  // ------------------------------------------------------------ tables

  const textOf = (cell) => [...cell.childNodes].filter((node) => !["SUP", "SMALL", "BUTTON"].includes(node.nodeName))
    .map((node) => node.textContent).join("").trim();
  const plain = (head) => textOf(one("button.sort", head) ?? head);
  const valueOf = (text) => {
    const bare = text.replace(/[\s\u202f]/g, "").replace(/\u2212/g, "-").replace(/points$|%$/, "").replace(/^[≤<>±+]+/, "").replace("$", "");
    return /^-?(\d+\.?\d*|\.\d+)([eE][-+]?\d+)?$/.test(bare) ? Number(bare) : null;
  };
  const compare = (a, b) => {
    if (a.value !== null && b.value !== null) return a.value - b.value;
    return a.text.localeCompare(b.text, "en", { numeric: true });
  };
  const sort = (table, at, head) => {
    const down = head.getAttribute("aria-sort") === "ascending";
    const by = Number(one("select.by", table.closest(".table"))?.value ?? 0);
    for (const other of all("th", table.tHead)) other.removeAttribute("aria-sort");
    head.setAttribute("aria-sort", down ? "descending" : "ascending");
    const body = table.tBodies[0];
    const keyed = [...body.rows].map((row) => {
      const text = textOf(row.cells[at]);
      const several = row.cells[at].dataset.by?.split("|")[by];
      const value = several === undefined ? valueOf(text) : several === "" ? null : Number(several);
      return { row, text, value, empty: several === "" || text === "" || text === "–" || text === "not measured" };
    });
    keyed.sort((a, b) => a.empty - b.empty || (down ? -1 : 1) * compare(a, b));  // what was not measured stays last
    body.append(...keyed.map((item) => item.row));
    say(`Sorted by ${plain(head)}, ${down ? "descending" : "ascending"}.`);
  };
  const filter = (table, text, count) => {
    const words = text.toLowerCase().split(/\s+/).filter(Boolean);
    let shown = 0;
    for (const row of table.tBodies[0].rows) {
      const own = words.length ? row.textContent.toLowerCase() : "";
      row.hidden = !words.every((word) => own.includes(word));
      shown += !row.hidden;
    }
    count.textContent = words.length ? `${shown} of ${table.tBodies[0].rows.length}` : "";
  };
  const csv = (table) => [table.tHead.rows[0], ...table.tBodies[0].rows].filter((row) => !row.hidden)
    .map((row) => [...row.cells].map((cell) => {
      const text = row.parentNode === table.tHead ? plain(cell) : textOf(cell);
      const value = valueOf(text);
      const whole = value !== null && !/[%$<≤]|points/.test(text) ? String(value) : text;
      const safe = /^[=+@\t\r]|^-(?!\d)/.test(whole) && value === null ? `'${whole}` : whole;  // a spreadsheet would run it
      return /[",\n\r]/.test(safe) ? `"${safe.replaceAll('"', '""')}"` : safe;
    }).join(",")).join("\r\n") + "\r\n";
  const copy = async (text) => {
    try {
      await navigator.clipboard.writeText(text);
    } catch {
      const area = make("textarea", { value: text });
      document.body.append(area);
      area.select();
      document.execCommand("copy");
      area.remove();
    }
    say("The table is copied as CSV.");
  };
  const equip = (table) => {
    const box = table.closest(".table");
    if (!box || box.dataset.done || !table.tHead) return;
    box.dataset.done = "yes";
    const heads = [...table.tHead.rows[0].cells];
    const many = table.tBodies[0].rows.length;
    if (many > 1) {
      heads.forEach((head, at) => {
        const button = make("button", { type: "button", className: "sort", title: "sort" });
        button.append(...[...head.childNodes].filter((node) => !node.matches?.(".term, .paper")));
        head.prepend(button);
        button.onclick = () => sort(table, at, head);
      });
    }
    const bar = make("div", { className: "bar" });
    if (many > 12) {
      const count = make("span", { className: "count" });
      const field = make("input", { type: "search", placeholder: "filter rows", "aria-label": "Filter the rows of this table" });
      field.oninput = () => filter(table, field.value, count);
      bar.append(field, count);
    }
    if (table.dataset.sorts) {  // a field holds several values: which one orders the rows
      const by = make("select", { className: "by" }, ...table.dataset.sorts.split("|").map((text, value) => make("option", { value, textContent: text })));
      by.onchange = () => {
        const at = heads.findIndex((head) => head.ariaSort) < 0 ? heads.length - 1 : heads.findIndex((head) => head.ariaSort);
        heads[at].removeAttribute("aria-sort");
        sort(table, at, heads[at]);
      };
      bar.append(make("label", {}, "Strategies sort by ", by));
    }
    const button = make("button", { type: "button", className: "copy", textContent: "Copy as CSV" });
    button.onclick = () => copy(csv(table));
    bar.append(button);
    if (many > 12 || table.dataset.sorts) one(".scroll", box).before(bar); else one(".scroll", box).after(bar);
  };

  const reach = (box) => setTimeout(() => {  // what scrolls can be scrolled by keyboard
    if (box.scrollWidth > box.clientWidth && !one("a,button", box)) box.tabIndex = 0;
  });
  for (const whole of all("details.whole")) whole.addEventListener("toggle", () => all(".scroll", whole).forEach(reach));
  const wake = (node) => {
    if (node.tagName === "TABLE") equip(node); else reach(node);
  };
  const later = (node) => {  // what is folded away waits until it is opened
    if (node.closest("details:not([open])")) watch.observe(node);
    else wake(node);
  };
  const watch = new IntersectionObserver((seen) => {
    for (const entry of seen) {
      if (!entry.isIntersecting) continue;
      watch.unobserve(entry.target);
      wake(entry.target);
    }
  }, { rootMargin: "200px" });

  // ------------------------------------------------------------ prompts

  const replay = (prompts) => {
    const live = new Map();
    return prompts.map(([step, thread, tokens, edits, happened, refused]) => {
      const keys = [...(live.get(thread) ?? [])];
      for (const [at, removed, added] of [...edits].reverse()) keys.splice(at, removed, ...added);
      live.set(thread, keys);
      return { step, thread, tokens, keys, happened, refused: new Set(refused) };
    });
  };
  const common = (was, is) => {  // pairs of places that two lists have in common, in order; null where only one has something
    let start = 0, end = 0;
    const most = Math.min(was.length, is.length);
    while (start < most && was[start] === is[start]) start++;
    while (end < most - start && was[was.length - 1 - end] === is[is.length - 1 - end]) end++;
    const a = was.slice(start, was.length - end), b = is.slice(start, is.length - end);
    const pairs = Array.from({ length: start }, (_, at) => [at, at]);
    if (a.length * b.length > 4e6) {  // too much to compare: all of it changed
      pairs.push(...a.map((_, at) => [start + at, null]), ...b.map((_, at) => [null, start + at]));
    } else {
      const wide = b.length + 1;
      const longest = new Uint16Array((a.length + 1) * wide);
      for (let i = a.length - 1; i >= 0; i--) {
        for (let j = b.length - 1; j >= 0; j--) {
          longest[i * wide + j] = a[i] === b[j] ? longest[(i + 1) * wide + j + 1] + 1 : Math.max(longest[(i + 1) * wide + j], longest[i * wide + j + 1]);
        }
      }
      let i = 0, j = 0;
      while (i < a.length || j < b.length) {
        if (i < a.length && j < b.length && a[i] === b[j]) pairs.push([start + i++, start + j++]);
        else if (j >= b.length || (i < a.length && longest[(i + 1) * wide + j] >= longest[i * wide + j + 1])) pairs.push([start + i++, null]);
        else pairs.push([null, start + j++]);
      }
    }
    pairs.push(...Array.from({ length: end }, (_, at) => [was.length - end + at, is.length - end + at]));
    return pairs;
  };
  const marks = (was, is, left) => {  // one side of a rewritten text, what the other does not have marked
    const before = was.split(/(\s+)/), after = is.split(/(\s+)/);
    const parts = [];
    for (const [one, other] of common(before, after)) {
      const own = left ? one : other;
      if (own === null) continue;
      const text = left ? before[one] : after[other], gone = (left ? other : one) === null;
      const last = parts.at(-1);
      if (last && last[1] === gone) last[0] += text; else parts.push([text, gone]);
    }
    return parts.map(([text, gone]) => gone ? make(left ? "del" : "ins", { textContent: text }) : text);
  };
  const choice = (title, options, change) => {
    const select = make("select", {}, ...options.map(([value, text]) => make("option", { value, textContent: text })));
    select.onchange = change;
    return [select, make("label", {}, `${title} `, select)];
  };
  const inspect = (root) => {
    const data = JSON.parse(one("script", root).textContent);
    const runs = new Map(data.strategies.map(([name, prompts]) => [name, replay(prompts)]));
    const names = [...runs.keys()].map((name) => [name, name]);
    const asItWas = runs.has("recorded") ? "recorded" : runs.has("keep_all") ? "keep_all" : names[0][0];
    const [mine, mineLabel] = choice("The prompt under", names, () => refill());
    const [other, otherLabel] = choice("beside", names, () => show());
    const [step, stepLabel] = choice("at", [], () => show());
    other.value = asItWas;
    const move = (by) => { step.selectedIndex = Math.min(step.options.length - 1, Math.max(0, step.selectedIndex + by)); show(); };
    const before = make("button", { type: "button", textContent: "◀ earlier", onclick: () => move(-1) });
    const after = make("button", { type: "button", textContent: "later ▶", onclick: () => move(1) });
    const sides = make("div", { className: "sides" });
    const refill = () => {
      const kept = step.value;
      step.replaceChildren(...runs.get(mine.value).map((prompt) => make("option", {
        value: String(prompt.step), textContent: `step ${prompt.step}, ${prompt.tokens} tokens${prompt.happened ? `: ${prompt.happened}` : ""}`,
      })));
      if (kept) step.value = kept;
      if (!kept || step.selectedIndex < 0) settle();
      show();
    };
    const settle = () => {  // where something is to be seen: the first prompt that would be refused or missed something, else the last
      const prompts = runs.get(mine.value);
      const found = [(prompt) => prompt.refused.size, (prompt) => prompt.happened.includes("missed")].map((wanted) => prompts.findIndex(wanted));
      step.selectedIndex = found.find((at) => at >= 0) ?? prompts.length - 1;
    };
    const keyOf = (number) => { const [, kind, from] = data.messages[number]; return from === null ? number : `${kind} ${from}`; };
    const message = (number, state, refused, marked) => {
      const [role, kind, from, text, left] = data.messages[number];
      const bad = from !== null && refused.has(from);
      const line = text.replace(/\s+/g, " ").slice(0, 110);
      const badge = [bad ? "refused" : "", state].filter(Boolean).map((word) => make("span", { className: `badge ${word === "refused" ? "bad" : "warn"}`, textContent: word }));
      const title = make("summary", {}, make("b", { textContent: role }), ` ${from === null ? kind : `step ${from}`} `, ...badge, " ", make("span", { textContent: line }));
      const box = make("details", { className: ["message", state && "differs", state === "removed" && "removed", bad && "refused"].filter(Boolean).join(" ") }, title);
      box.ontoggle = () => {
        if (box.open && box.childElementCount === 1) {
          const rest = left ? [make("span", { className: "gap", textContent: `\n… ${left} characters left out here …` })] : [];
          box.append(make("pre", { tabIndex: 0 }, ...(marked ? marked() : [text]), ...rest));
        }
      };
      return box;
    };
    const pairUp = (was, is) => [message(was, "rewritten", none, () => marks(data.messages[was][3], data.messages[is][3], true)),
      (refused) => message(is, "rewritten", refused, () => marks(data.messages[was][3], data.messages[is][3], false))];
    const heading = (name, prompt, told) => make("h4", {}, `${told}: `, make("span", { className: `strategy ${classOf(name)}`, textContent: name }),
      ...(prompt ? [make("small", { className: prompt.refused.size || prompt.happened.startsWith("invalid") ? "refused" : "", textContent: ` ${prompt.tokens} tokens, ${prompt.keys.length} messages${prompt.happened ? `; ${prompt.happened}` : ""}` })] : []));
    const none = new Set();
    const show = () => {
      const at = Number(step.value);
      const find = (name) => runs.get(name).find((prompt) => prompt.step === at);
      const ours = find(mine.value), theirs = find(other.value);
      const cells = [make("div", { className: "side" }, heading(other.value, theirs, "as it was")), make("div", { className: "side" }, heading(mine.value, ours, "as it would be"))];
      if (!ours || !theirs) cells[ours ? 0 : 1].append(make("p", { textContent: "no model call at this step" }));
      const was = theirs ? theirs.keys : [], is = ours ? ours.keys : [];
      const refusedThen = theirs ? theirs.refused : none, refusedNow = ours ? ours.refused : none;
      let same = [];
      const flush = () => {
        const boxes = same.map((number) => message(number, "", refusedNow));
        if (same.length > 3) cells.push(make("details", { className: "same" }, make("summary", { textContent: `${same.length} messages are in both` }), ...boxes));
        else cells.push(...boxes.map((box) => { box.classList.add("same"); return box; }));
        same = [];
      };
      for (const [left, right] of common(was.map(keyOf), is.map(keyOf))) {
        const before = left === null ? null : was[left], after = right === null ? null : is[right];
        if (before !== null && before === after) { same.push(before); continue; }
        flush();
        if (before !== null && after !== null) {
          const [one, other] = pairUp(before, after);
          const two = other(refusedNow);
          one.addEventListener("toggle", () => { two.open = one.open; });
          two.addEventListener("toggle", () => { one.open = two.open; });
          cells.push(one, two);
        } else cells.push(before === null ? make("div") : message(before, "removed", refusedThen), after === null ? make("div") : message(after, "added", refusedNow));
      }
      flush();
      sides.replaceChildren(...cells);
      const changed = all(".differs", sides);
      if (changed.length <= 6) for (const box of changed) box.open = true;
      state.step = String(at);
    };
    for (const select of [mine, other, step]) select.addEventListener("change", remember);
    for (const button of [before, after]) button.addEventListener("click", remember);
    root.show = (name, wanted) => {
      if (runs.has(name)) mine.value = name;
      refill();
      if (wanted === undefined) { settle(); show(); return; }
      const known = [...step.options].map((option) => Number(option.value));
      step.selectedIndex = Math.max(0, known.findLastIndex((at) => at <= Number(wanted)));  // not every call of a long run is kept
      show();
    };
    const [here, total] = data.calls;
    const partly = here < total ? [make("p", { className: "caption", textContent: `${here} of ${total} model calls are kept: evenly spread, those where most happened.` })] : [];
    root.append(make("h4", { textContent: "The prompt as it was, and as it would be" }), make("div", { className: "bar" }, mineLabel, otherLabel, stepLabel, before, after), ...partly, sides);
    const kept = state.step;
    refill();
    state.step = kept;
  };

  // ------------------------------------------------------------ the page

  const enliven = (root) => {
    all(".table table", root).forEach(later);
    all(".scroll", root).forEach(later);
    all(".prompts", root).forEach(inspect);
    if (state.strategy !== null) paint(root);
  };
  const toolbar = () => {
    const bar = one("#tools");
    bar.hidden = false;
    const names = make("select", { id: "highlight" }, make("option", { value: "", textContent: "all strategies" }),
      ...strategies.map((name) => make("option", { value: name, textContent: name })));
    names.onchange = () => { highlight(names.value); remember(); };
    const cases = make("input", { type: "search", id: "case", placeholder: "case", autocomplete: "off" });
    cases.setAttribute("list", "known");
    const known = make("datalist", { id: "known" });
    cases.onfocus = () => {
      if (!known.childElementCount) known.append(...all("script[data-case]").map((item) => make("option", { value: item.dataset.case })));
    };
    const find = () => {
      const found = all("script[data-case]").map((item) => item.dataset.case);
      const name = found.includes(cases.value) ? cases.value : found.find((item) => item.toLowerCase().includes(cases.value.toLowerCase()));
      if (cases.value && name !== undefined) go({ case: name, strategy: state.strategy });
      else if (cases.value) say(`No case is called ${cases.value}.`);
    };
    cases.onkeydown = (event) => { if (event.key === "Enter") find(); };
    const button = make("button", { type: "button", textContent: "Open", onclick: find });
    const paper = make("button", { type: "button", textContent: "Print it all" });
    paper.onclick = () => {
      const closed = all("details:not([open])").filter((item) => !item.closest(".caseview, .panel-metrics, .cases"));
      for (const item of closed) item.open = true;
      document.documentElement.classList.add("full");
      window.addEventListener("afterprint", () => {
        document.documentElement.classList.remove("full");
        for (const item of closed) item.open = false;
      }, { once: true });
      window.print();
    };
    const about = [make("label", {}, "Highlight ", names), make("label", {}, "Case ", cases), known, button];
    bar.append(...(strategies.length ? about : []), paper);  // an audit has neither strategies nor cases
  };
  document.addEventListener("click", (event) => {  // a field of the grid opens its case under its strategy
    const field = event.target.closest && event.target.closest("td[data-by]");
    const link = field && one("a", field.parentNode);
    if (!link) return;
    const strategy = named(field.closest("table").tHead.rows[0].cells[field.cellIndex]);
    go({ ...Object.fromEntries(link.hash.slice(1).split("&").map((part) => part.split("=").map(decodeURIComponent))), strategy });
  });
  document.addEventListener("click", (event) => {  // a place of a chart shows the prompt of its step
    const spot = event.target.closest && event.target.closest("figure[data-case] [data-step]");
    if (!spot) return;
    go({ scenario: spot.closest("article").dataset.scenario, case: spot.closest("figure").dataset.case, strategy: named(spot) ?? state.strategy, step: spot.dataset.step });
  });
  document.addEventListener("click", (event) => {  // what a word means stands beneath it
    const term = event.target.closest && event.target.closest(".term");
    const word = term && document.getElementById(term.getAttribute("popovertarget"));
    if (!word) return;
    const at = term.getBoundingClientRect();
    Object.assign(word.style, { margin: 0, top: `${at.bottom + 4}px`, left: `${Math.max(8, Math.min(at.left, innerWidth - 340))}px` });
  });
  document.addEventListener("click", (event) => {
    const name = event.target.closest && event.target.closest(".strategy");
    if (!name || event.target.closest("summary,a,button,select,td[data-by]")) return;
    const text = name.textContent;
    highlight(state.strategy === text ? "" : text);
    remember();
  });
  document.addEventListener("keydown", (event) => {
    if (event.key === "Escape" && state.strategy !== null) { highlight(""); remember(); }
  });
  const revealed = () => {  // a link into a closed fold opens it
    const target = !read() && location.hash.length > 1 && document.getElementById(decodeURIComponent(location.hash.slice(1)));
    if (!target) return;
    unfold(one("details.whole", target) ?? target);
    target.scrollIntoView({ block: target.matches("article, section, details") ? "start" : "center" });  // the head of what is long
  };
  window.addEventListener("hashchange", () => { follow(); revealed(); });
  document.documentElement.classList.add("live");
  toolbar();
  enliven(document);
  follow();
  revealed();
})();
