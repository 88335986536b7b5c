import { describe, expect, test } from 'vitest';
import type { FileChange, WatchedCall } from '../../../src/protocol/session/checkpoints.js';
import {
  type Answer,
  calls,
  gate,
  says,
  scriptedModel,
} from '../../fakes/agents/scripted-model.js';
import { settled } from '../../fakes/virtual-clock.js';
import { leadHarness } from '../session/lead-harness.js';

const CHANGE: FileChange = {
  path: '/tmp/a',
  before: { kind: 'absent' },
  after: { kind: 'file', digest: 'd', mode: 0o644 },
};

const watched = async (tool: string, ready?: Promise<void>, rest: Answer[] = [[says('Done.')]]) => {
  const model = scriptedModel([calls('c1', tool, { name: 'a' })], ...rest);
  const watches: WatchedCall[] = [];
  const harness = await leadHarness({
    model,
    checkpoints: (record) => ({
      async watch(call) {
        watches.push(call);
        await ready;
        record({ type: 'files.watched', call: call.call });
        return { changes: async () => [CHANGE] };
      },
      settle: async () => {},
    }),
  });
  await harness.say('Go');
  const types = async () => (await harness.records()).map(({ type }) => type);
  return { ...harness, watches, types };
};

describe('a call that writes', () => {
  test('is watched before it starts, and what it changed is kept before its result', async () => {
    const { types, watches } = await watched('Change');
    expect(watches).toEqual([{ call: 'c1', paths: ['/tmp/a'] }]);
    const story = (await types()).filter((type) => /^(files|call)\./.test(type));
    expect(story).toEqual([
      'call.ruled',
      'files.watched',
      'call.started',
      'files.changed',
      'call.ended',
    ]);
  });

  test('does not start before its files are kept', async () => {
    const door = gate();
    const { callLog } = await watched('Change', door.opened);
    expect(callLog).toEqual([]);
    door.open();
    await settled();
    expect(callLog).toEqual(['start a', 'end a']);
  });

  test('never starts when it is interrupted while they are being kept', async () => {
    const door = gate();
    const { lead, callLog } = await watched('Change', door.opened, []);
    lead.interrupt();
    door.open();
    expect(await lead.stopped).toMatchObject({ stop: { reason: 'interrupted' } });
    expect(callLog).toEqual([]);
  });
});

test('a call that only reads is not watched', async () => {
  const { watches, callLog } = await watched('Look');
  expect(watches).toEqual([]);
  expect(callLog).toEqual(['start a', 'end a']);
});
