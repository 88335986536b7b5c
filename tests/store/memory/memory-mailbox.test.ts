import { describe, expect, test } from 'vitest';
import { MemoryMailbox } from '../../../src/store/memory/memory-mailbox.js';
import { describeMailbox, mail } from '../contracts/mailbox.js';

describeMailbox('in memory', () => {
  const box = new MemoryMailbox();
  return { sender: () => box };
});

describe('dead letters in memory', () => {
  test('are limited to 1000 per address, and the oldest are dropped first', async () => {
    const box = new MemoryMailbox();
    for (const [to, count] of [
      ['bob', 1_001],
      ['carol', 1],
    ] as const) {
      const inbox = await box.open(to);
      for (let number = 1; number <= count; number += 1) {
        await box.send(mail(`${to}_${number}`, { to }));
        await inbox.next(new AbortController().signal);
        await inbox.moveToDeadLetters(`${to}_${number}`, 'Nobody.');
      }
    }
    const ids = (await box.deadLetters()).map(({ id }) => id);
    expect(ids).toHaveLength(1_001);
    expect([ids[0], ids.at(-1)]).toEqual(['bob_2', 'carol_1']);
  });
});
