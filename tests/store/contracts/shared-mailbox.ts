/** Contract of mailboxes that processes share while some of them are killed. */
import { expect, test } from 'vitest';
import type { Inbox, Mailbox } from '../../../src/protocol/session/mailbox.js';
import { numbers, type Worker } from '../child-program.js';

export interface SharedMail {
  readonly box: Mailbox;
  /** Starts another process, which sends and reads on command. */
  start(): Promise<Worker>;
}

export const nextOf = async (inbox: Inbox): Promise<string> =>
  (await inbox.next(AbortSignal.timeout(30_000)))?.id ?? 'closed';

/** For a `describe` of processes that share a mailbox. */
export const testSharedMailbox = (setUp: () => Promise<SharedMail>): void => {
  test('lose no confirmed letter of a killed sender', async () => {
    const { box, start } = await setUp();
    const sender = await start();
    sender.tell('send x 900');
    const sent = [await sender.answer(), await sender.answer(), await sender.answer()];
    await sender.kill();
    await box.send({ id: 'last', from: 'ann', to: 'bob', sentAt: 1, body: null });
    const inbox = await box.open('bob');
    const received: string[] = [];
    for (let id = await nextOf(inbox); id !== 'last'; id = await nextOf(inbox)) received.push(id);
    expect(received).toEqual(numbers(received.length).map((number) => `x_${number}`));
    expect(received.slice(0, 3)).toEqual(sent);
    expect(await box.deadLetters()).toEqual([]);
  });

  test('receive the unacknowledged letters of a killed reader again', async () => {
    const { box, start } = await setUp();
    const sender = await start();
    sender.tell('send x 5');
    for (const number of numbers(5)) expect(await sender.answer()).toBe(`x_${number}`);
    const reader = await start();
    reader.tell('read 4 2');
    expect(JSON.parse(await reader.answer())).toEqual(['x_1', 'x_2', 'x_3', 'x_4']);
    await reader.kill();
    const inbox = await box.open('bob');
    const again = [await nextOf(inbox), await nextOf(inbox), await nextOf(inbox)];
    expect(again).toEqual(['x_3', 'x_4', 'x_5']);
  });
};
