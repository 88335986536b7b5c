/** Contract of shared task lists, for every store. */
import { describe, expect, test } from 'vitest';
import type {
  NewTask,
  SharedTask,
  SharedTaskList,
  TaskAction,
  TaskChange,
} from '../../../src/protocol/session/shared-task-list.js';

/** Each call of `open` opens another user of the same list. */
export interface WorkBackend {
  open(): SharedTaskList;
}

let acts = 0;
export const act = (by: string): TaskAction => {
  acts += 1;
  return { by, key: `key_${acts}` };
};

const order = (subject: string, more: Partial<NewTask> = {}): NewTask => ({
  subject,
  description: `About ${subject}`,
  ...more,
});

const refused = { code: 'work-refusal' };

export const describeWorkList = (
  name: string,
  openBackend: () => WorkBackend | Promise<WorkBackend>,
): void => {
  const setUp = async (...subjects: readonly string[]) => {
    const backend = await openBackend();
    const work = backend.open();
    for (const subject of subjects) await work.create(order(subject), act('lead'));
    const change = (by: string, id: string, what: TaskChange) => work.update(id, what, act(by));
    const says = async (asked: Promise<unknown>) =>
      asked.then(
        () => 'nothing',
        (error: unknown) => (error as Error).message,
      );
    return { backend, work, change, says };
  };
  const claim: TaskChange = { status: 'in_progress' };
  const facts = (item: SharedTask | undefined) => [item?.status, item?.owner, item?.version];

  describe(`a list of work ${name}`, () => {
    test('is empty at first', async () => {
      const { work, says } = await setUp();
      expect(await work.list()).toEqual([]);
      expect(await work.get('1')).toBeUndefined();
      expect(await says(work.update('1', claim, act('ann')))).toBe(
        'There is no task "1". The list is empty.',
      );
    });

    test('keeps items as they were given, counted from 1, for everybody', async () => {
      const { backend, work } = await setUp('fly');
      const more = { activeForm: 'Landing', metadata: { nest: 4, old: null } };
      const created = await work.create(order('land', more), act('ann'));
      expect(created).toMatchObject({
        id: '2',
        subject: 'land',
        description: 'About land',
        status: 'pending',
        activeForm: 'Landing',
        metadata: { nest: 4 },
        blockedBy: [],
        createdBy: 'ann',
        version: 1,
      });
      expect(created).not.toHaveProperty('owner');
      const other = backend.open();
      expect(await other.get('2')).toEqual(created);
      expect((await other.list()).map(({ id, subject }) => [id, subject])).toEqual([
        ['1', 'fly'],
        ['2', 'land'],
      ]);
    });

    test('lists by number, not by letters', async () => {
      const { work } = await setUp(...Array.from({ length: 11 }, (_, at) => `item ${at}`));
      const ids = (await work.list()).map(({ id }) => id);
      expect(ids).toEqual(['1', '2', '3', '4', '5', '6', '7', '8', '9', '10', '11']);
    });

    test('changes what is said and leaves the rest', async () => {
      const { backend, work, change } = await setUp();
      await work.create(order('fly', { metadata: { a: 1, b: 2 } }), act('lead'));
      await change('ann', '1', { subject: 'fly south', metadata: { b: null, c: 3 } });
      const item = await backend.open().get('1');
      expect(item).toMatchObject({ subject: 'fly south', description: 'About fly', version: 2 });
      expect(item?.metadata).toEqual({ a: 1, c: 3 });
      await change('ann', '1', { description: '', activeForm: 'Flying south' });
      expect(await work.get('1')).toMatchObject({ description: '', activeForm: 'Flying south' });
    });

    test('does not count a change that changes nothing', async () => {
      const { work, change } = await setUp('fly', 'land');
      await change('ann', '1', claim);
      await change('ann', '2', { addBlockedBy: ['1'] });
      const before = await work.list();
      await change('ann', '1', { ...claim, owner: 'ann', subject: 'fly' });
      await change('ann', '1', { addBlocks: ['2', '2'] });
      expect(await work.list()).toEqual(before);
    });

    test('gives an item to whoever starts it first, and tells the others who has it', async () => {
      const { backend, change, says } = await setUp('fly');
      expect(facts(await change('ann', '1', claim))).toEqual(['in_progress', 'ann', 2]);
      expect(facts(await change('ann', '1', claim))).toEqual(['in_progress', 'ann', 2]);
      const late = backend.open();
      const told = 'Task 1 is owned by ann (in_progress), so only ann or the lead can change that.';
      expect(await says(late.update('1', claim, act('bob')))).toBe(`${told} Take another one.`);
      expect(await says(late.update('1', { owner: 'bob' }, act('bob')))).toContain(told);
      expect(await says(late.update('1', { ...claim, owner: 'bob' }, act('bob')))).toContain(told);
      expect(await says(late.update('1', claim, act('lead')))).toBe(
        'Task 1 is owned by ann (in_progress). Name the owner that it is to have, or leave it to ann.',
      );
      expect(facts(await late.get('1'))).toEqual(['in_progress', 'ann', 2]);
    });

    test('gives each item to exactly one of those who want it at once', async () => {
      const { backend, work } = await setUp('a', 'b', 'c', 'd', 'e');
      const names = ['ann', 'bob', 'cyd', 'lead'];
      const won = new Map<string, string[]>();
      const race = async (by: string) => {
        const mine = backend.open();
        for (const { id } of await mine.list()) {
          const got = await mine.update(id, claim, act(by)).catch(() => undefined);
          if (got !== undefined) won.set(id, [...(won.get(id) ?? []), by]);
        }
      };
      await Promise.all(names.map(race));
      for (const { id, owner } of await work.list()) expect(won.get(id)).toEqual([owner]);
    });

    test('lets anybody assign what nobody has, and only its owner start that', async () => {
      const { change, says } = await setUp('fly');
      expect(facts(await change('ann', '1', { owner: 'bob' }))).toEqual(['pending', 'bob', 2]);
      expect(await says(change('ann', '1', claim))).toContain('owned by bob (pending)');
      expect(await says(change('lead', '1', claim))).toContain('owned by bob (pending)');
      expect(facts(await change('bob', '1', claim))).toEqual(['in_progress', 'bob', 3]);
    });

    test('lets the lead hand over what somebody has, and its owner give it back', async () => {
      const { change } = await setUp('fly');
      await change('ann', '1', claim);
      expect(facts(await change('lead', '1', { owner: 'bob' }))).toEqual(['in_progress', 'bob', 3]);
      expect(facts(await change('bob', '1', { owner: '' }))).toEqual(['pending', undefined, 4]);
      await change('cyd', '1', claim);
      const pending = await change('cyd', '1', { status: 'pending' });
      expect(facts(pending)).toEqual(['pending', undefined, 6]);
      expect(facts(await change('lead', '1', { ...claim, owner: 'ann' }))).toEqual([
        'in_progress',
        'ann',
        7,
      ]);
    });

    test.each(['completed', 'deleted', 'pending'] as const)(
      'makes an item %s only for its owner and the lead',
      async (status) => {
        const { work, change, says } = await setUp('fly', 'land');
        for (const id of ['1', '2']) await change('ann', id, claim);
        expect(await says(change('bob', '1', { status }))).toContain('Task 1 is owned by ann');
        expect((await work.get('1'))?.status).toBe('in_progress');
        expect((await change('ann', '1', { status }))?.status ?? 'deleted').toBe(status);
        expect((await change('lead', '2', { status }))?.status ?? 'deleted').toBe(status);
      },
    );

    test('keeps who did what is completed', async () => {
      const { change } = await setUp('fly', 'land');
      await change('ann', '1', claim);
      const done = await change('ann', '1', { status: 'completed' });
      expect(facts(done)).toEqual(['completed', 'ann', 3]);
      expect(facts(await change('bob', '2', { status: 'completed' }))).toEqual([
        'completed',
        undefined,
        2,
      ]);
    });

    test('never gives the number of a deleted item again', async () => {
      const { backend, work, change, says } = await setUp('fly', 'land');
      expect(await change('lead', '2', { status: 'deleted' })).toBeUndefined();
      expect(await work.get('2')).toBeUndefined();
      expect((await backend.open().list()).map(({ id }) => id)).toEqual(['1']);
      expect(await says(change('lead', '2', claim))).toBe(
        'There is no task "2". The tasks are: 1.',
      );
      expect((await backend.open().create(order('rest'), act('ann'))).id).toBe('3');
    });

    test('starts nothing that waits for something else', async () => {
      const { change, says } = await setUp('fly', 'land', 'rest');
      await change('lead', '3', { addBlockedBy: ['1', '2'] });
      await change('ann', '1', claim);
      expect(await says(change('bob', '3', claim))).toBe(
        'Task 3 cannot start yet: it waits for 1 (in_progress, ann), 2 (pending).',
      );
      expect(await says(change('lead', '3', { status: 'completed' }))).toContain(
        'cannot start yet',
      );
      await change('ann', '1', { status: 'completed' });
      expect(await says(change('bob', '3', claim))).toContain('it waits for 2 (pending).');
      await change('lead', '2', { status: 'deleted' });
      expect(facts(await change('bob', '3', claim))).toEqual(['in_progress', 'bob', 3]);
    });

    test('lets what has begun be completed, whatever it is to wait for since', async () => {
      const { change, says } = await setUp('fly', 'land');
      await change('ann', '1', claim);
      expect(await says(change('ann', '2', { ...claim, addBlockedBy: ['1'] }))).toContain(
        'Task 2 cannot start yet',
      );
      await change('ann', '1', { addBlockedBy: ['2'] });
      expect((await change('ann', '1', { status: 'completed' }))?.status).toBe('completed');
    });

    test('has both sides of a dependency', async () => {
      const { work, change } = await setUp('fly', 'land', 'rest');
      await change('lead', '1', { addBlocks: ['2', '3'] });
      expect((await work.list()).map(({ blockedBy }) => blockedBy)).toEqual([[], ['1'], ['1']]);
    });

    test('refuses that items wait for each other, and changes nothing then', async () => {
      const { work, change, says } = await setUp('a', 'b', 'c', 'd');
      await change('lead', '2', { addBlockedBy: ['1'] });
      await change('lead', '3', { addBlockedBy: ['2'] });
      const before = await work.list();
      expect(await says(change('lead', '1', { addBlockedBy: ['4', '3'] }))).toBe(
        'Then task 1 would wait for itself (1 → 3 → 2 → 1), and none of these could start. Nothing was changed.',
      );
      for (const circle of [
        { addBlockedBy: ['1'] },
        { addBlocks: ['1'] },
        { addBlockedBy: ['4'], addBlocks: ['4'] },
      ]) {
        expect(await says(change('lead', '1', circle))).toContain('would wait for itself');
      }
      expect(await says(change('lead', '3', { addBlocks: ['1'] }))).toContain('wait for itself');
      expect(await work.list()).toEqual(before);
    });

    test('refuses dependencies on what is not there', async () => {
      const { work, change, says } = await setUp('a', 'b');
      for (const wrong of [{ addBlocks: ['2', '9'] }, { addBlockedBy: ['2', '9'] }]) {
        expect(await says(change('lead', '1', wrong))).toBe(
          'There is no task "9". The tasks are: 1, 2.',
        );
      }
      expect((await work.list()).map(({ version }) => version)).toEqual([1, 1]);
    });

    test('lets only one of two items wait for the other, whoever asks at once', async () => {
      const { backend, work } = await setUp('a', 'b');
      const asked = await Promise.allSettled([
        backend.open().update('1', { addBlockedBy: ['2'] }, act('ann')),
        backend.open().update('2', { addBlockedBy: ['1'] }, act('bob')),
      ]);
      expect(asked.map(({ status }) => status).sort()).toEqual(['fulfilled', 'rejected']);
      expect((await work.list()).flatMap(({ blockedBy }) => blockedBy)).toHaveLength(1);
    });

    test('does an act once, however often it is asked for', async () => {
      const { backend, work, change } = await setUp();
      const first = { by: 'ann', key: 'ann/c1' };
      expect(await work.wasDone(first.key)).toBe(false);
      const item = await work.create(order('fly'), first);
      expect(await backend.open().wasDone(first.key)).toBe(true);
      expect(await backend.open().create(order('fly'), first)).toEqual(item);
      const start = { by: 'ann', key: 'ann/c2' };
      await work.update('1', claim, start);
      await change('ann', '1', { status: 'completed' });
      expect(facts(await backend.open().update('1', claim, start))).toEqual([
        'completed',
        'ann',
        3,
      ]);
      const removal = { by: 'ann', key: 'ann/c3' };
      await work.update('1', { status: 'deleted' }, removal);
      expect(await backend.open().update('1', { status: 'deleted' }, removal)).toBeUndefined();
      expect(await work.list()).toEqual([]);
    });

    test.each<[string, Partial<NewTask>, string]>([
      ['subject', { subject: 'x'.repeat(201) }, 'The subject has 201 characters; 200 is the most.'],
      ['blank subject', { subject: ' \n' }, 'The subject is empty.'],
      ['description', { description: 'x'.repeat(10_001) }, '10000 is the most.'],
      ['active form', { activeForm: 'x'.repeat(201) }, 'The activeForm has 201 characters'],
      ['metadata', { metadata: { x: 'x'.repeat(4_000) } }, 'The metadata has 4008 characters'],
    ])('refuses too much of a %s', async (_, more, why) => {
      const { work, says } = await setUp('fly');
      expect(await says(work.create(order('land', more), act('ann')))).toContain(why);
      expect(await says(work.update('1', more, act('ann')))).toContain(why);
      expect(await work.list()).toHaveLength(1);
      expect((await work.get('1'))?.version).toBe(1);
    });

    test('refuses an owner whose name goes on and on', async () => {
      const { change } = await setUp('fly');
      await expect(change('ann', '1', { owner: 'x'.repeat(101) })).rejects.toMatchObject(refused);
    });

    test('refuses an item that would wait for too many others', async () => {
      const { work, change, says } = await setUp('fly');
      const others = Array.from({ length: 101 }, (_, at) => String(at + 2));
      for (const id of others) await work.create(order(id), act('lead'));
      expect(await says(change('lead', '1', { addBlockedBy: others }))).toBe(
        'Task 1 would wait for 101 others; 100 is the most.',
      );
      await change('lead', '1', { addBlockedBy: others.slice(1) });
      expect((await work.get('1'))?.blockedBy).toHaveLength(100);
    });

    test('refuses more items than there may be, until some are deleted', async () => {
      const { work, change, says } = await setUp();
      for (let at = 0; at < 1_000; at += 1) await work.create(order(`${at}`), act('lead'));
      expect(await says(work.create(order('more'), act('ann')))).toBe(
        'The list has 1000 tasks, which is the most. Delete those that nobody needs any more.',
      );
      expect(await says(change('lead', '1001', claim))).toContain('The tasks are: 1, 2,');
      expect(await says(change('lead', '1001', claim))).toContain('40 and 960 more.');
      await change('lead', '7', { status: 'deleted' });
      expect((await work.create(order('more'), act('ann'))).id).toBe('1001');
    });
  });
};
