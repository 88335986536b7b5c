/** Law 14: all data is bounded, and a reached bound is an event and a sentence, not a loss. */
import { readdirSync, statSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, test } from 'vitest';
import { z } from 'zod';
import { FeedHub } from '../../../src/actors/agent/feed-hub.js';
import { systemClock } from '../../../src/protocol/clock.js';
import { defineTool, type Tool } from '../../../src/protocol/tools/tool.js';
import { MemorySessionStore } from '../../../src/store/memory/memory-session-store.js';
import { finish, openRig, speaks } from '../session-rig.js';
import { openPrintScene } from '../workspace.js';

const flood = (characters: number): Tool =>
  defineTool({
    name: 'Flood',
    kind: 'builtin',
    prompt: 'Floods.',
    interruptBehavior: 'cancel',
    input: z.object({}),
    describe: () => 'Flood',
    isReadOnly: () => true,
    isConcurrencySafe: () => true,
    subject: () => ({ action: 'read', target: 'x' }),
    call: async () => ({ content: 'ü'.repeat(characters) }),
  }) as Tool;

const floodBy = async (characters: number) => {
  const store = new MemorySessionStore(systemClock);
  const session = await openRig({
    store,
    tools: [flood(characters)],
    model: speaks([{ calls: [{ id: 'c1', tool: 'Flood', input: {} }] }, { text: 'Done.' }]),
  });
  await finish(session, 'Go.');
  const events = (await store.readJournal(session.id, session.meta.lead)).records;
  await session.close();
  return events;
};

describe('law 14, everything is bounded', () => {
  test('a result above the limit becomes a preview of an artifact, and the journal has a record of it', async () => {
    const journal = await floodBy(1_000_000);
    const ended = journal.find((record) => record.type === 'call.ended');
    expect(ended?.type === 'call.ended' && ended.raw.length).toBeLessThan(5_000);
    expect(ended?.type === 'call.ended' && ended.raw).toContain('All of it is in /c1-result.txt');
    expect(journal).toContainEqual(
      expect.objectContaining({ type: 'bound.hit', what: 'tool-result', limit: 25_000 }),
    );
  });

  test('catches the limit at the exact character', async () => {
    const hits = async (size: number) =>
      (await floodBy(size)).filter(({ type }) => type === 'bound.hit').length;
    expect([await hits(50_000), await hits(50_001)]).toEqual([0, 1]);
  });

  test('a million bytes of output become a short result and a complete file', async () => {
    const scene = await openPrintScene(
      {
        rules: [
          {
            match: { turn: 0 },
            reply: { tool_use: [{ name: 'Bash', input: { command: './flood.sh' } }] },
          },
          { reply: 'Done.' },
        ],
      },
      { 'flood.sh': '#!/bin/sh\nhead -c 1000000 /dev/zero | tr "\\0" x\n' },
    );
    const rule = ['--allowed-tools', 'Bash(./flood.sh)'];
    const { code } = await scene.run(['Go.', '--session-id', 'flood', ...rule]);
    expect(code).toBe(0);
    const last = scene.bodies().at(-1)?.toString() ?? '';
    expect(last.length).toBeLessThan(60_000);
    const folder = scene.artifacts('flood');
    const sizes = readdirSync(folder).map((name) => statSync(join(folder, name)).size);
    expect(sizes).toContain(1_000_000);
    await scene.close();
  });

  test('an endless output of a background shell is limited, and the limits are reported', async () => {
    const background = { command: './flood.sh', run_in_background: true };
    const look = { task_id: 'bash_1', timeout: 60_000 };
    const scene = await openPrintScene(
      {
        rules: [
          { match: { turn: 0 }, reply: { tool_use: [{ name: 'Bash', input: background }] } },
          { match: { turn: 1 }, reply: { tool_use: [{ name: 'TaskOutput', input: look }] } },
          { reply: 'Done.' },
        ],
      },
      { 'flood.sh': '#!/bin/sh\nhead -c 70000000 /dev/zero | tr "\\0" x\n' },
    );
    const rule = ['--allowed-tools', 'Bash(./flood.sh)'];
    expect(await scene.run(['Go.', '--session-id', 'flood', ...rule])).toMatchObject({ code: 0 });
    const last = scene.bodies().at(-1)?.toString() ?? '';
    expect(last.length).toBeLessThan(90_000);
    expect(last).toContain('69900000 characters before this are no longer in memory');
    expect(last).toContain('it holds only the first 67108864 bytes');
    const [name = ''] = readdirSync(scene.artifacts('flood')).filter((it) => /bash/.test(it));
    expect(statSync(join(scene.artifacts('flood'), name)).size).toBeLessThan(67_200_000);
    await scene.close();
  });

  test('a reader that does not read uses limited memory, and receives the number of dropped events', async () => {
    const hub = new FeedHub(true);
    const items = hub.follow(({ type }) => type === 'run.ended');
    const first = items.next();
    for (let event = 0; event < 30_000; event += 1) {
      hub.emit({ type: 'stream.event', event: { type: 'ping' } });
    }
    hub.emit({ type: 'notice', text: 'kept' });
    await first;
    let seen = 1;
    let notices = '';
    for await (const item of items) {
      seen += 1;
      if (item.type !== 'notice') continue;
      notices += `${item.text} `;
      if (notices.includes('dropped')) break;
    }
    expect(seen).toBeLessThan(10_100);
    expect(notices).toMatch(/kept .*20000 stream events dropped/);
  });
});
