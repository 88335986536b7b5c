/** Agents that change files in the same workspace: leases, refusals, and the end of leases. */
import { describe, expect, test } from 'vitest';
import { editFile } from '../../../src/tools/files/edit-file.js';
import { readFile } from '../../../src/tools/files/read-file.js';
import { writeFile } from '../../../src/tools/files/write-file.js';
import { type Answer, calls, gate, says, waits } from '../../fakes/agents/scripted-model.js';
import { agentDefinition } from '../../fakes/agents/swarm-setup.js';
import { allSettled, swarmHarness, task } from '../swarm/swarm-harness.js';

let last = 0;
const call = (tool: string, input: unknown) => {
  last += 1;
  return calls(`c${last}`, tool, input);
};
const writes = (name: string) => call('Write', { file_path: `/w/${name}`, content: `old ${last}` });
const reads = (name: string) => call('Read', { file_path: `/w/${name}` });
const edits = (name: string, old_string: string) =>
  call('Edit', { file_path: `/w/${name}`, old_string, new_string: 'new' });
const asks = (name: string, more: Record<string, unknown> = {}) =>
  call(
    'Task',
    task(`I am ${name}.`, {
      description: `work of ${name}`,
      name,
      subagent_type: 'worker',
      ...more,
    }),
  );
const inBackground = { run_in_background: true };

/** Answers of each agent by turn; after them it ends. */
type Plans = Readonly<Record<string, readonly Answer[]>>;

const swarmWith = async (plans: Plans, staysIdle = false) => {
  const harness = await swarmHarness(
    ({ said, turn }) => {
      const name = [...said.join('\n').matchAll(/I am (\w+)\./g)].at(-1)?.[1] ?? 'lead';
      return plans[name]?.[turn] ?? [says('Done.')];
    },
    {
      tools: [writeFile, readFile, editFile],
      staysIdle,
      swarm: {
        definitions: [
          agentDefinition({ name: 'worker', tools: ['Write', 'Read', 'Edit', 'Task'] }),
        ],
      },
    },
  );
  await harness.say('Go');
  await allSettled();
  /** Outcomes of the calls of an agent, in order. */
  const resultsOf = (name: string): readonly string[] =>
    harness.items.flatMap((item) => {
      const of = item.type === 'agent.feed' ? item.agent.name : 'lead';
      const it = item.type === 'agent.feed' ? item.item : item;
      if (of !== name || it.type !== 'tool.ended' || it.tool === 'Task') return [];
      return [(JSON.parse(it.raw) as { content: string }).content];
    });
  return { ...harness, resultsOf };
};

const done = (file: string) => expect.stringMatching(new RegExp(`(Created|Replaced).* /w/${file}`));

describe('a file that an agent has changed', () => {
  test('is leased until the agent ends, and other agents get the holder and advice', async () => {
    const [ann, bob] = [gate(), gate()];
    const swarm = await swarmWith({
      lead: [[asks('ann', inBackground), asks('bob', inBackground)]],
      ann: [[writes('a')], [waits(ann.opened), says('Done.')]],
      bob: [
        [reads('b')],
        [waits(bob.opened), writes('a')],
        [writes('b')],
        [reads('a')],
        [writes('a')],
      ],
    });
    bob.open();
    await allSettled();
    expect(swarm.resultsOf('ann')).toEqual([done('a')]);
    const [, refused, unrelated, , again] = swarm.resultsOf('bob');
    const holder = swarm.items.flatMap((it) =>
      it.type === 'agent.spawned' ? [it.agent.id] : [],
    )[0];
    expect(refused).toBe(
      `/w/a is being changed by worker ann ${holder} "work of ann", which has held it since 1970-01-01T00:16:40Z. Nothing was written. Work on something else, wait until that agent has ended, or write to it with SendMessage. Agents that must change the same files side by side need isolation: "worktree".`,
    );
    expect(unrelated).toEqual(done('b'));
    expect(again).toContain('is being changed by worker ann');
    ann.open();
    await allSettled();
  });

  test.each(['ends', 'is stopped'])('is free after the agent %s', async (how) => {
    const ann = gate();
    const swarm = await swarmWith({
      lead: [[asks('ann', inBackground)], [waits(ann.opened), reads('a')], [edits('a', 'old')]],
      ann: [[writes('a')], ...(how === 'ends' ? [] : [[waits(new Promise(() => {}))]])],
    });
    if (how === 'is stopped') await swarm.lead.steer.stop('ann');
    ann.open();
    await allSettled();
    const [read, edited] = swarm.resultsOf('lead');
    expect(read).toContain('old');
    expect(edited).toContain('Replaced one passage');
  });

  test('is free after the lead that changed it is idle', async () => {
    const ann = gate();
    const swarm = await swarmWith(
      {
        lead: [[writes('a'), asks('ann', inBackground)]],
        ann: [[waits(ann.opened), reads('a')], [writes('a')]],
      },
      true,
    );
    ann.open();
    await allSettled();
    expect(swarm.resultsOf('ann')[1]).toEqual(done('a'));
  });

  test('can be changed by a child that the holder waits for, and by its descendants', async () => {
    const swarm = await swarmWith({
      lead: [[writes('a')], [asks('ann')], [reads('a')], [writes('a')]],
      ann: [[reads('a')], [asks('bob')]],
      bob: [[reads('a')], [writes('a')], [writes('a')]],
    });
    expect(swarm.resultsOf('bob').slice(1)).toEqual([done('a'), done('a')]);
    expect(swarm.resultsOf('lead')).toEqual([done('a'), expect.any(String), done('a')]);
  });

  test('cannot be changed by a child that the holder does not wait for', async () => {
    const [lead, ann] = [gate(), gate()];
    const swarm = await swarmWith({
      lead: [
        [writes('a'), asks('ann', inBackground)],
        [waits(lead.opened), says('Done.')],
      ],
      ann: [[reads('a')], [writes('a')], [waits(ann.opened), says('Done.')]],
    });
    expect(swarm.resultsOf('ann')[1]).toMatch(/^\/w\/a is being changed by the lead a_\d+, which /);
    lead.open();
    ann.open();
    await allSettled();
  });

  test('is not leased after a failed change', async () => {
    const [ann, bob] = [gate(), gate()];
    const swarm = await swarmWith({
      lead: [[writes('a')], [asks('ann', inBackground), asks('bob', inBackground)]],
      ann: [[reads('a')], [edits('a', 'nowhere')], [waits(ann.opened), says('Done.')]],
      bob: [[waits(bob.opened), reads('a')], [writes('a')]],
    });
    bob.open();
    await allSettled();
    expect(swarm.resultsOf('bob')[1]).toEqual(done('a'));
    ann.open();
    await allSettled();
  });
});

test('a file that several agents change concurrently is leased to a single agent', async () => {
  const start = gate();
  const names = ['ann', 'bob', 'cid', 'dot', 'eve'];
  const swarm = await swarmWith({
    lead: [names.map((name) => asks(name))],
    ...Object.fromEntries(names.map((name) => [name, [[waits(start.opened), writes('a')]]])),
  });
  start.open();
  await allSettled();
  const all = names.flatMap((name) => swarm.resultsOf(name));
  expect(all.filter((text) => text.startsWith('Created'))).toHaveLength(1);
  expect(all.filter((text) => text.includes('is being changed by'))).toHaveLength(4);
});
