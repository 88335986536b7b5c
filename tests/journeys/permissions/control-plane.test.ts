/** The whole control plane in one session of the built program: hooks, questions, rules, checkpoints, and back. */
import fs from 'node:fs';
import { join } from 'node:path';
import { describe, expect, test } from 'vitest';
import type { JournalRecord } from '../../../src/protocol/session/journal-record.js';
import {
  calls,
  DRIVEN,
  type Line,
  type Rules,
  resultsIn,
  type Scene,
  setScene,
  userLine,
} from '../../fakes/skein-process.js';
import { treeOf } from '../../host/worktrees/tree-hash.js';

const [SOUND, BROKEN] = [{ file_path: 'notes.md', content: 'one\n' }, { file_path: 'notes.md' }];
const CHANGES = 'echo two >> notes.md; rm old; mkdir sub; echo new > sub/new';
const CHECK = 'grep -c two notes.md > report';

/** What is wanted, in turn; the Stop hook sends the sixth answer back. */
const TALK: Rules = [
  { match: { turn: 0 }, reply: calls('Write', BROKEN) },
  { match: { turn: 1 }, reply: calls('Write', SOUND) },
  { match: { turn: 2 }, reply: calls('Bash', { command: CHANGES }) },
  { match: { turn: 3 }, reply: calls('Bash', { command: 'make all' }) },
  { match: { turn: 4 }, reply: calls('Bash', { command: 'touch unwanted' }) },
  { match: { turn: 5 }, reply: 'Finished.' },
  { match: { turn: 6 }, reply: calls('Bash', { command: CHECK }) },
  { reply: 'Checked.' },
];

const HOOKS = ['PreToolUse', 'PermissionRequest', 'PostToolUse', 'PostToolUseFailure'] as const;
const WATCH = 'cat >> "$CLAUDE_PROJECT_DIR"/../heard; echo >> "$CLAUDE_PROJECT_DIR"/../heard';
const REVIEW = `tee -a "$CLAUDE_PROJECT_DIR"/../heard | grep -q '"stop_hook_active":true' && exit 0; echo >> "$CLAUDE_PROJECT_DIR"/../heard; echo "Check it first." >&2; exit 2`;

const SETTINGS = JSON.stringify(
  {
    permissions: { deny: ['Bash(make:*)'] },
    hooks: {
      ...Object.fromEntries(
        HOOKS.map((event) => [event, [{ hooks: [{ type: 'command', command: WATCH }] }]]),
      ),
      Stop: [{ hooks: [{ type: 'command', command: REVIEW }] }],
    },
  },
  null,
  2,
);

/** Says yes to everything but `unwanted`. */
const answerTo = ({ input }: Line): Line =>
  String(input.command).includes('unwanted')
    ? { behavior: 'deny', message: 'I do not want that one.' }
    : { behavior: 'allow', updatedInput: input };

const drive = async (scene: Scene): Promise<string> => {
  const process = scene.start(DRIVEN);
  process.say(userLine('go'));
  const asked = new Set<string>();
  for (;;) {
    const line = await process.line(
      ({ type, request_id }) =>
        type === 'result' || (type === 'control_request' && !asked.has(request_id)),
    );
    if (line.type === 'result') break;
    asked.add(line.request_id);
    const { request_id, request } = line;
    const response = { subtype: 'success', request_id, response: answerTo(request) };
    process.say({ type: 'control_response', response });
  }
  process.endInput();
  const { code, lines } = await process.ended;
  expect({ code, result: lines.at(-1)?.result }).toEqual({ code: 0, result: 'Checked.' });
  return String(lines.at(-1)?.session_id);
};

/** The session, and the workspace before and after it. */
const worked = async () => {
  const scene = await setScene(TALK);
  fs.mkdirSync(join(scene.home, '.claude'));
  fs.writeFileSync(join(scene.home, '.claude/settings.json'), SETTINGS);
  fs.writeFileSync(join(scene.workspace, 'old'), 'old\n');
  const start = treeOf(scene.workspace);
  const session = await drive(scene);
  const heard = fs
    .readFileSync(join(scene.root, 'heard'), 'utf8')
    .split('\n')
    .flatMap((line) => (line === '' ? [] : [JSON.parse(line) as Line]));
  const json = async (...args: readonly string[]) =>
    JSON.parse((await scene.run([...args, '--json'])).stdout) as Line;
  return {
    ...scene,
    session,
    heard,
    json,
    start,
    end: treeOf(scene.workspace),
    tree: () => treeOf(scene.workspace),
    rewind: (...flags: readonly string[]) => scene.run(['rewind', session, ...flags]),
  };
};

