/** Contract of mailboxes, for every store. */
import { describe, expect, onTestFinished, test } from 'vitest';
import {
  MAX_LETTER_LENGTH,
  MAX_UNREAD_LETTERS,
  type Mailbox,
  type MailLetter,
} from '../../../src/protocol/session/mailbox.js';

/** Each call of `sender` opens another user of the same mailbox. */
export interface MailBackend {
  sender(): Mailbox;
}

const never = new AbortController().signal;

export const mail = (id: string, change: Partial<MailLetter> = {}): MailLetter => ({
  id,
  from: 'ann',
  to: 'bob',
  sentAt: 1_000,
  body: { text: `letter ${id}` },
  ...change,
});

export const describeMailbox = (
  name: string,
  open: () => MailBackend | Promise<MailBackend>,
): void => {
  const setUp = async () => {
    const backend = await open();
    const box = backend.sender();
    onTestFinished(() => box.close());
    return { backend, box, bob: await box.open('bob') };
  };
  /** Returns all letters that the next reader receives before a final letter. */
  const restOf = async (box: Mailbox, address = 'bob') => {
    const inbox = await box.open(address);
    await box.send(mail('l_last', { to: address }));
    const ids: string[] = [];
    for (;;) {
      const letter = await inbox.next(never);
      if (letter === undefined || letter.id === 'l_last') break;
      ids.push(letter.id);
    }
    await inbox.acknowledge('l_last');
    await inbox.close();
    return ids;
  };

  describe(`letters ${name}`, () => {
    test('arrive as they were sent', async () => {
      const { box, bob } = await setUp();
      const body = { text: 'Grüße 🦢\u2028', list: [1, null, { deep: true }] };
      await box.send(mail('l_1', { body }));
      expect(await bob.next(never)).toEqual(mail('l_1', { body }));
    });

    test('wait for a reader that opens later', async () => {
      const { backend, box } = await setUp();
      await backend.sender().send(mail('l_1', { to: 'carol' }));
      const carol = await box.open('carol');
      expect(await carol.next(never)).toEqual(mail('l_1', { to: 'carol' }));
    });

    test('wake a reader that waits', async () => {
      const { box, bob } = await setUp();
      const waited = bob.next(never);
      await box.send(mail('l_1'));
      expect((await waited)?.id).toBe('l_1');
    });

    test('arrive in the order of sending, also from a sender that does not await each send', async () => {
      const { box, bob } = await setUp();
      const ids = Array.from({ length: 40 }, (_, index) => `l_${index}`);
      await Promise.all(ids.map((id) => box.send(mail(id))));
      const received: (string | undefined)[] = [];
      for (const _ of ids) received.push((await bob.next(never))?.id);
      expect(received).toEqual(ids);
    });

    test('keep the order of each sender', async () => {
      const { backend, bob } = await setUp();
      const send = async (from: string) => {
        const box = backend.sender();
        for (let count = 0; count < 10; count += 1)
          await box.send(mail(`${from}${count}`, { from }));
      };
      await Promise.all([send('x'), send('y')]);
      const received: string[] = [];
      for (let count = 0; count < 20; count += 1) received.push((await bob.next(never))?.id ?? '');
      const ofSender = (from: string) => received.filter((id) => id.startsWith(from));
      expect(ofSender('x')).toEqual(Array.from({ length: 10 }, (_, count) => `x${count}`));
      expect(ofSender('y')).toEqual(Array.from({ length: 10 }, (_, count) => `y${count}`));
    });

    test('go to their address only', async () => {
      const { box, bob } = await setUp();
      await box.send(mail('l_1', { to: 'carol' }));
      await box.send(mail('l_2'));
      expect((await bob.next(never))?.id).toBe('l_2');
    });

    test('arrive once per reader, and again at the next reader until they are acknowledged', async () => {
      const { box, bob } = await setUp();
      for (const id of ['l_1', 'l_2', 'l_3']) await box.send(mail(id));
      expect((await bob.next(never))?.id).toBe('l_1');
      expect((await bob.next(never))?.id).toBe('l_2');
      await bob.acknowledge('l_1');
      await bob.close();
      expect(await restOf(box)).toEqual(['l_2', 'l_3']);
    });

    test('can be acknowledged twice, and unknown letters too', async () => {
      const { box, bob } = await setUp();
      await box.send(mail('l_1'));
      await bob.next(never);
      await bob.acknowledge('l_1');
      await bob.acknowledge('l_1');
      await bob.acknowledge('l_9');
      await bob.moveToDeadLetters('l_9', 'no reason');
      expect(await box.deadLetters()).toEqual([]);
      await bob.close();
      expect(await restOf(box)).toEqual([]);
    });

    test('that are sent again while unread arrive once', async () => {
      const { box, backend, bob } = await setUp();
      await box.send(mail('l_1'));
      await backend.sender().send(mail('l_1'));
      await box.send(mail('l_2'));
      expect((await bob.next(never))?.id).toBe('l_1');
      expect((await bob.next(never))?.id).toBe('l_2');
    });

    test('that were sent twice while unread are removed by a single acknowledgement', async () => {
      const { box, backend, bob } = await setUp();
      await box.send(mail('l_1'));
      await backend.sender().send(mail('l_1'));
      await bob.next(never);
      await bob.acknowledge('l_1');
      await box.send(mail('l_2'));
      expect((await bob.next(never))?.id).toBe('l_2');
    });

    test('that are sent again after acknowledgement arrive again', async () => {
      const { box, bob } = await setUp();
      for (let round = 0; round < 2; round += 1) {
        await box.send(mail('l_1'));
        expect((await bob.next(never))?.id).toBe('l_1');
        await bob.acknowledge('l_1');
      }
    });

    test('with the same id arrive at both of two addresses', async () => {
      const { box, bob } = await setUp();
      const carol = await box.open('carol');
      for (const to of ['bob', 'carol']) await box.send(mail('l_1', { to }));
      expect((await bob.next(never))?.to).toBe('bob');
      expect((await carol.next(never))?.to).toBe('carol');
    });

    test('that are dead are visible to all users', async () => {
      const { box, backend, bob } = await setUp();
      await box.send(mail('l_1'));
      await bob.next(never);
      await bob.moveToDeadLetters('l_1', 'Nobody.');
      expect(await backend.sender().deadLetters()).toMatchObject([
        { id: 'l_1', reason: 'Nobody.' },
      ]);
    });

    test('that are dead are kept with the reason, and do not arrive again', async () => {
      const { box, bob } = await setUp();
      await box.send(mail('l_1'));
      await box.send(mail('l_2'));
      await bob.next(never);
      await bob.moveToDeadLetters('l_1', 'There is no agent "x".');
      const dead = [{ ...mail('l_1'), reason: 'There is no agent "x".' }];
      expect(await box.deadLetters()).toEqual(dead);
      await bob.close();
      expect(await restOf(box)).toEqual(['l_2']);
      expect(await box.deadLetters()).toEqual(dead);
    });

    test.each([
      '',
      '.',
      '..',
      '../up',
      'a/b',
      'a\\b',
      '.hidden',
      'a b',
      '-rf',
      'ü',
      'a\0b',
      'a\nb',
      'x'.repeat(129),
    ])('cannot be addressed to %j', async (to) => {
      const { box } = await setUp();
      await expect(box.send(mail('l_1', { to }))).rejects.toMatchObject({ code: 'usage' });
      await expect(box.open(to)).rejects.toMatchObject({ code: 'usage' });
    });

    test.each([{ id: '' }, { from: '' }])(
      'are rejected with an empty field: %j',
      async (change) => {
        const { box } = await setUp();
        await expect(box.send(mail('l_1', change))).rejects.toThrow('needs an id and a sender');
      },
    );

    test('are rejected above the maximum length', async () => {
      const { box, bob } = await setUp();
      const frame = JSON.stringify(mail('l_1', { body: '' })).length;
      const body = 'x'.repeat(MAX_LETTER_LENGTH - frame);
      await box.send(mail('l_1', { body }));
      expect((await bob.next(never))?.body).toBe(body);
      const tooLong = box.send(mail('l_2', { body: `${body}x` }));
      await expect(tooLong).rejects.toThrow(`has ${MAX_LETTER_LENGTH + 1} bytes`);
      await expect(tooLong).rejects.toMatchObject({ code: 'usage' });
    });

    test('are rejected above the maximum number of unread letters, until some are read', async () => {
      const { box, bob } = await setUp();
      const ids = Array.from({ length: MAX_UNREAD_LETTERS }, (_, index) => `l_${index}`);
      await Promise.all(ids.map((id) => box.send(mail(id))));
      await expect(box.send(mail('l_more'))).rejects.toThrow('1000 letters wait for bob already');
      await bob.next(never);
      await bob.acknowledge('l_0');
      await box.send(mail('l_more'));
      await box.send(mail('l_1', { to: 'carol' }));
    });

    test('have a single reader at a time', async () => {
      const { box, bob } = await setUp();
      await expect(box.open('bob')).rejects.toThrow('The mailbox of bob has a reader already');
      await bob.close();
      await expect(box.open('bob')).resolves.toBeDefined();
    });
  });

  describe(`a reader of letters ${name}`, () => {
    test('receives undefined after an abort, and loses no letter', async () => {
      const { box, bob } = await setUp();
      const controller = new AbortController();
      const waited = bob.next(controller.signal);
      controller.abort();
      expect(await waited).toBeUndefined();
      expect(await bob.next(AbortSignal.abort())).toBeUndefined();
      await box.send(mail('l_1'));
      expect(await bob.next(AbortSignal.abort())).toBeUndefined();
      expect((await bob.next(never))?.id).toBe('l_1');
    });

    test('receives undefined when its inbox or the mailbox is closed', async () => {
      const { box, bob } = await setUp();
      const waited = bob.next(never);
      await bob.close();
      expect(await waited).toBeUndefined();
      const again = (await box.open('bob')).next(never);
      await box.close();
      expect(await again).toBeUndefined();
    });

    test('may have two open waits, and each letter resolves one of them', async () => {
      const { box, bob } = await setUp();
      const both = Promise.all([bob.next(never), bob.next(never)]);
      await box.send(mail('l_1'));
      await box.send(mail('l_2'));
      expect(new Set((await both).map((letter) => letter?.id))).toEqual(new Set(['l_1', 'l_2']));
    });
  });
};
