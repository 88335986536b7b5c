/** Hooks of user settings and of agent definitions in a session with sub-agents. */
import { existsSync, readFileSync } from 'node:fs';
import { mkdir, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { calls, type Line, openScene, resultsIn } from '../../fakes/skein-process.js';

/** Appends the hook input in a single write, because several agents end at once. */
const appendInput = (file: string) => `printf "%s\\n" "$(cat)" >> ../${file}`;
const group = (command: string, matcher = '', more: Line = {}): Line => ({
  matcher,
  hooks: [{ type: 'command', command, ...more }],
});

/** A hook that blocks cancels the hooks that run in parallel, so this hook logs its input itself. */
const REJECTS_FIRST_STOP = `said=$(cat); printf "%s\\n" "$said" >> ../backs
case $said in *'"stop_hook_active":false'*) echo "half is not all" >&2; exit 2;; esac`;

const SETTINGS = {
  hooks: {
    SubagentStop: [
      group(appendInput('ends')),
      group(REJECTS_FIRST_STOP, 'helper'),
      group('> ../other', 'other'),
    ],
    Stop: [group(appendInput('stops'))],
    PreToolUse: [group(appendInput('once'), 'Glob', { once: true })],
  },
};

const definition = (name: string, more = '') =>
  `---\nname: ${name}\ndescription: ${name}\ntools: Glob\n${more}---\nYou are ${name}.\n`;

const OWN_HOOKS = `hooks:
  PreToolUse:
    - matcher: Glob
      hooks:
        - type: command
          command: '${appendInput('own')}'
  Stop:
    - hooks:
        - type: command
          command: '${appendInput('own')}'
`;

const task = (type: string) => ({
  name: 'Task',
  input: { description: type, prompt: `job of ${type}`, subagent_type: type },
});

const openHooked = async () => {
  const scene = await openScene([
    {
      match: { firstUser: 'begin', turn: 0 },
      reply: { tool_use: [task('helper'), task('plain')] },
    },
    { match: { firstUser: 'begin' }, reply: 'Done.' },
    { match: { firstUser: 'job of', turn: 0 }, reply: calls('Glob', { pattern: '*.md' }) },
    { match: { lastUser: 'half is not all' }, reply: 'This is all.' },
    { reply: 'This is half.' },
  ]);
  const folder = join(scene.home, '.claude');
  await mkdir(join(folder, 'agents'), { recursive: true });
  await writeFile(join(folder, 'settings.json'), JSON.stringify(SETTINGS));
  await writeFile(join(folder, 'agents', 'helper.md'), definition('helper', OWN_HOOKS));
  await writeFile(join(folder, 'agents', 'plain.md'), definition('plain'));
  const seen = (file: string): readonly Line[] =>
    existsSync(join(scene.root, file))
      ? readFileSync(join(scene.root, file), 'utf8')
          .split('\n')
          .flatMap((line) => (line === '' ? [] : [JSON.parse(line) as Line]))
      : [];
  const { code } = await scene.run(['-p', 'begin']);
  const agents = JSON.parse((await scene.run(['ps', '--all', '--json'])).stdout) as Line;
  const idOf = (type: string): string =>
    agents.swarms[0].agents.find((agent: Line) => agent.type === type)?.id;
  return { ...scene, code, seen, idOf };
};

describe('hooks of a session with agents', () => {
  let scene: Awaited<ReturnType<typeof openHooked>>;
  beforeAll(async () => {
    scene = await openHooked();
  });
  afterAll(() => scene.close());

  test('W14: receive the end of each agent with its id, type, last message and transcript', () => {
    const { seen, idOf, code } = scene;
    expect(code).toBe(0);
    const ends = seen('ends').filter(({ agent_type }) => agent_type === 'plain');
    expect(ends).toMatchObject([
      {
        hook_event_name: 'SubagentStop',
        agent_id: idOf('plain'),
        stop_hook_active: false,
        last_assistant_message: 'This is half.',
      },
    ]);
    expect(readFileSync(ends[0]?.transcript_path as string, 'utf8')).toContain('job of plain');
  });

  test('W14: can reject the end of an agent by its type, and the report is its later answer', () => {
    const { seen, bodies, idOf } = scene;
    expect(seen('backs')).toMatchObject([
      { agent_id: idOf('helper'), stop_hook_active: false },
      { agent_id: idOf('helper'), stop_hook_active: true },
    ]);
    const reports = resultsIn(bodies().at(-1)).map(({ content }) => content as string);
    expect(reports[0]).toContain('This is all.');
    expect(reports[1]).toContain('This is half.');
  });

  test('W14: do not run for agents of other types', () => {
    expect(existsSync(join(scene.root, 'other'))).toBe(false);
  });

  test('of the event Stop run for the lead only', () => {
    const stops = scene.seen('stops');
    expect(stops).toHaveLength(1);
    expect(stops[0]).not.toHaveProperty('agent_id');
  });

  test('of a definition run only for agents of that definition, and its Stop hook receives SubagentStop', () => {
    const own = scene.seen('own');
    expect(new Set(own.map(({ hook_event_name }) => hook_event_name))).toEqual(
      new Set(['PreToolUse', 'SubagentStop']),
    );
    expect(new Set(own.map(({ agent_type }) => agent_type))).toEqual(new Set(['helper']));
  });

  test('with once: true run once for all agents together', () => {
    expect(scene.seen('once')).toHaveLength(1);
  });
});
