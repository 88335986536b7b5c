/** Page style for light and dark mode, wide and narrow windows, and print. */

const LIGHT = `
--paper: #ffffff; --ground: #f6f7f9; --ink: #16202e; --muted: #5b6878; --rule: #e1e5ea; --track: #e9edf1;
--good: #0f7a4d; --good-ground: #e2f5ea; --bad: #b3261e; --bad-ground: #fdeae8;
--warn: #8a5a00; --warn-ground: #fdf1d6; --live: #1d4ed8; --live-ground: #e5edff;
--streaming: #3f7cf0; --tool: #17a673; --asking: #f2a313; --compacting: #8b5cf6; --retrying: #e5484d;
--waiting: #9aa7d6; --queued: #b3bcc9; --lost: #7a1f2b; --idle: #dde2e9; --other: #8a8f98;
--read: #7cb4f5; --write: #2f6fdb; --full: #f29a38; --out: #15a37f; --cost: #4b5fe0; --saved: #cdd5ff;`;

const DARK = `
--paper: #171d26; --ground: #0f141b; --ink: #e8edf4; --muted: #97a4b5; --rule: #2a3340; --track: #232c38;
--good: #5fd49b; --good-ground: #12352a; --bad: #ff8d85; --bad-ground: #45201f;
--warn: #f0c261; --warn-ground: #3d3013; --live: #8fb4ff; --live-ground: #1c2f57;
--streaming: #5b93ff; --tool: #2fbf8a; --asking: #f5b53d; --compacting: #a585ff; --retrying: #f2686c;
--waiting: #7c89b8; --queued: #566274; --lost: #c2525f; --idle: #323c4a; --other: #7d8692;
--read: #4f8fdc; --write: #9cc5ff; --full: #f0a24b; --out: #35c29b; --cost: #8796ff; --saved: #2c3566;`;

const STATES: Readonly<Record<string, string>> = {
  streaming: 'streaming',
  'tool-running': 'tool',
  'awaiting-permission': 'asking',
  compacting: 'compacting',
  retrying: 'retrying',
  waiting: 'waiting',
  queued: 'queued',
  lost: 'lost',
  idle: 'idle',
  other: 'other',
};

const stateRules = Object.entries(STATES).map(
  ([state, colour]) => `.s-${state} { fill: var(--${colour}); }`,
);

const depthRules = Array.from(
  { length: 9 },
  (_, depth) => `.d${depth} { padding-left: ${0.75 + depth * 1.1}rem !important; }`,
);

