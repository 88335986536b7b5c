/** Hooks, permission questions, rules, checkpoints and rewind together in a session of the built program. */
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

const [VALID_INPUT, INVALID_INPUT] = [
  { file_path: 'notes.md', content: 'one\n' },
  { file_path: 'notes.md' },
];
const CHANGES = 'echo two >> notes.md; rm old; mkdir sub; echo new > sub/new';
const CHECK = 'grep -c two notes.md > report';

/** Answers of the model by turn. The Stop hook rejects the sixth answer. */
const MODEL_ANSWERS: Rules = [
  { match: { turn: 0 }, reply: calls('Write', INVALID_INPUT) },
  { match: { turn: 1 }, reply: calls('Write', VALID_INPUT) },
  { match: { turn: 2 }, reply: calls('Bash', { command: CHANGES }) },
  { match: { turn: 3 }, reply: calls('Bash', { command: 'make all' }) },
  { match: { turn: 4 }, reply: calls('Bash', { command: 'touch unwanted' }) },
  { match: { turn: 5 }, reply: 'Finished.' },
  { match: { turn: 6 }, reply: calls('Bash', { command: CHECK }) },
  { reply: 'Checked.' },
];

const HOOKS = ['PreToolUse', 'PermissionRequest', 'PostToolUse', 'PostToolUseFailure'] as const;
const LOG_INPUT = 'cat >> "$CLAUDE_PROJECT_DIR"/../heard; echo >> "$CLAUDE_PROJECT_DIR"/../heard';
const REVIEW = `tee -a "$CLAUDE_PROJECT_DIR"/../heard | grep -q '"stop_hook_active":true' && exit 0; echo >> "$CLAUDE_PROJECT_DIR"/../heard; echo "Check it first." >&2; exit 2`;

const SETTINGS = JSON.stringify(
  {
    permissions: { deny: ['Bash(make:*)'] },
    hooks: {
      ...Object.fromEntries(
        HOOKS.map((event) => [event, [{ hooks: [{ type: 'command', command: LOG_INPUT }] }]]),
      ),
      Stop: [{ hooks: [{ type: 'command', command: REVIEW }] }],
    },
  },
  null,
  2,
);

/** Allows every command except `touch unwanted`. */
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

/** Runs the session. Returns it with the workspace tree before (`start`) and after (`end`). */
const runSession = async () => {
  const scene = await setScene(MODEL_ANSWERS);
  fs.mkdirSync(join(scene.home, '.claude'));
  fs.writeFileSync(join(scene.home, '.claude/settings.json'), SETTINGS);
  fs.writeFileSync(join(scene.workspace, 'old'), 'old\n');
  const start = treeOf(scene.workspace);
  const session = await drive(scene);
  const hookInputs = fs
    .readFileSync(join(scene.root, 'heard'), 'utf8')
    .split('\n')
    .flatMap((line) => (line === '' ? [] : [JSON.parse(line) as Line]));
  const json = async (...args: readonly string[]) =>
    JSON.parse((await scene.run([...args, '--json'])).stdout) as Line;
  return {
    ...scene,
    session,
    hookInputs,
    json,
    start,
    end: treeOf(scene.workspace),
    tree: () => treeOf(scene.workspace),
    rewind: (...flags: readonly string[]) => scene.run(['rewind', session, ...flags]),
  };
};

/** Journal entries of each call, in order: a hook as its event, a ruling as `behavior@step`. */
const callHistories = (records: readonly JournalRecord[]): readonly string[] => {
  const histories = new Map<string, string[]>();
  for (const record of records) {
    if (!('call' in record) || typeof record.call !== 'string') continue;
    const history = histories.get(record.call) ?? [];
    histories.set(record.call, history);
    if (record.type === 'hook.ran') history.push(record.event);
    else if (record.type === 'call.ruled') history.push(`${record.behavior}@${record.step}`);
    else if (record.type === 'call.ended') history.push(record.outcome);
    else history.push(record.type);
  }
  return [...histories.values()].map((history) => history.join(' '));
};

const ASKED = 'PreToolUse ask@callback question.asked PermissionRequest question.answered';
const EDITED = 'allow@callback files.watched call.started files.changed PostToolUse ok';
/** The changes of a command are determined while the next answer is awaited. */
const RAN = 'allow@callback files.watched call.started PostToolUse ok files.changed';

describe('a session with hooks, rules, questions and checkpoints', () => {
  test('journals each call in pipeline order, explains each ruling, and rewinds and undoes all files', async () => {
    const { journal, bodies, hookInputs, json, run, rewind, session, ...place } =
      await runSession();

    // Order: validation, PreToolUse, ruling, question, run, PostToolUse. A refused call has no later entry.
    expect(callHistories(await journal())).toEqual([
      'invalid',
      `${ASKED} ${EDITED}`,
      `${ASKED} ${RAN}`,
      'PreToolUse deny@deny denied',
      `${ASKED} deny@callback denied`,
      `${ASKED} ${RAN}`,
    ]);
    expect(hookInputs.map(({ hook_event_name }) => hook_event_name)).toEqual([
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
    const sentResults = bodies().map((body) => JSON.stringify(resultsIn(body)));
    expect(sentResults[4]).toContain('Bash(make:*)');
    expect(sentResults[5]).toContain('I do not want that one.');
    expect(JSON.stringify(bodies()[6]?.messages.at(-1))).toContain('Check it first.');
    expect(fs.existsSync(join(place.workspace, 'unwanted'))).toBe(false);

    // Every ruling has a reason and an alternative, and a rule has its file and line.
    const { calls: listed } = await json('explain', session);
    const explained: Line[] = [];
    for (const { number } of listed) explained.push(await json('explain', session, String(number)));
    const rulings = explained.flatMap((call) => call.rulings as Line[]);
    expect(rulings).toHaveLength(9);
    for (const { reason, instead } of rulings) {
      expect([reason, instead]).toEqual([
        expect.stringMatching(/.\.$/),
        expect.stringMatching(/\.$/),
      ]);
    }
    expect(explained[3]?.rulings).toMatchObject([
      { rule: 'Bash(make:*)', file: join(place.home, '.claude/settings.json'), line: 4 },
    ]);
    expect(explained[2]?.files.map(({ path }: Line) => path).sort()).toEqual(
      ['notes.md', 'old', 'sub', 'sub/new'].map((name) => join(place.workspace, name)),
    );

    // A dry run changes no file; then the rewind restores the start, and the undo restores the end.
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
    const rewound = await json('explain', session, '3');
    expect(rewound.rewoundAt).not.toBeNull();
    expect(await rewind('--undo', '--yes')).toMatchObject({ code: 0, stderr: '' });
    expect(place.tree()).toEqual(place.end);
    const resumed = await run(['-p', 'and now?', '--resume', session]);
    expect(resumed.code).toBe(0);
    expect(JSON.stringify(bodies().at(-1)?.messages)).toContain('Check it first.');
  });
});
