/**
 * `npm run charts`: draws the state machines of src/machines into docs/architecture.md as Mermaid charts.
 * With `--check` it writes nothing, and ends with exit code 1 if the page differs from the machines. Another page
 * can be named as an argument.
 */
import { readFileSync, writeFileSync } from 'node:fs';
import { join, relative } from 'node:path';
import { agentMachine } from '../src/machines/agent-machine.ts';
import { childMachine } from '../src/machines/child-machine.ts';
import { leaderMachine } from '../src/machines/leader-machine.ts';

const MACHINES = { agent: agentMachine, child: childMachine, leader: leaderMachine };

const root = join(import.meta.dirname, '..');
const args = process.argv.slice(2);
const isCheck = args.includes('--check');
const page = args.find((word) => !word.startsWith('--')) ?? join(root, 'docs/architecture.md');

/** Transitions of a state in the order in which they are tried, with the name of their event. */
const transitionsOf = (node) => [
  ...[...node.transitions].flatMap(([event, ways]) =>
    ways.map(({ target }) => ({ event, target })),
  ),
  ...(node.always ?? []).map(({ target }) => ({ event: 'always', target })),
];

/** Events by the key of the state they lead to. Transitions without a target are left out. */
const eventsByTarget = (node) => {
  const events = new Map();
  for (const { event, target } of transitionsOf(node)) {
    for (const { key } of target ?? []) events.set(key, (events.get(key) ?? new Set()).add(event));
  }
  return events;
};

/** Events that a state handles without a change of state, unless they can also lead to another state. */
const stayingEvents = (node) => {
  const all = transitionsOf(node);
  const leaving = new Set(all.filter(({ target }) => target).map(({ event }) => event));
  return [...new Set(all.map(({ event }) => event))].filter((event) => !leaving.has(event));
};

/** Mermaid ids have no hyphens. */
const idOf = (key) => key.replaceAll('-', '_');

/** Labels are short lines, because Mermaid does not wrap them. */
const labelOf = (events) => {
  const names = [...events].filter((event) => event !== 'always');
  return names.length === 0 ? '' : `: ${names.join('<br/>')}`;
};

const quoted = (events) => events.map((event) => `\`${event}\``).join(', ');

/** Chart of a machine, and below it the transitions that hold in all states and those that stay. */
const draw = (machine) => {
  const states = Object.entries(machine.states);
  const initial = machine.root.initial.target.map(({ key }) => idOf(key)).join();
  const lines = ['stateDiagram-v2'];
  for (const [key] of states) {
    lines.push(idOf(key) === key ? `  ${key}` : `  state "${key}" as ${idOf(key)}`);
  }
  lines.push(`  [*] --> ${initial}`);
  for (const [key, node] of states) {
    for (const [target, events] of eventsByTarget(node)) {
      lines.push(`  ${idOf(key)} --> ${idOf(target)}${labelOf(events)}`);
    }
    if (node.type === 'final') lines.push(`  ${idOf(key)} --> [*]`);
  }
  const anywhere = [...eventsByTarget(machine.root)].map(
    ([target, events]) =>
      `- From every state without a transition for it: ${quoted([...events])} → \`${target}\`.`,
  );
  const staying = [
    ['every state', machine.root],
    ...states.map(([key, node]) => [`\`${key}\``, node]),
  ]
    .map(([name, node]) => ({ name, events: stayingEvents(node) }))
    .filter(({ events }) => events.length > 0)
    .map(({ name, events }) => `- No change of state, in ${name}: ${quoted(events)}.`);
  const notes = [...anywhere, ...staying];
  const chart = ['```mermaid', ...lines, '```'];
  return [...chart, ...(notes.length === 0 ? [] : ['', ...notes])].join('\n');
};

const before = readFileSync(page, 'utf8');
let after = before;
for (const [name, machine] of Object.entries(MACHINES)) {
  const section = new RegExp(`(<!-- state-chart: ${name} -->\\n)[\\s\\S]*?(<!-- /state-chart -->)`);
  if (!section.test(after)) {
    process.stderr.write(`${page} has no section for the state chart "${name}".\n`);
    process.exit(1);
  }
  after = after.replace(section, (_, open, close) => `${open}\n${draw(machine)}\n\n${close}`);
}
if (after === before) process.stdout.write('The state charts are up to date.\n');
else if (isCheck) {
  process.stderr.write(
    `The state charts in ${relative(root, page)} differ from src/machines: run npm run charts.\n`,
  );
  process.exitCode = 1;
} else {
  writeFileSync(page, after);
  process.stdout.write(`The state charts in ${relative(root, page)} are written.\n`);
}
