/** A session on a real terminal that uses every tool. All results are read from the screen. */
import { existsSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, onTestFinished, test } from 'vitest';
import { builtinTools } from '../../../src/tools/builtin-tools.js';
import { eventually } from '../../fakes/eventually.js';
import { pidIn, type Reply, type Rules, type Scene, setScene } from '../../fakes/skein-process.js';
import { openScreen, type Screen } from '../../fakes/terminal/tmux-screen.js';
import { isAlive } from '../../host/process/processes.js';
import { needs } from '../../setup/needs.js';
import { startLocalWeb } from '../../tools/conformance/local-web.js';

type Input = Readonly<Record<string, unknown>>;

/** A turn of the model, the reaction of the person, and the expected screen output. */
interface Step {
  readonly calls: readonly (readonly [tool: string, input: Input])[];
  readonly person?: (screen: Screen, scene: Scene) => Promise<void>;
  /** Expected output, in this order. */
  readonly shows: readonly RegExp[];
}

const PERMISSION = /Allow it\? .*: *$/;

/** Waits for the permission question and answers it. */
const answers =
  (tool: string, ...lines: readonly string[]) =>
  async (screen: Screen): Promise<void> => {
    await screen.shows(new RegExp(`asks to use ${tool}\\.[\\s\\S]*${PERMISSION.source}`));
    const [first = '', ...rest] = lines;
    screen.say(first);
    for (const line of rest) {
      await screen.shows(/Why not\? .*: *$/);
      screen.say(line);
    }
  };

const todo = (content: string, status: string) => ({ content, status });
const NOTEBOOK = JSON.stringify({
  cells: [{ cell_type: 'code', id: 'c1', metadata: {}, outputs: [], source: ['1 + 1'] }],
  metadata: {},
  nbformat: 4,
  nbformat_minor: 5,
});

const steps = (web: string): readonly Step[] => [
  {
    calls: [
      ['TodoWrite', { todos: [todo('Count the geese', 'in_progress'), todo('Rest', 'pending')] }],
    ],
    shows: [/ {2}TodoWrite /, / {4}ok/, /2 of 2 left\n.*doing: +Count the geese\n.*to do: +Rest/],
  },
  {
    calls: [['TodoRead', {}]],
    shows: [/ {2}TodoRead\n {4}ok: 1\. \[in_progress\] Count the geese/],
  },
  { calls: [['LS', {}]], shows: [/ {2}LS \.\n {4}ok: \d lines/] },
  { calls: [['Glob', { pattern: '*.txt' }]], shows: [/ {2}Glob \*\.txt\n {4}ok: 1 line/] },
  {
    calls: [['Grep', { pattern: 'goose', output_mode: 'content' }]],
    shows: [/ {2}Grep "goose"\n {4}ok: 1 line/],
  },
  {
    calls: [['Read', { file_path: 'count.ipynb' }]],
    shows: [/ {2}Read count\.ipynb\n {4}ok: \d+ line/],
  },
  {
    calls: [['Write', { file_path: 'new.txt', content: 'one goose\n' }]],
    person: answers('Write', 'o'),
    shows: [/\+ one goose/, / {2}Write new\.txt\n {4}ok: Created .*new\.txt/],
  },
  {
    calls: [['Edit', { file_path: 'new.txt', old_string: 'one', new_string: 'two' }]],
    person: answers('Edit', 's'),
    shows: [/- one\n.*\+ two/, / {2}Edit new\.txt\n {4}ok: Replaced one passage/],
  },
  {
    calls: [
      [
        'MultiEdit',
        {
          file_path: 'new.txt',
          edits: [
            { old_string: 'two', new_string: 'three' },
            { old_string: 'goose', new_string: 'geese' },
          ],
        },
      ],
    ],
    // No question: the answer for the session covers changes of this file.
    shows: [/ {2}MultiEdit new\.txt\n {4}ok: Replaced 2 passages/],
  },
  {
    calls: [['NotebookEdit', { notebook_path: 'count.ipynb', cell_id: 'c1', new_source: '1 + 2' }]],
    person: answers('NotebookEdit', 'p'),
    shows: [/ {2}NotebookEdit count\.ipynb\n {4}ok: Replaced cell 0 \(id c1\)/],
  },
  {
    calls: [['Bash', { command: 'touch forbidden' }]],
    person: answers('Bash', 'd', 'not on my machine'),
    shows: [/denied Bash.*not on my machine/],
  },
  {
    calls: [
      [
        'Bash',
        { command: 'echo $$ > pid; echo serving; touch ready; sleep 600', run_in_background: true },
      ],
    ],
    person: answers('Bash', 'o'),
    shows: [/ {2}Bash echo .* in the background\n {4}ok: Started in the background as bash_1\.$/m],
  },
  {
    calls: [
      [
        'AskUser',
        { question: 'Is it ready?', options: [{ label: 'Not yet' }, { label: 'Ready' }] },
      ],
    ],
    person: async (screen, { workspace }) => {
      await screen.shows(/Is it ready\?\n +1\. Not yet\n +2\. Ready\nA number.*: *$/);
      await eventually('the server is ready', () => existsSync(join(workspace, 'ready')));
      screen.say('2');
    },
    shows: [/ok.*: The user chose: Ready/],
  },
  {
    calls: [['TaskOutput', { task_id: 'bash_1', block: false }]],
    shows: [/ {2}TaskOutput bash_1\n {4}ok.*bash_1 is running: .*\n {6}serving/],
  },
  {
    calls: [['TaskStop', { task_id: 'bash_1' }]],
    shows: [/ {2}TaskStop bash_1\n {4}ok.*bash_1 was stopped/],
  },
  {
    calls: [['TaskCreate', { subject: 'Watch the geese', description: 'All day.' }]],
    shows: [/ {2}TaskCreate Watch the geese\n {4}ok: Task 1 created: Watch the geese/],
  },
  {
    calls: [['TaskUpdate', { taskId: '1', status: 'in_progress' }]],
    shows: [/ {2}TaskUpdate 1 in_progress\n {4}ok: Task 1 is now: in_progress, owner lead\./],
  },
  {
    calls: [['TaskGet', { taskId: '1' }]],
    shows: [/ {2}TaskGet 1\n {4}ok: Task 1: Watch the geese/],
  },
  {
    calls: [['TaskList', {}]],
    shows: [/ {2}TaskList\n {4}ok: 1\. \[in_progress\] Watch the geese \(lead\)/],
  },
  {
    calls: [['WebFetch', { url: `${web}/page` }]],
    person: answers('WebFetch', 'o'),
    shows: [/ {2}WebFetch http:\/\/127\.0\.0\.1:\d+\/page\n {4}ok: .*status 200/],
  },
  {
    calls: [['ExitPlanMode', { plan: 'Fly.' }]],
    shows: [/denied ExitPlanMode: This is not plan mode/],
  },
  {
    calls: [['WebSearch', { query: 'how geese fly' }]],
    person: answers('WebSearch', 'o'),
    shows: [
      / {2}WebSearch how geese fly\n {4}ok\n {6}- Geese: https:\/\/geese\.example\/\n {6}They fly in skeins/,
    ],
  },
  {
    calls: [['SendMessage', { to: 'nobody', message: 'Fly home.' }]],
    shows: [/ {2}SendMessage nobody: Fly home\.\n {4}failed\n {6}There is no agent "nobody"/],
  },
  // Last, because output about agents is delayed until the next text.
  {
    calls: [
      [
        'Task',
        { subagent_type: 'explorer', description: 'Count the nests', prompt: 'How many nests?' },
      ],
    ],
    shows: [/ {2}explorer \S+ started: Count the nests\n {2}explorer \S+ done, 1 turn, \$/],
  },
];

