import { describe, expect, test } from 'vitest';
import type { Todo } from '../../../src/protocol/agent/todo.js';
import { calls, gate, says, scriptedModel } from '../../fakes/agents/scripted-model.js';
import { settled } from '../../fakes/virtual-clock.js';
import { leadHarness } from '../session/lead-harness.js';

const list: readonly Todo[] = [{ content: 'Look', status: 'in_progress' }];
const kept = () => ({ content: 'kept', notes: [{ type: 'todos.written' as const, todos: list }] });
const changes = (items: readonly { type: string }[]) =>
  items.filter(({ type }) => type === 'todos.changed');

describe('the todo list of an agent', () => {
  test('is emitted to the feed when it changes, and passed to the next call', async () => {
    const seen: (readonly Todo[])[] = [];
    const harness = await leadHarness({
      model: scriptedModel(
        [calls('c1', 'Change', { name: 'list' })],
        [calls('c2', 'Look', { name: 'look' })],
        [says('Done.')],
      ),
      effects: {
        list: kept,
        look({ todos }) {
          seen.push(todos);
          return { content: 'looked' };
        },
      },
    });
    await harness.say('Go.');
    expect(seen).toEqual([list]);
    expect(changes(harness.items)).toEqual([{ type: 'todos.changed', todos: list }]);
  });

  test('changes in the order of the calls, even if an earlier call ends later', async () => {
    const slow = gate();
    const harness = await leadHarness({
      model: scriptedModel(
        [calls('c1', 'Note', { name: 'slow' }), calls('c2', 'Note', { name: 'list' })],
        [says('Done.')],
      ),
      effects: {
        list: kept,
        async slow() {
          await slow.opened;
          return { content: 'late' };
        },
      },
    });
    await harness.say('Go.');
    expect(changes(harness.items)).toEqual([]);
    slow.open();
    await settled();
    expect(changes(harness.items)).toEqual([{ type: 'todos.changed', todos: list }]);
  });

  test('is restored in a resumed session', async () => {
    const first = await leadHarness({
      model: scriptedModel([calls('c1', 'Change', { name: 'list' })], [says('Done.')]),
      effects: { list: kept },
    });
    await first.say('Go.');
    await first.lead.close();
    const { store } = first;
    const choice = { kind: 'resume', id: first.lead.id } as const;
    const second = await leadHarness({ model: scriptedModel(), store, choice });
    expect(second.lead.journal.history.todos).toEqual(list);
  });

  test('is emitted as empty after a clear, if it was not empty', async () => {
    const harness = await leadHarness({
      model: scriptedModel([calls('c1', 'Change', { name: 'list' })], [says('Done.')]),
      effects: { list: kept },
      staysIdle: true,
    });
    await harness.say('Go.');
    harness.lead.clear();
    harness.lead.clear();
    expect(changes(harness.items)).toEqual([
      { type: 'todos.changed', todos: list },
      { type: 'todos.changed', todos: [] },
    ]);
  });
});