/** What the journal says of each call, in order; a hook is named by its event, a ruling with its step. */
const stories = (records: readonly JournalRecord[]): readonly string[] => {
  const told = new Map<string, string[]>();
  for (const record of records) {
    if (!('call' in record) || typeof record.call !== 'string') continue;
    const story = told.get(record.call) ?? [];
    told.set(record.call, story);
    if (record.type === 'hook.ran') story.push(record.event);
    else if (record.type === 'call.ruled') story.push(`${record.behavior}@${record.step}`);
    else if (record.type === 'call.ended') story.push(record.outcome);
    else story.push(record.type);
  }
  return [...told.values()].map((story) => story.join(' '));
};

const ASKED = 'PreToolUse ask@callback question.asked PermissionRequest question.answered';
const RAN = 'allow@callback files.watched call.started files.changed PostToolUse ok';

describe('a session with hooks, rules, questions and checkpoints', () => {
  test('keeps the order, says why, and is taken back and forth as a whole', async () => {
    const { journal, bodies, heard, json, run, rewind, session, ...place } = await worked();

    // Validate, Pre, decision, permission, run, Post: what is refused has no later part.
    expect(stories(await journal())).toEqual([
      'invalid',
      `${ASKED} ${RAN}`,
      `${ASKED} ${RAN}`,
      'PreToolUse deny@deny denied',
      `${ASKED} deny@callback denied`,
      `${ASKED} ${RAN}`,
    ]);
    expect(heard.map(({ hook_event_name }) => hook_event_name)).toEqual([
      'PreToolUse',
      'PermissionRequest',
      'PostToolUse',
      'PreToolUse',
      'PermissionRequest',
      'PostToolUse',
      'PreToolUse',
      'PreToolUse',
      'PermissionRequest',
      'Stop',
      'PreToolUse',
      'PermissionRequest',
      'PostToolUse',
      'Stop',
    ]);
    const said = bodies().map((body) => JSON.stringify(resultsIn(body)));
    expect(said[4]).toContain('Bash(make:*)');
    expect(said[5]).toContain('I do not want that one.');
    expect(JSON.stringify(bodies()[6]?.messages.at(-1))).toContain('Check it first.');
    expect(fs.existsSync(join(place.workspace, 'unwanted'))).toBe(false);

    // Every ruling says what would have changed it, and a rule where it stands.
    const { calls: listed } = await json('explain', session);
    const told: Line[] = [];
    for (const { number } of listed) told.push(await json('explain', session, String(number)));
    const rulings = told.flatMap((it) => it.rulings as Line[]);
    expect(rulings).toHaveLength(9);
    for (const { reason, instead } of rulings) {
      expect([reason, instead]).toEqual([
        expect.stringMatching(/.\.$/),
        expect.stringMatching(/\.$/),
      ]);
    }
    expect(told[3]?.rulings).toMatchObject([
      { rule: 'Bash(make:*)', file: join(place.home, '.claude/settings.json'), line: 4 },
    ]);
    expect(told[2]?.files.map(({ path }: Line) => path).sort()).toEqual(
      ['notes.md', 'old', 'sub', 'sub/new'].map((name) => join(place.workspace, name)),
    );

    // The difference first, and nothing done; then all of it, and all of it again.
    const shown = await rewind('--dry-run');
    expect(shown.stdout).toMatch(/remove notes\.md[\s\S]*bring back old/);
    expect(shown.stdout).toContain('Not undone: ignored files, and other effects');
    expect(await json('rewind', session, '--dry-run')).toMatchObject({
      session,
      done: false,
      prompt: 1,
      undo: false,
      conversation: true,
      promptsTakenBack: 1,
      notTakenBack: [`Bash ${CHANGES}`, `Bash ${CHECK}`],
    });
    expect(place.tree()).toEqual(place.end);
    expect(await rewind('--yes')).toMatchObject({ code: 0, stderr: '' });
    expect(place.tree()).toEqual(place.start);
    const taken = await json('explain', session, '3');
    expect(taken.rewoundAt).not.toBeNull();
    expect(await rewind('--undo', '--yes')).toMatchObject({ code: 0, stderr: '' });
    expect(place.tree()).toEqual(place.end);
    const again = await run(['-p', 'and now?', '--resume', session]);
    expect(again.code).toBe(0);
    expect(JSON.stringify(bodies().at(-1)?.messages)).toContain('Check it first.');
  });
});
