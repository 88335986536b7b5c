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
export interface TaskListBackend {
  open(): SharedTaskList;
}

let actions = 0;
export const actionBy = (by: string): TaskAction => {
  actions += 1;
  return { by, key: `key_${actions}` };
};

const newTask = (subject: string, more: Partial<NewTask> = {}): NewTask => ({
  subject,
  description: `About ${subject}`,
  ...more,
});

const refused = { code: 'work-refusal' };

export const describeTaskList = (
  name: string,
  openBackend: () => TaskListBackend | Promise<TaskListBackend>,
): void => {
  const setUp = async (...subjects: readonly string[]) => {
    const backend = await openBackend();
    const tasks = backend.open();
    for (const subject of subjects) await tasks.create(newTask(subject), actionBy('lead'));
    const change = (by: string, id: string, to: TaskChange) => tasks.update(id, to, actionBy(by));
    const errorOf = async (result: Promise<unknown>) =>
      result.then(
        () => 'no error',
        (error: unknown) => (error as Error).message,
      );
    return { backend, tasks, change, errorOf };
  };
  const claim: TaskChange = { status: 'in_progress' };
  const stateOf = (task: SharedTask | undefined) => [task?.status, task?.owner, task?.version];

  describe(`a shared task list ${name}`, () => {
    test('is empty at first', async () => {
      const { tasks, errorOf } = await setUp();
      expect(await tasks.list()).toEqual([]);
      expect(await tasks.get('1')).toBeUndefined();
      expect(await errorOf(tasks.update('1', claim, actionBy('ann')))).toBe(
        'There is no task "1". The list is empty.',
      );
    });

    test('keeps tasks as they were created, numbered from 1, for all users', async () => {
      const { backend, tasks } = await setUp('fly');
      const more = { activeForm: 'Landing', metadata: { nest: 4, old: null } };
      const created = await tasks.create(newTask('land', more), actionBy('ann'));
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

    test('sorts tasks by number, not alphabetically', async () => {
      const { tasks } = await setUp(...Array.from({ length: 11 }, (_, at) => `item ${at}`));
      const ids = (await tasks.list()).map(({ id }) => id);
      expect(ids).toEqual(['1', '2', '3', '4', '5', '6', '7', '8', '9', '10', '11']);
    });

    test('changes the given fields and keeps the others', async () => {
      const { backend, tasks, change } = await setUp();
      await tasks.create(newTask('fly', { metadata: { a: 1, b: 2 } }), actionBy('lead'));
      await change('ann', '1', { subject: 'fly south', metadata: { b: null, c: 3 } });
      const task = await backend.open().get('1');
      expect(task).toMatchObject({ subject: 'fly south', description: 'About fly', version: 2 });
      expect(task?.metadata).toEqual({ a: 1, c: 3 });
      await change('ann', '1', { description: '', activeForm: 'Flying south' });
      expect(await tasks.get('1')).toMatchObject({ description: '', activeForm: 'Flying south' });
    });

    test('does not count a change without a difference', async () => {
      const { tasks, change } = await setUp('fly', 'land');
      await change('ann', '1', claim);
      await change('ann', '2', { addBlockedBy: ['1'] });
      const before = await tasks.list();
      await change('ann', '1', { ...claim, owner: 'ann', subject: 'fly' });
      await change('ann', '1', { addBlocks: ['2', '2'] });
      expect(await tasks.list()).toEqual(before);
    });

    test('gives a task to the first agent that starts it, and refuses others with the owner', async () => {
      const { backend, change, errorOf } = await setUp('fly');
      expect(stateOf(await change('ann', '1', claim))).toEqual(['in_progress', 'ann', 2]);
      expect(stateOf(await change('ann', '1', claim))).toEqual(['in_progress', 'ann', 2]);
      const late = backend.open();
      const refusal =
        'Task 1 is owned by ann (in_progress), so only ann or the lead can change that.';
      expect(await errorOf(late.update('1', claim, actionBy('bob')))).toBe(
        `${refusal} Take another one.`,
      );
      expect(await errorOf(late.update('1', { owner: 'bob' }, actionBy('bob')))).toContain(refusal);
      expect(
        await errorOf(late.update('1', { ...claim, owner: 'bob' }, actionBy('bob'))),
      ).toContain(refusal);
      expect(await errorOf(late.update('1', claim, actionBy('lead')))).toBe(
        'Task 1 is owned by ann (in_progress). Name its new owner, or leave it to ann.',
      );
      expect(stateOf(await late.get('1'))).toEqual(['in_progress', 'ann', 2]);
    });

    test('gives each task to exactly one of several agents that start it at once', async () => {
      const { backend, tasks } = await setUp('a', 'b', 'c', 'd', 'e');
      const names = ['ann', 'bob', 'cyd', 'lead'];
      const won = new Map<string, string[]>();
      const race = async (by: string) => {
        const own = backend.open();
        for (const { id } of await own.list()) {
          const got = await own.update(id, claim, actionBy(by)).catch(() => undefined);
          if (got !== undefined) won.set(id, [...(won.get(id) ?? []), by]);
        }
      };
      await Promise.all(names.map(race));
      for (const { id, owner } of await tasks.list()) expect(won.get(id)).toEqual([owner]);
    });

    test('lets any agent assign a free task, and only its owner start it', async () => {
      const { change, errorOf } = await setUp('fly');
      expect(stateOf(await change('ann', '1', { owner: 'bob' }))).toEqual(['pending', 'bob', 2]);
      expect(await errorOf(change('ann', '1', claim))).toContain('owned by bob (pending)');
      expect(await errorOf(change('lead', '1', claim))).toContain('owned by bob (pending)');
      expect(stateOf(await change('bob', '1', claim))).toEqual(['in_progress', 'bob', 3]);
    });

    test('lets the lead change the owner of a task, and the owner give it up', async () => {
      const { change } = await setUp('fly');
      await change('ann', '1', claim);
      expect(stateOf(await change('lead', '1', { owner: 'bob' }))).toEqual([
        'in_progress',
        'bob',
        3,
      ]);
      expect(stateOf(await change('bob', '1', { owner: '' }))).toEqual(['pending', undefined, 4]);
      await change('cyd', '1', claim);
      const pending = await change('cyd', '1', { status: 'pending' });
      expect(stateOf(pending)).toEqual(['pending', undefined, 6]);
      expect(stateOf(await change('lead', '1', { ...claim, owner: 'ann' }))).toEqual([
        'in_progress',
        'ann',
        7,
      ]);
    });

    test.each(['completed', 'deleted', 'pending'] as const)(
      'sets the status %s only for the owner of a task and the lead',
      async (status) => {
        const { tasks, change, errorOf } = await setUp('fly', 'land');
        for (const id of ['1', '2']) await change('ann', id, claim);
        expect(await errorOf(change('bob', '1', { status }))).toContain('Task 1 is owned by ann');
        expect((await tasks.get('1'))?.status).toBe('in_progress');
        expect((await change('ann', '1', { status }))?.status ?? 'deleted').toBe(status);
        expect((await change('lead', '2', { status }))?.status ?? 'deleted').toBe(status);
      },
    );

    test('keeps the owner of a completed task', async () => {
      const { change } = await setUp('fly', 'land');
      await change('ann', '1', claim);
      const done = await change('ann', '1', { status: 'completed' });
      expect(stateOf(done)).toEqual(['completed', 'ann', 3]);
      expect(stateOf(await change('bob', '2', { status: 'completed' }))).toEqual([
        'completed',
        undefined,
        2,
      ]);
    });

    test('never reuses the number of a deleted task', async () => {
      const { backend, tasks, change, errorOf } = await setUp('fly', 'land');
      expect(await change('lead', '2', { status: 'deleted' })).toBeUndefined();
      expect(await tasks.get('2')).toBeUndefined();
      expect((await backend.open().list()).map(({ id }) => id)).toEqual(['1']);
      expect(await errorOf(change('lead', '2', claim))).toBe(
        'There is no task "2". The tasks are: 1.',
      );
      expect((await backend.open().create(newTask('rest'), actionBy('ann'))).id).toBe('3');
    });

    test('does not start a task that waits for open tasks', async () => {
      const { change, errorOf } = await setUp('fly', 'land', 'rest');
      await change('lead', '3', { addBlockedBy: ['1', '2'] });
      await change('ann', '1', claim);
      expect(await errorOf(change('bob', '3', claim))).toBe(
        'Task 3 cannot start yet: it waits for 1 (in_progress, ann), 2 (pending).',
      );
      expect(await errorOf(change('lead', '3', { status: 'completed' }))).toContain(
        'cannot start yet',
      );
      await change('ann', '1', { status: 'completed' });
      expect(await errorOf(change('bob', '3', claim))).toContain('it waits for 2 (pending).');
      await change('lead', '2', { status: 'deleted' });
      expect(stateOf(await change('bob', '3', claim))).toEqual(['in_progress', 'bob', 3]);
    });

    test('completes a started task although a dependency was added later', async () => {
      const { change, errorOf } = await setUp('fly', 'land');
      await change('ann', '1', claim);
      expect(await errorOf(change('ann', '2', { ...claim, addBlockedBy: ['1'] }))).toContain(
        'Task 2 cannot start yet',
      );
      await change('ann', '1', { addBlockedBy: ['2'] });
      expect((await change('ann', '1', { status: 'completed' }))?.status).toBe('completed');
    });

    test('adds a dependency from the side of the blocking task', async () => {
      const { tasks, change } = await setUp('fly', 'land', 'rest');
      await change('lead', '1', { addBlocks: ['2', '3'] });
      expect((await tasks.list()).map(({ blockedBy }) => blockedBy)).toEqual([[], ['1'], ['1']]);
    });

    test('refuses a cycle of dependencies without a change', async () => {
      const { tasks, change, errorOf } = await setUp('a', 'b', 'c', 'd');
      await change('lead', '2', { addBlockedBy: ['1'] });
      await change('lead', '3', { addBlockedBy: ['2'] });
      const before = await tasks.list();
      expect(await errorOf(change('lead', '1', { addBlockedBy: ['4', '3'] }))).toBe(
        'Then task 1 would wait for itself (1 → 3 → 2 → 1), and none of these could start. Nothing was changed.',
      );
      for (const circle of [
        { addBlockedBy: ['1'] },
        { addBlocks: ['1'] },
        { addBlockedBy: ['4'], addBlocks: ['4'] },
      ]) {
        expect(await errorOf(change('lead', '1', circle))).toContain('would wait for itself');
      }
      expect(await errorOf(change('lead', '3', { addBlocks: ['1'] }))).toContain('wait for itself');
      expect(await tasks.list()).toEqual(before);
    });

    test('refuses dependencies on missing tasks', async () => {
      const { tasks, change, errorOf } = await setUp('a', 'b');
      for (const wrong of [{ addBlocks: ['2', '9'] }, { addBlockedBy: ['2', '9'] }]) {
        expect(await errorOf(change('lead', '1', wrong))).toBe(
          'There is no task "9". The tasks are: 1, 2.',
        );
      }
      expect((await tasks.list()).map(({ version }) => version)).toEqual([1, 1]);
    });

    test('accepts only one of two opposite dependencies that are added at once', async () => {
      const { backend, tasks } = await setUp('a', 'b');
      const outcomes = await Promise.allSettled([
        backend.open().update('1', { addBlockedBy: ['2'] }, actionBy('ann')),
        backend.open().update('2', { addBlockedBy: ['1'] }, actionBy('bob')),
      ]);
      expect(outcomes.map(({ status }) => status).sort()).toEqual(['fulfilled', 'rejected']);
      expect((await tasks.list()).flatMap(({ blockedBy }) => blockedBy)).toHaveLength(1);
    });

    test('performs a repeated action once', async () => {
      const { backend, tasks, change } = await setUp();
      const first = { by: 'ann', key: 'ann/c1' };
      expect(await tasks.wasDone(first.key)).toBe(false);
      const task = await tasks.create(newTask('fly'), first);
      expect(await backend.open().wasDone(first.key)).toBe(true);
      expect(await backend.open().create(newTask('fly'), first)).toEqual(task);
      const start = { by: 'ann', key: 'ann/c2' };
      await tasks.update('1', claim, start);
      await change('ann', '1', { status: 'completed' });
      expect(stateOf(await backend.open().update('1', claim, start))).toEqual([
        'completed',
        'ann',
        3,
      ]);
      const removal = { by: 'ann', key: 'ann/c3' };
      await tasks.update('1', { status: 'deleted' }, removal);
      expect(await backend.open().update('1', { status: 'deleted' }, removal)).toBeUndefined();
      expect(await tasks.list()).toEqual([]);
    });

    test.each<[string, Partial<NewTask>, string]>([
      [
        'subject',
        { subject: 'x'.repeat(201) },
        'The subject has 201 characters; the limit is 200.',
      ],
      ['blank subject', { subject: ' \n' }, 'The subject is empty.'],
      ['description', { description: 'x'.repeat(10_001) }, 'the limit is 10000.'],
      ['active form', { activeForm: 'x'.repeat(201) }, 'The activeForm has 201 characters'],
      ['metadata', { metadata: { x: 'x'.repeat(4_000) } }, 'The metadata has 4008 characters'],
    ])('refuses an invalid %s', async (_, more, why) => {
      const { tasks, errorOf } = await setUp('fly');
      expect(await errorOf(tasks.create(newTask('land', more), actionBy('ann')))).toContain(why);
      expect(await errorOf(tasks.update('1', more, actionBy('ann')))).toContain(why);
      expect(await tasks.list()).toHaveLength(1);
      expect((await tasks.get('1'))?.version).toBe(1);
    });

    test('refuses an owner with a name of more than 100 characters', async () => {
      const { change } = await setUp('fly');
      await expect(change('ann', '1', { owner: 'x'.repeat(101) })).rejects.toMatchObject(refused);
    });

    test('refuses a task that would wait for more than 100 others', async () => {
      const { tasks, change, errorOf } = await setUp('fly');
      const others = Array.from({ length: 101 }, (_, at) => String(at + 2));
      for (const id of others) await tasks.create(newTask(id), actionBy('lead'));
      expect(await errorOf(change('lead', '1', { addBlockedBy: others }))).toBe(
        'Task 1 would wait for 101 others; the limit is 100.',
      );
      await change('lead', '1', { addBlockedBy: others.slice(1) });
      expect((await tasks.get('1'))?.blockedBy).toHaveLength(100);
    });

    test('refuses more than 1000 tasks, until some are deleted', async () => {
      const { tasks, change, errorOf } = await setUp();
      for (let at = 0; at < 1_000; at += 1) await tasks.create(newTask(`${at}`), actionBy('lead'));
      expect(await errorOf(tasks.create(newTask('more'), actionBy('ann')))).toBe(
        'The list has 1000 tasks, which is the limit. Delete tasks that are not needed.',
      );
      expect(await errorOf(change('lead', '1001', claim))).toContain('The tasks are: 1, 2,');
      expect(await errorOf(change('lead', '1001', claim))).toContain('40 and 960 more.');
      await change('lead', '7', { status: 'deleted' });
      expect((await tasks.create(newTask('more'), actionBy('ann'))).id).toBe('1001');
    });
  });
};
