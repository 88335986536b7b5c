import { mkdtempSync, readFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, describe, expect, test } from 'vitest';
import { openArtifactFile } from '../../../src/host/files/open-artifact-file.js';
import { hostShell } from '../../../src/host/process/host-shell.js';
import { childEnvironment } from '../../../src/host/process/ownership/child-environment.js';
import { ownerMarker } from '../../../src/host/process/ownership/owner-marker.js';
import { watchdogLink } from '../../../src/host/process/ownership/watchdog-link.js';
import { shellJobTable } from '../../../src/host/process/shell-job-table.js';
import { systemClock } from '../../../src/protocol/clock.js';
import type { ShellJobHandle } from '../../../src/protocol/tools/shell-jobs.js';
import { eventually } from '../../fakes/eventually.js';
import { allDead, isAlive, WATCHDOG } from './processes.js';

const marker = ownerMarker('jobs-test');
const watchdog = watchdogLink({ command: WATCHDOG, marker });
afterAll(() => watchdog.dismiss());
const environment = childEnvironment(
  { ...process.env, ANTHROPIC_API_KEY: 'hush' },
  marker,
  tmpdir(),
);
const shell = hostShell({ environment, watchdog });
const folder = mkdtempSync(join(tmpdir(), 'skein-jobs-'));

/** Table of real processes. */
const table = () => {
  const ended: string[] = [];
  const onEnd = ({ id }: { id: string }) => ended.push(id);
  const jobs = shellJobTable({ shell, clock: systemClock, startedBefore: 0, onEnd });
  const start = (command: string, timeoutMs?: number) => {
    const artifact = openArtifactFile(folder, 'out.txt');
    const { signal } = new AbortController();
    return jobs.start({ command, cwd: tmpdir(), artifact, signal, timeoutMs });
  };
  return { jobs, start, ended };
};

/**
 * Processes in the group, out of the group, without SIGHUP, forked twice, and with closed streams.
 */
const ESCAPES = `
  sleep 1000 & echo pid $!
  setsid sh -c 'echo pid $$; exec sleep 1000' &
  nohup sh -c 'echo pid $$; exec sleep 1000' 2>/dev/null &
  (setsid sh -c '(echo pid $(exec sh -c "echo \\$PPID"); exec sleep 1000) &' &)
  setsid sh -c 'echo pid $$; exec sleep 1000 <&- >&- 2>&- 3>&- 87>&-' &
`;

const pidsOf = (job: ShellJobHandle, count: number) =>
  eventually(`${count} processes run`, () => {
    const found = [...job.read(0).text.matchAll(/^pid (\d+)$/gm)].map(([, pid]) => Number(pid));
    return found.length === count && found.every(isAlive) && found;
  });

describe('a background shell', () => {
  test('continues after its start, and its output grows', async () => {
    const { start, ended } = table();
    const job = await start('echo one; echo two >&2; sleep 0.3; echo three');
    expect(job.status.kind).toBe('running');
    await eventually('the job has ended', () => ended.length === 1);
    expect(job.status).toEqual({ kind: 'exited', exitCode: 0 });
    expect(job.read(0).text.split('\n').sort()).toEqual(['', 'one', 'three', 'two']);
    expect(readFileSync(job.read(0).artifact, 'utf8')).toBe(job.read(0).text);
  });

  test('inherits no secrets, and has the marker of its owner', async () => {
    const { start, ended } = table();
    const job = await start('env');
    await eventually('the job has ended', () => ended.length === 1);
    expect(job.read(0).text).not.toContain('hush');
    expect(job.read(0).text).toContain(`SKEIN_OWNER=${marker}`);
  });

  test('is stopped with all processes that it started, even outside of its group', async () => {
    const { start, ended } = table();
    const job = await start(`${ESCAPES} wait; sleep 1000`);
    const pids = await pidsOf(job, 5);
    await job.stop();
    expect(job.status.kind).toBe('stopped');
    await eventually('all processes are dead', () => allDead(pids));
    expect(ended).toEqual([]);
  });

  test('leaves no processes behind when it ends', async () => {
    const { start, ended } = table();
    const job = await start(`${ESCAPES} sleep 0.7`);
    await eventually('the job has ended', () => ended.length === 1);
    const pids = [...job.read(0).text.matchAll(/^pid (\d+)$/gm)].map(([, pid]) => Number(pid));
    expect(pids).toHaveLength(5);
    await eventually('all processes are dead', () => allDead(pids));
  });

  test('is killed if it ignores SIGTERM', async () => {
    const { start } = table();
    const job = await start("trap '' TERM; echo pid $$; while :; do sleep 0.1; done");
    const pids = await pidsOf(job, 1);
    await job.stop();
    expect(allDead(pids)).toBe(true);
  });

  test('ends at its time limit', async () => {
    const { start, ended } = table();
    const job = await start('sleep 1000', 300);
    await eventually('the job has ended', () => ended.length === 1);
    expect(job.status).toEqual({ kind: 'timeout' });
  });

  test('stops with its table, along with the other jobs', async () => {
    const { jobs, start } = table();
    const started = await Promise.all(
      Array.from({ length: 8 }, () => start("echo pid $$; setsid sh -c 'echo pid $$; sleep 1000'")),
    );
    const pids = (await Promise.all(started.map((job) => pidsOf(job, 2)))).flat();
    expect(await jobs.close()).toHaveLength(8);
    await eventually('all processes are dead', () => allDead(pids));
  });

  test('cannot start in a missing directory', async () => {
    const { jobs } = table();
    const artifact = openArtifactFile(folder, 'out.txt');
    const { signal } = new AbortController();
    const request = { command: 'ls', cwd: '/no/such/place', artifact, signal };
    await expect(jobs.start(request)).rejects.toMatchObject({ why: 'missing' });
  });
});
