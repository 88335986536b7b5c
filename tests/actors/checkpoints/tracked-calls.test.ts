import { describe, expect, test } from 'vitest';
import type { FileChange, WatchedCall } from '../../../src/protocol/session/checkpoints.js';
import { fakeCheckpoints } from '../../fakes/agents/fake-checkpoints.js';
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

const watched = async (
  tool: string,
  whenReady?: Promise<void>,
  rest: Answer[] = [[says('Done.')]],
) => {
  const model = scriptedModel([calls('c1', tool, { name: 'a' })], ...rest);
  const watches: WatchedCall[] = [];
  const harness = await leadHarness({
    model,
    checkpoints: (record) =>
      fakeCheckpoints(async (call) => {
        watches.push(call);
        await whenReady;
        record({ type: 'files.watched', call: call.call });
        return async () => [CHANGE];
      }),
  });
  await harness.say('Go');
  const recordTypes = async () => (await harness.records()).map(({ type }) => type);
  return { ...harness, watches, recordTypes };
};

describe('a call that writes', () => {
  test('is watched before it starts, and its changes are journaled before its result', async () => {
    const { recordTypes, watches } = await watched('Change');
    expect(watches).toEqual([{ call: 'c1', paths: ['/tmp/a'] }]);
    const types = (await recordTypes()).filter((type) => /^(files|call)\./.test(type));
    expect(types).toEqual([
      'call.ruled',
      'files.watched',
      'call.started',
      'files.changed',
      'call.ended',
    ]);
  });

  test('does not start before its files are saved', async () => {
    const ready = gate();
    const { callLog } = await watched('Change', ready.opened);
    expect(callLog).toEqual([]);
    ready.open();
    await settled();
    expect(callLog).toEqual(['start a', 'end a']);
  });

  test('does not start if the run is interrupted while its files are saved', async () => {
    const ready = gate();
    const { lead, callLog } = await watched('Change', ready.opened, []);
    lead.interrupt();
    ready.open();
    expect(await lead.stopped).toMatchObject({ stop: { reason: 'interrupted' } });
    expect(callLog).toEqual([]);
  });
});

test('a call that only reads is not watched', async () => {
  const { watches, callLog } = await watched('Look');
  expect(watches).toEqual([]);
  expect(callLog).toEqual(['start a', 'end a']);
});
