import { describe, expect, test } from 'vitest';
import { shellJobTable } from '../../../src/host/process/shell-job-table.js';
import type { Artifact } from '../../../src/protocol/tools/artifact.js';
import type { ShellJobView } from '../../../src/protocol/tools/shell-jobs.js';
import { heldShell } from '../../fakes/held-shell.js';
import { settled, virtualClock } from '../../fakes/virtual-clock.js';

const never = new AbortController().signal;

const table = ({ before = 0, closeError }: { before?: number; closeError?: Error } = {}) => {
  const shell = heldShell();
  const clock = virtualClock();
  const reported: string[] = [];
  const files: string[] = [];
  const onEnd = ({ id, status }: ShellJobView) => reported.push(`${id} ${status.kind}`);
  const jobs = shellJobTable({ shell, clock, startedBefore: before, onEnd });
  const artifact = (): Artifact => {
    const index = files.push('') - 1;
    return {
      path: `/artifacts/${index}`,
      write: (chunk) => {
        files[index] += Buffer.from(chunk).toString();
      },
      close: () => (closeError ? Promise.reject(closeError) : Promise.resolve()),
    };
  };
  const start = (command = 'serve', signal = never) =>
    jobs.start({ command, cwd: '/work', artifact: artifact(), signal });
  return { shell, clock, reported, files, jobs, start };
};

describe('the shell job table', () => {
  test('numbers the jobs of a session, including the jobs of earlier processes', async () => {
    const { jobs, start } = table({ before: 2 });
    expect([(await start('a')).id, (await start('b')).id]).toEqual(['bash_3', 'bash_4']);
    expect(jobs.list().map(({ id, command }) => [id, command])).toEqual([
      ['bash_3', 'a'],
      ['bash_4', 'b'],
    ]);
    expect(jobs.find('bash_1')).toBeUndefined();
  });

  test.each([
    [{}, { kind: 'exited', exitCode: 0 }],
    [{ exitCode: 3 }, { kind: 'exited', exitCode: 3 }],
    [
      { exitCode: null, signal: 'SIGSEGV' },
      { kind: 'signalled', signal: 'SIGSEGV' },
    ],
    [{ reason: 'timeout', exitCode: null, signal: 'SIGTERM' }, { kind: 'timeout' }],
  ] as const)('reports how a job ended: %j', async (end, status) => {
    const { shell, start, reported } = table();
    const job = await start();
    expect(job.status).toEqual({ kind: 'running' });
    shell.runs[0]?.end(end);
    await settled();
    expect(job.status).toEqual(status);
    expect(reported).toEqual([`bash_1 ${status.kind}`]);
  });

  test('keeps the output of a job in memory and in its artifact', async () => {
    const { shell, start, files } = table();
    const job = await start();
    shell.runs[0]?.print('out\n');
    shell.runs[0]?.print('err\n', 'stderr');
    expect(job.read(0)).toMatchObject({ text: 'out\nerr\n', upTo: 8, artifact: '/artifacts/0' });
    expect(job.read(4)).toMatchObject({ text: 'err\n', upTo: 8, dropped: 0 });
    expect(files).toEqual(['out\nerr\n']);
  });

  test('keeps 100,000 characters in memory, and the whole output in the artifact', async () => {
    const { shell, start, files } = table();
    const job = await start();
    for (let piece = 0; piece < 25; piece += 1) shell.runs[0]?.print('x'.repeat(10_000));
    const { text, dropped, upTo } = job.read(0);
    expect([text.length, dropped, upTo]).toEqual([100_000, 150_000, 250_000]);
    expect(files[0]?.length).toBe(250_000);
    expect(job.read(0).artifactProblem).toBeUndefined();
  });

  test('reports that the artifact is full or could not be written', async () => {
    const full = table();
    const job = await full.start();
    const chunk = 'x'.repeat(1024 * 1024);
    for (let piece = 0; piece <= 64; piece += 1) full.shell.runs[0]?.print(chunk);
    expect(job.read(0).artifactProblem).toBe('it holds only the first 67108864 bytes');

    const broken = table({ closeError: new Error('no space left') });
    const other = await broken.start();
    broken.shell.runs[0]?.end();
    await settled();
    expect(other.read(0).artifactProblem).toBe('it could not be kept: no space left');
  });

  test('rejects the 21st job, and accepts another when a job has ended', async () => {
    const { shell, start } = table();
    for (let count = 0; count < 20; count += 1) await start();
    await expect(start()).rejects.toThrow('20 commands already run in the background');
    expect(shell.runs).toHaveLength(20);
    shell.runs[7]?.end();
    await settled();
    expect((await start()).id).toBe('bash_21');
  });

  test('drops the oldest of more than fifty ended jobs', async () => {
    const { shell, start, jobs } = table();
    const first = await start('runs on');
    for (let count = 0; count < 51; count += 1) {
      await start();
      shell.runs.at(-1)?.end();
      await settled();
    }
    const ids = jobs.list().map(({ id }) => id);
    expect(ids).toHaveLength(51);
    expect(ids.slice(0, 2)).toEqual([first.id, 'bash_3']);
  });

  test('reports why a job could not start, and adds no job', async () => {
    const { shell, start, jobs, reported } = table();
    const lost = new Error('no such directory');
    const broken = { ...shell, run: () => Promise.reject(lost) };
    const other = shellJobTable({
      shell: broken,
      clock: virtualClock(),
      startedBefore: 0,
      onEnd: () => {},
    });
    const artifact = { path: '/a', write: () => {}, close: async () => {} };
    const request = { command: 'x', cwd: '/', artifact, signal: never };
    await expect(other.start(request)).rejects.toBe(lost);
    expect(other.list()).toEqual([]);
    await start();
    expect(jobs.list()).toHaveLength(1);
    expect(reported).toEqual([]);
  });

  test('stops a job whose call is interrupted during the start', async () => {
    const { start, reported } = table();
    expect((await start('serve', AbortSignal.abort())).status).toEqual({ kind: 'stopped' });
    expect(reported).toEqual([]);
  });

  test('keeps a job running after the call that started it', async () => {
    const call = new AbortController();
    const { start } = table();
    const job = await start('serve', call.signal);
    call.abort();
    await settled();
    expect(job.status).toEqual({ kind: 'running' });
  });
});

