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

describe('a command, whose changes are determined after its end', () => {
  const MESSAGE = [calls('c1', 'Change', { name: 'a' }), calls('c2', 'Change', { name: 'b' })];
  const REST = [[calls('c3', 'Change', { name: 'c' })], [says('Done.')]];

  /** Runs three calls in two messages. The changes of each are known when its gate opens. */
  const commands = async (gates: readonly ReturnType<typeof gate>[], rest: Answer[] = REST) => {
    const model = scriptedModel(MESSAGE, ...rest);
    let ended = 0;
    const harness = await leadHarness({
      model,
      checkpoints: (record) =>
        fakeCheckpoints(async ({ call }) => {
          record({ type: 'files.watched', call });
          return async () => {
            ended += 1;
            await gates[ended - 1]?.opened;
            return ended === 1 ? [CHANGE] : [];
          };
        }, true),
    });
    const types = async () =>
      (await harness.records()).flatMap((record) =>
        /^(files|assistant|run|call\.(started|ended))/.test(record.type)
          ? [`${record.type}${'call' in record ? ` ${record.call}` : ''}`]
          : [],
      );
    await harness.say('Go');
    return { ...harness, types };
  };

  const [FIRST, SECOND] = [
    ['run.started', 'assistant.received', 'files.watched c1', 'call.started c1', 'call.ended c1'],
    ['files.changed c1', 'files.watched c2', 'call.started c2', 'call.ended c2'],
  ];

  test('are journaled before the next effect, the next answer and the end of the run', async () => {
    const { types } = await commands([]);
    expect(await types()).toEqual([
      ...FIRST,
      ...SECOND,
      'files.changed c2',
      'assistant.received',
      'files.watched c3',
      'call.started c3',
      'call.ended c3',
      'files.changed c3',
      'assistant.received',
      'run.ended',
    ]);
  });

  test('hold up the next effect and the next answer, but not the result', async () => {
    const [first, second] = [gate(), gate()];
    const { types, callLog } = await commands([first, second]);
    expect(await types()).toEqual(FIRST);
    expect(callLog).toEqual(['start a', 'end a']);
    first.open();
    await settled();
    expect(await types()).toEqual([...FIRST, ...SECOND]);
    second.open();
    await settled();
    expect((await types()).at(-1)).toBe('run.ended');
  });

  test('are journaled before the end of a run that is interrupted', async () => {
    const first = gate();
    const { types, lead } = await commands([first], []);
    lead.interrupt();
    await settled();
    expect(await types()).toEqual(FIRST);
    first.open();
    expect(await lead.stopped).toMatchObject({ stop: { reason: 'interrupted' } });
    expect((await types()).slice(FIRST.length, FIRST.length + 1)).toEqual(['files.changed c1']);
    expect((await types()).at(-1)).toBe('run.ended');
  });
});

test('a call that only reads is not watched', async () => {
  const { watches, callLog } = await watched('Look');
  expect(watches).toEqual([]);
  expect(callLog).toEqual(['start a', 'end a']);
});