/** Answer of the provider's own search to the side request. */
const SEARCH: Reply = {
  blocks: [
    { type: 'server_tool_use', name: 'web_search', input: { query: 'how geese fly' } },
    {
      type: 'web_search_tool_result',
      content: [{ type: 'web_search_result', title: 'Geese', url: 'https://geese.example/' }],
    },
    { type: 'text', text: 'They fly in skeins.' },
  ],
};

const scriptFor = (script: readonly Step[]): Rules => [
  { match: { system: 'You search the web' }, reply: SEARCH },
  { match: { firstUser: 'How many nests?' }, reply: 'Four nests.' },
  ...script.map(({ calls }, turn) => ({
    match: { turn },
    reply: { tool_use: calls.map(([name, input]) => ({ name, input })) },
  })),
  { reply: 'That was every tool.' },
];

needs.describe('tmux')('a session that uses every tool', () => {
  test('shows each call on the screen in order and applies its effects', async () => {
    const web = await startLocalWeb();
    onTestFinished(web.close);
    const script = steps(web.url);
    const scene = await setScene(scriptFor(script));
    const { workspace } = scene;
    writeFileSync(join(workspace, 'notes.txt'), 'a goose\n');
    writeFileSync(join(workspace, 'count.ipynb'), NOTEBOOK);
    const screen = openScreen(scene, ['--plain'], {
      columns: 140,
      rows: 50,
      env: { SKEIN_ALLOW_PRIVATE_ADDRESSES: JSON.stringify([web.host]) },
    });
    await screen.shows(/^>$/m);
    screen.say('Use every tool.');
    for (const { person } of script) await person?.(screen, scene);
    const text = await screen.shows(/That was every tool\.\n\n>$/);

    let rest = text;
    for (const pattern of script.flatMap(({ shows }) => shows)) {
      const found = pattern.exec(rest);
      if (found === null) throw new Error(`${pattern} is not in the rest of the output:\n${rest}`);
      rest = rest.slice(found.index + found[0].length);
    }
    const used = script.flatMap(({ calls }) => calls.map(([tool]) => tool));
    expect([...new Set(used)].sort()).toEqual(builtinTools.map(({ name }) => name).sort());

    const pid = await eventually('the pid file exists', () => pidIn(workspace));
    expect(isAlive(pid)).toBe(false);
    screen.press('C-d');
    expect(await screen.ended()).toBe(0);
    const read = (name: string) => readFileSync(join(workspace, name), 'utf8');
    expect(read('new.txt')).toBe('three geese\n');
    expect(JSON.parse(read('count.ipynb')).cells[0].source.join('')).toBe('1 + 2');
    expect(existsSync(join(workspace, 'forbidden'))).toBe(false);
    expect(web.requestedPaths).toEqual(['/page']);
    expect(read('.skein/settings.local.json')).toMatch(/Edit\(.*count\.ipynb\)/);
  });
});