describe('waiting for a job', () => {
  test('ends with the job, which is then not reported', async () => {
    const { shell, start, reported, clock } = table();
    const job = await start();
    const waiting = job.untilEnded(1_000, never);
    shell.runs[0]?.end();
    await waiting;
    expect(job.status.kind).toBe('exited');
    expect(reported).toEqual([]);
    expect(clock.sleepers).toBe(0);
  });

  test('ends after the given time, and the job continues', async () => {
    const { start, clock, shell, reported } = table();
    const job = await start();
    let isOver = false;
    const waiting = job.untilEnded(1_000, never).then(() => {
      isOver = true;
    });
    await clock.advance(999);
    expect(isOver).toBe(false);
    await clock.advance(1);
    await waiting;
    expect(job.status.kind).toBe('running');
    shell.runs[0]?.end();
    await settled();
    expect(reported).toEqual(['bash_1 exited']);
  });

  test('ends when its signal aborts', async () => {
    const interrupt = new AbortController();
    const { start, clock } = table();
    const job = await start();
    const waiting = job.untilEnded(1_000, interrupt.signal);
    interrupt.abort();
    await waiting;
    await job.untilEnded(1_000, interrupt.signal);
    expect([job.status.kind, clock.sleepers]).toEqual(['running', 0]);
  });
});

describe('stopping jobs', () => {
  test('stops a single job without a report', async () => {
    const { start, reported, jobs } = table();
    const job = await start();
    await start();
    await job.stop();
    expect(jobs.list().map(({ status }) => status.kind)).toEqual(['stopped', 'running']);
    expect(reported).toEqual([]);
  });

  test('stops all jobs on close, returns the running jobs and rejects new jobs', async () => {
    const { start, shell, jobs } = table();
    await start('a');
    await start('b');
    await start('c');
    shell.runs[1]?.end();
    await settled();
    expect((await jobs.close()).map(({ command }) => command)).toEqual(['a', 'c']);
    expect(jobs.list().every(({ status }) => status.kind !== 'running')).toBe(true);
    await expect(start()).rejects.toThrow('The session is ending');
  });
});
