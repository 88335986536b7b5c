/** Background agents on workers: reports, cost, and recovery after the end of a worker. */
import { writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { bash, begins, HELPERS, helper, LEAD } from '../../fakes/agents/worker-lead.js';
import { logOf, SOON, type WorkerScene, workerScene } from '../../fakes/agents/worker-scene.js';
import { eventually } from '../../fakes/eventually.js';
import { type Line, type Reply, STREAM, setScene } from '../../fakes/skein-process.js';
import { firstBreak } from '../../laws/prompts.js';
import { needs } from '../../setup/needs.js';

const STALLS: Reply = { text: 'They were', stall: { afterEvents: 3 } };
const WAITS = 'echo two >> log; while [ ! -e go ]; do sleep 0.05; done; echo three >> log';

const bodiesOf = ({ simulator }: WorkerScene, prompt: string): readonly Buffer[] =>
  simulator.requests
    .map(({ body }) => body)
    .filter((body) => {
      const [first] = (JSON.parse(body.toString()) as Line).messages as Line[];
      return JSON.stringify(first).includes(prompt);
    });

const finalRecordCounts = async (scene: WorkerScene): Promise<readonly number[]> =>
  (await scene.journals('one')).map(
    (records) => records.filter(({ type, final }) => type === 'run.ended' && final).length,
  );

needs.describe('redis')('a background agent on a worker', () => {
  test('resumes its lead with its report, and its cost is counted in the result of the lead', async () => {
    const scene = await workerScene([
      ...begins(helper('Find the geese')),
      { match: { turn: 0 }, reply: { tool_use: bash('echo a goose') } },
      { reply: 'They are here.' },
    ]);
    await scene.worker();
    const { code, lines, result, stderr } = await scene.run([...LEAD, ...STREAM]);
    expect({ code, stderr }).toEqual({ code: 0, stderr: '' });
    const taskMessages = lines.filter(({ subtype }) => String(subtype).startsWith('task_'));
    const [started] = taskMessages;
    const progress = taskMessages.find(({ last_tool_name }) => last_tool_name !== undefined);
    expect(started).toMatchObject({ subtype: 'task_started', task_type: 'background' });
    expect(progress).toMatchObject({ subtype: 'task_progress', last_tool_name: 'Bash' });
    expect(taskMessages.at(-1)).toMatchObject({
      subtype: 'task_notification',
      status: 'completed',
      summary: 'They are here.',
      num_turns: 2,
      usage: { tool_uses: 1 },
    });
    const { total, agents } = await scene.json('cost', 'one');
    expect(result.total_cost_usd).toBeCloseTo(total.costUsd, 9);
    expect(taskMessages.at(-1)?.cost_usd).toBeCloseTo(agents[1].costUsd, 9);
    expect(scene.bodies().at(-1)?.messages.at(-1).content.at(-1).text).toContain('They are here.');
  });

  test('has the permissions of the lead that started it, not of an earlier lead', async () => {
    const scene = await workerScene([
      {
        match: { lastUser: 'Again' },
        reply: { tool_use: helper('Find more') },
      },
      ...begins(helper('Find the geese')),
      { match: { turn: 0 }, reply: { tool_use: bash('echo a goose >> log') } },
      { reply: 'They are here.' },
    ]);
    await scene.worker();
    expect(await scene.run(LEAD)).toMatchObject({ code: 0 });
    const resume = ['-p', 'Again', '--resume', 'one', '--agents', HELPERS];
    const { code, result } = await scene.run([...resume, '--output-format', 'json']);
    expect({ code, denials: result.permission_denials }).toMatchObject({
      code: 0,
      denials: [{ tool_name: 'Bash' }],
    });
    expect(logOf(scene)).toEqual(['a goose']);
  });

  test('is returned by a worker on SIGTERM, and another worker resumes it', async () => {
    const scene = await workerScene(
      [
        ...begins([helper('Find the geese'), helper('Count the geese')]),
        { match: { firstUser: 'Find', turn: 0 }, reply: { tool_use: bash('echo one >> log') } },
        { match: { firstUser: 'Find', turn: 1 }, replies: [STALLS, { text: 'They are here.' }] },
        { match: { firstUser: 'Count', turn: 0 }, reply: { tool_use: bash(WAITS) } },
        { match: { firstUser: 'Count' }, reply: 'There are three.' },
      ],
      SOON,
    );
    const first = await scene.worker();
    const lead = scene.begin(LEAD);
    await eventually('an agent streams an answer and the other runs a call', () => {
      return bodiesOf(scene, 'Find the geese').length === 2 && logOf(scene).includes('two');
    });
    first.kill('SIGTERM');
    await eventually('the return is reported', () => first.stderr.includes('Returning 2 agents'));
    // A new worker gets the returned agent, but not the agent whose call may still end.
    const second = await scene.worker();
    await eventually('the agent resumes', () => bodiesOf(scene, 'Find the geese').length === 3);
    await writeFile(join(scene.workspace, 'go'), '');
    expect(await first.ended).toMatchObject({ code: 0, stdout: '' });
    expect(await lead.ended).toMatchObject({ code: 0 });
    expect(logOf(scene).toSorted()).toEqual(['one', 'three', 'two']);
    expect(await finalRecordCounts(scene)).toEqual([1, 1, 1]);
    for (const prompt of ['Find the geese', 'Count the geese']) {
      expect(firstBreak(bodiesOf(scene, prompt))).toBeUndefined();
    }
    second.kill('SIGTERM');
    expect(await second.ended).toMatchObject({ code: 0 });
  });

  test('is resumed by another worker after a kill, and no call runs twice', async () => {
    const scene = await workerScene(
      [
        ...begins(helper('Count the geese')),
        { match: { firstUser: 'Count', turn: 0 }, reply: { tool_use: bash(WAITS) } },
        { match: { firstUser: 'Count' }, reply: 'There may be three.' },
      ],
      SOON,
    );
    const first = await scene.worker();
    const lead = scene.begin(LEAD);
    await eventually('the call runs', () => logOf(scene).includes('two'));
    first.kill('SIGKILL');
    await first.ended;
    const second = await scene.worker();
    expect(await lead.ended).toMatchObject({ code: 0 });
    expect(second.stderr).toContain('is started again, after 1 attempt that did not finish');
    expect(logOf(scene)).toEqual(['two']);
    expect(await finalRecordCounts(scene)).toEqual([1, 1]);
    const [, resumed] = bodiesOf(scene, 'Count the geese').map(
      (body) => JSON.parse(body.toString()) as Line,
    );
    expect(JSON.stringify(resumed?.messages.at(-1))).toContain(
      'Skein was stopped while this call was running.',
    );
  });
});

needs.describe('redis')('a worker', () => {
  test('fails with a single error line for invalid flags or a missing Redis', async () => {
    const { run } = await setScene();
    const away = { env: { SKEIN_REDIS_URL: 'redis://127.0.0.1:1' } };
    const failures: readonly (readonly [readonly string[], object, RegExp])[] = [
      [[], {}, /^skein: A worker takes agents from a queue in Redis: set SKEIN_REDIS_URL, .*\n$/],
      [[], away, /^skein: Redis at 127.0.0.1:1 cannot be used \(ECONNREFUSED\): .*\n$/],
      [
        ['--concurrency', '0'],
        away,
        /^skein: --concurrency 0 is not a number from 1 to 10,000\.\n$/,
      ],
      [['--rate', 'many'], away, /^skein: --rate many is not a number from 1 to 10,000\.\n$/],
      [['--quick'], away, /unknown option '--quick'/],
      [['--store', 'ftp://a'], {}, /^skein: .*store.*\n$/],
    ];
    for (const [args, options, sentence] of failures) {
      const { code, stdout, stderr } = await run(['worker', ...args], options);
      expect({ args, code, stdout, stderr }).toEqual({
        args,
        code: 2,
        stdout: '',
        stderr: expect.stringMatching(sentence),
      });
    }
  });
});
