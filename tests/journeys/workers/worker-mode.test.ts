/** A change of the permission mode at the lead while agents run on workers. */
import { existsSync } from 'node:fs';
import { writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { bash, begins, HELPERS, helper } from '../../fakes/agents/worker-lead.js';
import { SOON, type WorkerScene, workerScene } from '../../fakes/agents/worker-scene.js';
import { eventually } from '../../fakes/eventually.js';
import { type Line, type Rules, resultsIn } from '../../fakes/skein-process.js';
import { openScreen, type Screen } from '../../fakes/terminal/tmux-screen.js';
import { needs } from '../../setup/needs.js';

const LEAD = ['--agents', HELPERS, '--session-id', 'one'];
const FREE = ['--permission-mode', 'bypassPermissions'];
const WAITS = 'touch begun.txt; while [ ! -e go ]; do sleep 0.05; done';

/** A helper that creates a file, waits for the file `go`, and creates a second file. */
const RULES: Rules = [
  ...begins(helper('Make it')),
  { match: { turn: 0 }, reply: { tool_use: bash(WAITS) } },
  { match: { turn: 1 }, reply: { tool_use: bash('touch second.txt') } },
  { reply: 'That is all.' },
];

const isMade = ({ workspace }: WorkerScene, name: string) => existsSync(join(workspace, name));

const untilHelperRuns = (scene: WorkerScene) =>
  eventually('the helper runs', () => isMade(scene, 'begun.txt'));

const releaseHelper = ({ workspace }: WorkerScene) => writeFile(join(workspace, 'go'), '');

/** All tool results that agents received. */
const toolResults = (scene: WorkerScene): readonly string[] =>
  scene.bodies().flatMap((body) => resultsIn(body).map(({ content }) => String(content)));

/** Resolves when the mode is in the lead config that workers read. */
const untilPublished = async (scene: WorkerScene, mode: string): Promise<void> => {
  const store = await scene.store();
  const read = async () =>
    JSON.parse(Buffer.from(await store.readArtifact('one', 'run-terms.json')).toString()) as Line;
  while ((await read()).mode !== mode) await new Promise((resolve) => setTimeout(resolve, 10));
};

const startLead = async (scene: WorkerScene, ...args: readonly string[]): Promise<Screen> => {
  const screen = openScreen(scene, ['--plain', '--trust', ...LEAD, ...args], { env: scene.env });
  await screen.shows(/^>$/m);
  screen.say('Begin');
  await screen.shows(/I see\.\n+>$/);
  return screen;
};

const setMode = async (scene: WorkerScene, screen: Screen, mode: string): Promise<void> => {
  screen.say(`/mode ${mode}`);
  await screen.shows(`The permission mode is ${mode}.`);
  await untilPublished(scene, mode);
};

needs.describe('redis', 'tmux')('a mode that the person sets at the lead', () => {
  test('applies to the next call of an agent on a worker', async () => {
    const scene = await workerScene(RULES);
    await scene.worker();
    const screen = await startLead(scene, ...FREE);
    await untilHelperRuns(scene);
    await setMode(scene, screen, 'default');
    await releaseHelper(scene);
    await screen.shows(/asks to use Bash[\s\S]*touch second\.txt[\s\S]*Allow it\?/);
    const { questions } = await scene.json('inbox');
    expect(await scene.run(['deny', questions[0].id])).toMatchObject({ code: 0 });
    await screen.shows(/done[^>]*I see\.\n+>$/);
    expect(isMade(scene, 'second.txt')).toBe(false);
    screen.press('C-d');
    expect(await screen.ended()).toBe(0);
  });

  test('applies to an agent that was queued before', async () => {
    const scene = await workerScene(RULES);
    const screen = await startLead(scene, ...FREE);
    await setMode(scene, screen, 'plan');
    await scene.worker();
    await screen.shows(/done[^>]*I see\.\n+>$/);
    expect(isMade(scene, 'begun.txt')).toBe(false);
    expect(toolResults(scene)).toContainEqual(expect.stringContaining('plan mode allows none'));
    screen.press('C-d');
    expect(await screen.ended()).toBe(0);
  });

  test('can give agents on workers more rights', async () => {
    const scene = await workerScene(RULES);
    await releaseHelper(scene);
    const screen = await startLead(scene);
    await setMode(scene, screen, 'bypassPermissions');
    await scene.worker();
    await screen.shows(/done[^>]*I see\.\n+>$/);
    expect(isMade(scene, 'second.txt')).toBe(true);
    screen.press('C-d');
    expect(await screen.ended()).toBe(0);
  });
});

needs.describe('redis')('the mode of a lead that takes over', () => {
  test('applies to agents that already run on workers', async () => {
    const scene = await workerScene(RULES, SOON);
    await scene.worker();
    const lead = scene.begin(['-p', 'Begin', ...LEAD, ...FREE]);
    await untilHelperRuns(scene);
    lead.kill('SIGKILL');
    await lead.ended;
    await scene.left('one');
    const next = scene.begin(['resume', 'one', '-p', '--permission-mode', 'default']);
    await untilPublished(scene, 'default');
    await releaseHelper(scene);
    expect(await next.ended).toMatchObject({ code: 0 });
    expect(isMade(scene, 'second.txt')).toBe(false);
    expect(toolResults(scene)).toContainEqual(expect.stringMatching(/No person/i));
  });
});
