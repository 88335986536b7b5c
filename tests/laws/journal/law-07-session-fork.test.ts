/**
 * Law 7 for a copied session: agents of the original session have their effects once, in that
 * session.
 */
import { existsSync, readFileSync } from 'node:fs';
import { writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { describe, expect, test } from 'vitest';
import { eventually } from '../../fakes/eventually.js';
import { type Reply, setScene } from '../../fakes/skein-process.js';
import { taskCall } from '../swarm-wire.js';

const AGENTS = JSON.stringify({
  worker: { description: 'Works.', prompt: 'You work.', tools: 'Read, Bash' },
});
const FREE = ['--agents', AGENTS, '--allowed-tools', 'Bash(./bump.sh)'];
const STALLS: Reply = { text: 'They were', stall: { afterEvents: 3 } };

describe('law 7, for a copied session', () => {
  test.each([
    ['waits for an agent', {}],
    ['has an agent in the background', { run_in_background: true }],
  ])('repeats no effect if its lead %s', async (_, kind) => {
    const scene = await setScene([
      { match: { toolResult: 'bumped' }, reply: STALLS },
      {
        match: { firstUser: 'Bump it' },
        reply: { tool_use: [{ name: 'Bash', input: { command: './bump.sh' } }] },
      },
      {
        match: { turn: 0 },
        reply: { tool_use: [taskCall('Bump it.', { subagent_type: 'worker', ...kind })] },
      },
      { reply: 'I see.' },
    ]);
    const script = '#!/bin/sh\necho one >> effects.log\necho bumped\n';
    await writeFile(join(scene.workspace, 'bump.sh'), script, { mode: 0o755 });
    const log = join(scene.workspace, 'effects.log');
    const killed = scene.start(['-p', 'Go.', '--session-id', 'first', ...FREE]);
    killed.endInput();
    const isStalled = () =>
      existsSync(log) && scene.simulator.requests.some(({ body }) => body.includes('bumped'));
    await eventually('the agent has worked', isStalled);
    killed.kill('SIGKILL');
    await killed.ended;

    const copy = ['--resume', 'first', '--fork-session', '--session-id', 'copy', ...FREE];
    const { code, stdout } = await scene.run(['-p', 'And?', ...copy]);
    expect({ code, stdout }).toEqual({ code: 0, stdout: 'I see.\n' });
    expect(readFileSync(log, 'utf8')).toBe('one\n');
    const last = scene.simulator.requests.at(-1)?.body.toString();
    expect(last).toContain('stayed with session first');

    const seen = async (session: string) => {
      const { stdout: json } = await scene.run(['ps', session, '--all', '--json']);
      return json.match(/"status": ?"\w+"/g);
    };
    expect(await seen('copy')).toHaveLength(1);
    expect(await seen('first')).toHaveLength(2);
  });
});