export const PAGE_STYLE = `
:root { color-scheme: light dark; ${LIGHT} }
@media screen and (prefers-color-scheme: dark) { :root { ${DARK} } }
* { box-sizing: border-box; }
body { margin: 0; background: var(--ground); color: var(--ink); line-height: 1.45;
  font: 15px/1.45 system-ui, -apple-system, "Segoe UI", Roboto, "Noto Sans", "DejaVu Sans", sans-serif;
  font-variant-numeric: tabular-nums; }
main { max-width: 1360px; margin: 0 auto; padding: 2rem 1.5rem 3rem; }
h1 { font-size: 1.75rem; line-height: 1.2; margin: 0 0 .5rem; letter-spacing: -.01em; overflow-wrap: anywhere; }
h2 { font-size: 1.2rem; margin: 0 0 .75rem; }
h3 { font-size: 1rem; margin: 0; }
p { margin: 0 0 .25rem; overflow-wrap: anywhere; }
section, .card, .charts > .chart { background: var(--paper); border: 1px solid var(--rule); border-radius: 12px; }
section { padding: 1.25rem; margin-top: 1.25rem; }
.charts { display: grid; grid-template-columns: repeat(auto-fit, minmax(min(100%, 24rem), 1fr)); gap: 1.25rem; margin-top: 1.25rem; }
.kicker { text-transform: uppercase; letter-spacing: .08em; font-size: .75rem; font-weight: 600; color: var(--live); }
.muted, small, caption { color: var(--muted); }
small { display: block; font-size: .8rem; }
small:empty { display: none; }
.name { font-weight: 600; unicode-bidi: isolate; }
.child > .name::before { content: "└ "; color: var(--muted); font-weight: 400; }
.hidden { position: absolute; width: 1px; height: 1px; overflow: hidden; clip-path: inset(50%); white-space: nowrap; }
.notice { margin: .75rem 0 0; padding: .6rem .9rem; border-radius: 8px; background: var(--live-ground); color: var(--live); }
.cards { display: grid; grid-template-columns: repeat(auto-fit, minmax(9.5rem, 1fr)); gap: .75rem; margin: 1.25rem 0 0; }
.card { padding: .8rem 1rem; }
.card dt { color: var(--muted); font-size: .85rem; }
.card dd { margin: 0; font-size: .8rem; }
.card dd:nth-of-type(1) { font-size: 1.4rem; font-weight: 650; letter-spacing: -.03em; white-space: nowrap; }
.legend { display: flex; flex-wrap: wrap; gap: .3rem 1.1rem; list-style: none; margin: 0 0 .9rem; padding: 0; font-size: .85rem; }
.swatch { width: .8rem; height: .8rem; vertical-align: -.08rem; }
.find { float: right; margin: -.25rem 0 .5rem 1rem; }
.find input { font: inherit; font-size: .9rem; color: inherit; background: var(--ground); border: 1px solid var(--rule);
  border-radius: 8px; padding: .3rem .7rem; width: 15rem; max-width: 100%; }
:focus-visible { outline: 2px solid var(--live); outline-offset: 2px; }

.lanes { --who: 17rem; position: relative; font-size: .85rem; }
.lanes.scrolls { max-height: 80vh; overflow-y: auto; border-top: 1px solid var(--rule); border-bottom: 1px solid var(--rule); }
.lanes .body { position: relative; }
.rows { list-style: none; margin: 0; padding: 0; position: relative; }
.lane { display: grid; grid-template-columns: var(--who) minmax(0, 1fr); align-items: center; height: 1.7rem;
  position: relative; }
.rows .lane { content-visibility: auto; contain-intrinsic-size: auto 1.7rem; }
.scrolls .rows .lane { height: 1.35rem; contain-intrinsic-size: auto 1.35rem; }
.rows .lane:hover { background: color-mix(in srgb, var(--live) 8%, transparent); }
.lane.axis { position: sticky; top: 0; background: var(--paper); z-index: 2; height: 1.4rem; }
.lane.crowd { height: 4rem; margin-bottom: .4rem; }
.lane.crowd .bar { height: 3.6rem; }
.who { overflow: hidden; text-overflow: ellipsis; white-space: nowrap; padding-right: .75rem; }
.lanes .d0 { padding-left: 0 !important; }
.bar, .ticks { display: block; width: 100%; height: 62%; overflow: visible; }
.ticks { height: 1.2rem; }
.ticks text, .frame text { fill: var(--muted); font-size: .75rem; }
.lane .bar { border-radius: 3px; overflow: hidden; }
.grid { position: absolute; left: var(--who); top: 0; width: calc(100% - var(--who)); height: 100%; pointer-events: none; }
.grid path, .frame .line { stroke: var(--rule); stroke-width: 1; fill: none; vector-effect: non-scaling-stroke; }
.pause { fill: var(--track); }
${stateRules.join('\n')}

.chart { margin: 0; padding: 1.25rem 1.25rem .4rem; display: grid; grid-row: span 3; grid-template-rows: subgrid; row-gap: .4rem; }
.chart .legend { margin-top: .4rem; align-content: start; }
.chart figcaption { font-size: .9rem; }
.frame { display: block; overflow: visible; }
.frame .y { paint-order: stroke; stroke: var(--paper); stroke-width: 4px; stroke-linejoin: round; }
.c-read { fill: var(--read); } .c-write { fill: var(--write); } .c-full { fill: var(--full); } .c-out { fill: var(--out); }
.c-cost { fill: var(--cost); } .c-saved { fill: var(--saved); } .c-uncached { fill: var(--saved); }
path.c-cost { fill-opacity: .25; }
.edge { fill: none; stroke-width: 2; vector-effect: non-scaling-stroke; }
path.c-cost.edge { stroke: var(--cost); fill: none; }
path.c-uncached.edge { stroke: var(--muted); stroke-dasharray: 5 4; stroke-width: 1.5; fill: none; }
.cursor { stroke: var(--ink); stroke-width: 1; stroke-opacity: .5; }

.sheet { overflow-x: auto; }
table { border-collapse: collapse; width: 100%; font-size: .88rem; }
caption { text-align: left; padding: .5rem 0; font-size: .9rem; }
th, td { text-align: left; vertical-align: top; padding: .5rem .75rem; border-top: 1px solid var(--rule); }
thead th { border-top: 0; color: var(--muted); font-weight: 600; white-space: nowrap; vertical-align: bottom; }
thead button { font: inherit; color: inherit; background: none; border: 0; padding: 0; cursor: pointer; }
thead [aria-sort="ascending"] button::after { content: " ▲"; }
thead [aria-sort="descending"] button::after { content: " ▼"; }
tbody th { font-weight: 400; white-space: nowrap; }
tbody tr:hover { background: color-mix(in srgb, var(--live) 5%, transparent); }
td { overflow-wrap: anywhere; min-width: 4.5rem; }
td:nth-child(2) { min-width: 14rem; }
.number { text-align: right; white-space: nowrap; }
.share { display: block; width: 4.5rem; height: 4px; margin: .3rem 0 0 auto; }
.track { fill: var(--track); }
code { font: .92em ui-monospace, "SF Mono", Menlo, Consolas, "DejaVu Sans Mono", monospace; }
.badge { display: inline-block; padding: 0 .55rem; border-radius: 99px; font-size: .8rem; font-weight: 600; white-space: nowrap; }
.badge.good { color: var(--good); background: var(--good-ground); } .badge.bad { color: var(--bad); background: var(--bad-ground); }
.badge.warn { color: var(--warn); background: var(--warn-ground); } .badge.live { color: var(--live); background: var(--live-ground); }
${depthRules.join('\n')}
footer { margin-top: 1.5rem; font-size: .85rem; color: var(--muted); }
footer ul { margin: 0; padding-left: 1.1rem; }
[hidden] { display: none !important; }
#tip { position: fixed; z-index: 9; pointer-events: none; max-width: 22rem; padding: .45rem .7rem; border-radius: 8px;
  background: var(--ink); color: var(--paper); font-size: .8rem; white-space: pre-line; box-shadow: 0 4px 16px rgb(0 0 0 / .25); }

@media screen and (max-width: 760px) {
  main { padding: 1.25rem .9rem 2rem; }
  section, .chart { padding: 1rem .9rem; }
  .cards { grid-template-columns: repeat(2, 1fr); }
  .find { float: none; margin: 0 0 .75rem; }
  .find input { width: 100%; }
  .lanes { --who: 0rem; }
  .lane, .scrolls .rows .lane { grid-template-columns: minmax(0, 1fr); height: auto; padding: .25rem 0; }
  .lane.crowd { height: auto; }
  .lane .bar { height: 1rem; }
  .lane.crowd .bar { margin-top: .3rem; }
  .who { padding-right: 0; }
  .odd { display: none; }
  table.wide, .wide tbody, .wide tr, .wide td, .wide tbody th { display: block; width: 100%; }
  .wide thead { position: absolute; clip-path: inset(50%); }
  .wide tr { border-top: 1px solid var(--rule); padding: .6rem 0; }
  .wide td:nth-child(2) { min-width: 0; }
  .wide td, .wide tbody th { border: 0; padding: .12rem 0; text-align: left; white-space: normal; }
  .wide td::before { content: attr(data-label); display: inline-block; width: 8rem; color: var(--muted); }
  .wide td small { padding-left: 8rem; }
  .share { display: none; }
}
@page { size: A4 landscape; margin: 12mm; }
@media print {
  html { font-size: 11px; }
  body { background: #fff; font-size: 11px; print-color-adjust: exact; -webkit-print-color-adjust: exact; }
  main { max-width: none; padding: 0; }
  section, .card, .charts > .chart { border-color: #ccc; }
  .lanes.scrolls { max-height: none; overflow: visible; }
  .rows .lane { content-visibility: visible; }
  .cards { grid-template-columns: repeat(7, 1fr); }
  .charts { grid-template-columns: repeat(3, 1fr); }
  .chart, .card, tr, .lane { break-inside: avoid; }
  .find, #tip { display: none; }
}
`;
