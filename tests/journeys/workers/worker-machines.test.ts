/** Agents on workers of other machines: their workspace, their pushed changes, and refusals. */
import { execFileSync } from 'node:child_process';
import { existsSync } from 'node:fs';
import { readdir, readFile, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { backgroundTask, bash, begins } from '../../fakes/agents/worker-lead.js';
import { SOON, workerScene } from '../../fakes/agents/worker-scene.js';
import { otherMachine } from '../../fakes/other-machine.js';
import {
  calls,
  type Line,
  type Rules,
  type RunOptions,
  STREAM,
} from '../../fakes/skein-process.js';
import { needs } from '../../setup/needs.js';

const task = (more: Record<string, unknown>) =>
  backgroundTask('Count the geese', { subagent_type: 'counter', ...more });
const COUNTER = { description: 'Counts', prompt: 'You count.', tools: 'Bash, Read, Edit' };
const AGENTS = ['--agents', JSON.stringify({ counter: COUNTER })];
const FREE = ['--permission-mode', 'bypassPermissions', ...AGENTS];
const LEAD = ['-p', 'Begin', '--session-id', 'one', ...FREE];
const POLL = { timeout: 30_000 };
const AGENT = { firstUser: 'Count the geese' };

/** Rules for a lead that waits for its agent, and for the agent. */
const rulesWith = (rules: Rules, more: Record<string, unknown>): Rules => [
  {
    match: { lastUser: '/sessions/one/artifacts/', firstUser: 'Begin' },
    reply: calls('Read', { file_path: '{{lastUser}}' }),
  },
  ...begins(task(more)),
  ...rules,
];

const setGitScene = async (rules: Rules, more: Record<string, unknown> = {}) => {
  const scene = await workerScene(rulesWith(rules, more), SOON);
  const git = (...args: readonly string[]) =>
    execFileSync('git', args, { cwd: scene.workspace, encoding: 'utf8', stdio: 'pipe' }).trim();
  const url = join(scene.root, 'remote.git');
  git('init', '-q', '-b', 'main');
  await writeFile(join(scene.workspace, 'geese.txt'), 'one\n');
  git('add', '.');
  git('commit', '-q', '-m', 'first');
  execFileSync('git', ['init', '-q', '--bare', url]);
  git('remote', 'add', 'origin', url);
  git('push', '-q', 'origin', 'main');
  const remote = { env: { SKEIN_WORKSPACE_REMOTE: 'origin' } };
  const agentOf = async (): Promise<{ readonly id: string; readonly records: readonly Line[] }> => {
    const store = await scene.store();
    for await (const { agent, type } of store.events('one')) {
      const { records } = await store.readJournal('one', agent);
      const created = records.find((record) => record.type === 'agent.created');
      if (type === 'agent.spawned' && created?.type === 'agent.created' && created.origin) {
        return { id: agent, records: records as unknown as readonly Line[] };
      }
    }
    throw new Error('There is no agent.');
  };
  const allMessages = () => JSON.stringify(scene.bodies().map(({ messages }) => messages));
  /** Waits until the third request of the agent is sent, which is never answered. */
  const untilStalled = async () => {
    const isOut = () => scene.bodies().some(({ messages }) => messages.length === 5);
    await expect.poll(isOut, POLL).toBe(true);
  };
  /** Starts the lead. Resolves when its session exists. */
  const lead = async (options?: RunOptions) => {
    const started = scene.begin([...LEAD, ...STREAM], options);
    const store = await scene.store();
    await expect.poll(async () => (await store.list()).length, POLL).toBe(1);
    return started;
  };
  return { ...scene, git, url, remote, agentOf, allMessages, lead, untilStalled };
};

const edit = calls('Edit', { file_path: 'geese.txt', old_string: 'one', new_string: 'two' });
const read = calls('Read', { file_path: 'geese.txt' });

needs.describe(
  'redis',
  'git',
  'root-hostname',
)('an agent on another machine', () => {
  test('works in a clone of the remote and pushes its changes to its own branch', async () => {
    const scene = await setGitScene([
      { match: { ...AGENT, turn: 0 }, reply: read },
      { match: { ...AGENT, turn: 1 }, reply: edit },
      { match: { ...AGENT, turn: 2 }, reply: { tool_use: bash('seq 1 100000') } },
      { match: AGENT, reply: 'There are two.' },
    ]);
    const field = await otherMachine(scene, 'field');
    await scene.worker([], field);
    await writeFile(join(scene.workspace, 'loose.txt'), 'not committed\n');
    const lead = await scene.run([...LEAD, ...STREAM], scene.remote);
    expect([lead.code, lead.stderr]).toEqual([
      0,
      expect.stringContaining('do not see uncommitted changes in'),
    ]);
    const { id, records } = await scene.agentOf();
    const moved = records.find(({ type }) => type === 'agent.moved');
    const path = join(field.skeinHome, 'worktrees/one', id);
    const place = { path, cwd: path, branch: `agent/${id}`, top: scene.workspace };
    expect(moved?.to).toMatchObject({ host: 'field', url: scene.url, place });
    expect(scene.allMessages()).toContain('You now work on another machine, field');
    expect(scene.git('--git-dir', scene.url, 'show', `agent/${id}:geese.txt`)).toBe('two');
    expect(scene.git('status', '--porcelain')).toBe('?? loose.txt');
    const commit = scene.git('--git-dir', scene.url, 'rev-parse', `agent/${id}`);
    expect(scene.allMessages()).toContain(`pushed to the branch agent/${id} of ${scene.url}`);
    expect(scene.allMessages()).toContain(`commit ${commit}`);
    expect(existsSync(path)).toBe(false);

    // A large output has a path of the other machine, and the lead can read it on this machine.
    const there = join(field.skeinHome, 'sessions/one/artifacts');
    const [name = ''] = (await readdir(there)).filter((file) => file.endsWith('.txt'));
    expect(scene.allMessages()).toContain(`all of it is in ${join(there, name)}`);
    const here = join(scene.skeinHome, 'sessions/one/artifacts', name);
    expect((await readFile(here, 'utf8')).trimEnd().split('\n')).toHaveLength(100_000);
    const resume = ['-p', join(there, name), '--resume', 'one', ...FREE];
    const later = await scene.run(resume, { env: scene.remote.env });
    expect(later.code).toBe(0);
    expect(scene.allMessages()).toContain('2\\t2\\n     3\\t3\\n');
  });

  test('works in the folder of its lead if both machines share it', async () => {
    const scene = await setGitScene([
      { match: { ...AGENT, turn: 0 }, reply: read },
      { match: { ...AGENT, turn: 1 }, reply: edit },
      { match: AGENT, reply: 'There are two.' },
    ]);
    const field = await otherMachine(scene, 'field', { SKEIN_SHARED_PATHS: scene.root });
    await scene.worker([], field);
    const lead = await scene.run(LEAD, scene.remote);
    expect(lead.code).toBe(0);
    expect(await readFile(join(scene.workspace, 'geese.txt'), 'utf8')).toBe('two\n');
    expect((await scene.agentOf()).records.map(({ type }) => type)).not.toContain('agent.moved');
  });

  test('waits for a worker with its workspace, and lead, worker and `ps` show the reason', async () => {
    const scene = await setGitScene([{ match: AGENT, reply: 'There are two.' }]);
    const worker = await scene.worker([], await otherMachine(scene, 'field'));
    const lead = await scene.lead();
    const refused = (agents: readonly Line[]) => agents[0]?.refusal?.includes('on ') === true;
    const [agent] = await scene.agents('one', 'the agent is refused', refused);
    const why = 'which this machine (field) does not share: name a folder that both have';
    expect(agent).toMatchObject({
      status: 'queued',
      turns: 0,
      refusal: expect.stringContaining(why),
    });
    expect(worker.stderr).toContain(why);
    expect(
      scene.bodies().filter((body) => JSON.stringify(body).includes('You now work on')),
    ).toEqual([]);
    await scene.worker();
    const { code, stderr } = await lead.ended;
    expect([code, stderr]).toEqual([0, expect.stringContaining(why)]);
    const { records } = await scene.agentOf();
    expect(records.filter(({ type }) => type === 'agent.queued')).toHaveLength(2);
    expect(scene.allMessages()).toContain('There are two.');
  });

  test('is refused until its commit is pushed', async () => {
    const scene = await setGitScene([{ match: AGENT, reply: 'There are two.' }]);
    scene.git('commit', '-q', '--allow-empty', '-m', 'second');
    const worker = await scene.worker([], await otherMachine(scene, 'field'));
    const lead = await scene.lead(scene.remote);
    const why = `${scene.url} does not have the commit ${scene.git('rev-parse', 'HEAD')}: push it there.`;
    const refused = (agents: readonly Line[]) => agents[0]?.refusal?.startsWith(why) === true;
    await scene.agents('one', 'the agent is refused', refused);
    expect(worker.stderr).toContain(why);
    // The old worker retries after a while and could be faster than the new worker.
    worker.kill('SIGTERM');
    await worker.ended;
    scene.git('push', '-q', 'origin', 'main');
    await scene.worker([], await otherMachine(scene, 'barn'));
    const { code, stderr } = await lead.ended;
    expect([code, stderr]).toEqual([0, expect.stringContaining('push it, because workers')]);
    expect(scene.allMessages()).toContain('You now work on another machine, barn');
  });

  test('resumes on another machine with its changes after its worker was ended', async () => {
    const scene = await setGitScene([
      { match: { ...AGENT, turn: 0 }, reply: read },
      { match: { ...AGENT, turn: 1 }, reply: edit },
      {
        match: { ...AGENT, turn: 2 },
        replies: [
          { text: 'I am', stall: { afterEvents: 1 } },
          { tool_use: bash('cat geese.txt; hostname') },
        ],
      },
      { match: AGENT, reply: 'There are two.' },
    ]);
    const field = await scene.worker([], await otherMachine(scene, 'field'));
    const lead = await scene.lead(scene.remote);
    await scene.untilStalled();
    field.kill('SIGTERM');
    await field.ended;
    await scene.worker([], await otherMachine(scene, 'barn'));
    expect((await lead.ended).code).toBe(0);
    const { id, records } = await scene.agentOf();
    const moves = records.filter(({ type }) => type === 'agent.moved');
    expect(moves.map(({ to }) => to.host)).toEqual(['field', 'barn']);
    expect(scene.allMessages()).toContain('It contains your work up to commit');
    expect(scene.allMessages()).toContain('two\\nbarn');
    expect(scene.git('--git-dir', scene.url, 'show', `agent/${id}:geese.txt`)).toBe('two');
  });

  test('resumes on another machine without its lost changes after a kill, with a notice about the loss', async () => {
    const scene = await setGitScene(
      [
        { match: { ...AGENT, turn: 0 }, reply: read },
        { match: { ...AGENT, turn: 1 }, reply: edit },
        {
          match: { ...AGENT, turn: 2 },
          replies: [
            { text: 'I am', stall: { afterEvents: 1 } },
            { tool_use: bash('cat geese.txt') },
          ],
        },
        { match: AGENT, reply: 'There is one.' },
      ],
      { isolation: 'worktree' },
    );
    const field = await scene.worker([], await otherMachine(scene, 'field', SOON));
    const lead = await scene.lead(scene.remote);
    await scene.untilStalled();
    field.kill('SIGKILL');
    await field.ended;
    await scene.worker([], await otherMachine(scene, 'barn', SOON));
    expect((await lead.ended).code).toBe(0);
    const { id } = await scene.agentOf();
    expect(scene.allMessages()).toContain('Later changes on field and processes there are lost');
    const paths = `${scene.workspace} or ${scene.skeinHome}/worktrees/one/${id} or ${scene.root}/field/.skein/worktrees/one/${id}`;
    expect(scene.allMessages()).toContain(`For any path below ${paths}`);
    expect(scene.allMessages()).toContain('It changed nothing in its worktree.');
    expect(scene.git('--git-dir', scene.url, 'branch', '--list', 'agent/*')).toBe('');
  });
});

needs.describe(
  'redis',
  'git',
  'root-hostname',
  'bwrap',
)('an agent in a sandbox of another machine', () => {
  test('can use git in its clone', async () => {
    const scene = await setGitScene([
      {
        match: { ...AGENT, turn: 0 },
        reply: { tool_use: bash('git log --format=%s; git status -s') },
      },
      { match: AGENT, reply: 'There is one.' },
    ]);
    const field = await otherMachine(scene, 'field', { SKEIN_SANDBOX: 'required' });
    await scene.worker([], field);
    const lead = await scene.lead(scene.remote);
    expect((await lead.ended).code).toBe(0);
    const { records } = await scene.agentOf();
    const ended = records.find(({ type }) => type === 'call.ended');
    expect(JSON.parse(String(ended?.raw)).content).toBe('first\n');
  });
});
