import { expect, test } from 'vitest';
import { LossCheck, type LossCheckDeps } from '../../../src/actors/remote/loss-check.js';
import type { JournalRecord } from '../../../src/protocol/session/journal-record.js';

const record = (seq: number, type: string) =>
  ({ v: 1, seq, ts: 1, epoch: 1, type, agent: `a_${seq}` }) as unknown as JournalRecord;

test('an agent that writes during the check has lost no records', async () => {
  const entry = (id: string) => ({
    tag: { id, parent: 'a_lead' },
    status: 'running',
    counted: 2,
    lastActive: 1,
  });
  const [busy, idle] = [entry('a_busy'), entry('a_idle')];
  const journals = new Map([
    ['a_busy', [record(1, 'agent.created'), record(2, 'epoch.began')]],
    ['a_idle', [record(1, 'agent.created'), record(2, 'epoch.began')]],
  ]);
  const ended: string[] = [];
  const deps = {
    store: {
      async readJournal(_: string, id: string) {
        const records = [...(journals.get(id) ?? [])];
        // Another process writes a record, and this process reads its event before it continues.
        if (id === 'a_busy') {
          busy.counted += 1;
          journals.get(id)?.push(record(busy.counted, 'turn.started'));
        }
        return { records, damage: [] };
      },
    },
    session: {
      meta: { id: 's_1' },
      async journal(id: string) {
        ended.push(id);
        return { past: { records: [], damage: [] } };
      },
      closeJournal: async () => {},
    },
    lead: { deps: { journal: { written: () => undefined } } },
    registry: { all: () => [busy, idle], parentOf: () => undefined },
    dispatch: { handedOver: async () => new Map([['a_busy', 'w_1']]) },
    isRemote: () => true,
    requeue: async () => {},
  } as unknown as LossCheckDeps;
  const check = new LossCheck(deps);
  expect(await check.run(false)).toBe(true);
  expect(ended).toEqual([]);
});
