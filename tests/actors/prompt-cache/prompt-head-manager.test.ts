import { createHash } from 'node:crypto';
import { describe, expect, test } from 'vitest';
import { readHead, storeHead } from '../../../src/actors/prompt-cache/prompt-head-manager.js';
import type { HeadRequest } from '../../../src/protocol/model/context-provider.js';
import { MemorySessionStore } from '../../../src/store/memory/memory-session-store.js';
import { changingContext, headOf, type World } from '../../fakes/agents/changing-context.js';
import {
  type Answer,
  calls,
  ends,
  says,
  scriptedModel,
} from '../../fakes/agents/scripted-model.js';
import { settled, virtualClock } from '../../fakes/virtual-clock.js';
import { type LeadHarness, type LeadOptions, leadHarness } from '../session/lead-harness.js';
import { WINDOW } from '../session/small-window.js';

type Given = Partial<Omit<LeadOptions, 'model' | 'contextProvider'>> & {
  readonly world?: Partial<World>;
};

const yes: Answer = [says('Yes. '.repeat(40))];

/** Session with a changing head; returns its system prompts and breaks. */
const headed = async (answers: readonly Answer[], { world, ...given }: Given = {}) => {
  const model = scriptedModel(...answers);
  const contextProvider = changingContext(world);
  const harness = await leadHarness({ model, contextProvider, staysIdle: true, ...given });
  return {
    ...harness,
    contextProvider,
    world: contextProvider.world,
    systems: () => model.requests.map(({ body }) => systemIn(body)),
    breaks: async () => (await harness.records()).filter(({ type }) => type === 'prompt.broken'),
  };
};

const systemIn = (body: string): string =>
  (JSON.parse(body) as { system: { text: string }[] }).system.map(({ text }) => text).join(' ');

const taken = (
  { lead, store, clock }: LeadHarness,
  answers: readonly Answer[],
  given: Given = {},
) => headed(answers, { store, clock, choice: { kind: 'resume', id: lead.id }, ...given });

const sections = (mood: string) => ({ goose: 'Be a goose.', mood });

describe('the head of a prompt', () => {
  test('is made once, whatever happens around it', async () => {
    const first = await headed([yes, yes]);
    await first.say('One.');
    first.world.sections = sections('Be sad.');
    await first.say('Two.');
    await first.lead.close();
    const second = await taken(first, [yes], { world: { sections: sections('Be sad.') } });
    await second.say('Three.');
    expect([...first.systems(), ...second.systems()]).toEqual(
      Array.from({ length: 3 }, () => 'Be a goose. Be merry.'),
    );
    expect([...first.contextProvider.asked, ...second.contextProvider.asked]).toEqual([
      'head',
      'opening',
    ]);
    expect(await second.breaks()).toEqual([]);
  });

  test('is looked at again when the conversation is cleared, and declared if it is another', async () => {
    const harness = await headed([yes, yes, yes]);
    await harness.say('One.');
    harness.lead.clear();
    await harness.say('Two.');
    harness.world.sections = sections('Be sad.');
    harness.lead.clear();
    await harness.say('Three.');
    expect(harness.systems()).toEqual([
      'Be a goose. Be merry.',
      'Be a goose. Be merry.',
      'Be a goose. Be sad.',
    ]);
    expect(await harness.breaks()).toEqual([
      expect.objectContaining({ reason: 'clear' }),
      expect.objectContaining({ reason: 'clear' }),
      expect.objectContaining({
        reason: 'section',
        section: 'mood',
        prompt: expect.stringMatching(/^prompt-[0-9a-f]{16}\.json$/),
      }),
    ]);
  });

  test('is looked at again by the next process when the one that cleared is gone', async () => {
    const first = await headed([yes]);
    await first.say('One.');
    first.lead.clear();
    await first.lead.close();
    const second = await taken(first, [yes], { world: { sections: sections('Be sad.') } });
    await second.say('Two.');
    expect(second.systems()).toEqual(['Be a goose. Be sad.']);
    expect(second.contextProvider.asked).toEqual(['renew', 'head', 'opening']);
    expect(await second.breaks()).toMatchObject([{ reason: 'clear' }, { section: 'mood' }]);
    await second.lead.close();
    const third = await taken(second, [yes]);
    await third.say('Three.');
    expect(third.systems()).toEqual(['Be a goose. Be sad.']);
    expect(third.contextProvider.asked).toEqual([]);
  });

  test('goes into the record of a compaction, and is in use from there on', async () => {
    const full: Answer = [says('Yes.'), ends('end_turn', { input: 8_400, output: 0 })];
    const many = Array.from({ length: 9 }, () => yes);
    const harness = await headed([...many, full, [says('They talked.')], yes], {
      contextWindow: WINDOW,
    });
    for (let n = 1; n <= 10; n += 1) await harness.say(`Prompt ${n}.`);
    harness.world.sections = { ...sections('Be sad.'), extra: 'And tall.' };
    await harness.say('Prompt 11.');
    const [summary, after] = harness.systems().slice(-2);
    expect(summary).toBe('Be a goose. Be merry.');
    expect(after).toBe('Be a goose. Be sad. And tall.');
    expect(await harness.breaks()).toEqual([
      expect.objectContaining({
        reason: 'compaction',
        section: 'messages, mood, extra',
        prompt: expect.stringMatching(/^prompt-/),
      }),
    ]);
    await harness.lead.close();
    const next = await taken(harness, [yes], { contextWindow: WINDOW });
    await next.say('Prompt 12.');
    expect(next.systems()).toEqual([after]);
  });

  test('that may change on every turn is asked for every turn, and only a change is a break', async () => {
    const harness = await headed([yes, yes, yes], { world: { mayChange: true } });
    await harness.say('One.');
    await harness.say('Two.');
    expect(await harness.breaks()).toEqual([]);
    harness.world.sections = sections('Be sad.');
    await harness.say('Three.');
    expect(harness.contextProvider.asked.filter((it) => it === 'head')).toHaveLength(4);
    expect(harness.systems().at(-1)).toBe('Be a goose. Be sad.');
    expect(await harness.breaks()).toMatchObject([{ reason: 'section', section: 'mood' }]);
  });

  test('names the sections that came and went', async () => {
    const harness = await headed([yes, yes, yes], { world: { mayChange: true } });
    await harness.say('One.');
    harness.world.sections = { goose: 'Be a goose.' };
    await harness.say('Two.');
    harness.world.sections = { goose: 'Be a swan.', size: 'Be tall.' };
    await harness.say('Three.');
    expect(await harness.breaks()).toMatchObject([{ section: 'mood' }, { section: 'goose, size' }]);
  });

  test('that must not outlive its process is renewed by the next one, once (P16)', async () => {
    const first = await headed([yes]);
    await first.say('One.');
    await first.lead.close();
    const world = { isStale: true, sections: sections('Be sad.') };
    const second = await taken(first, [yes, yes], { world });
    await second.say('Two.');
    await second.say('Three.');
    expect(second.systems()).toEqual(['Be a goose. Be sad.', 'Be a goose. Be sad.']);
    expect(second.contextProvider.asked).toEqual(['head']);
    expect(await second.breaks()).toMatchObject([{ reason: 'section', section: 'mood' }]);
  });

  test('is the newest one of all that a session had, also in a fork of it', async () => {
    const first = await headed([yes, yes, yes], { world: { mayChange: true } });
    for (const mood of ['Be merry.', 'Be calm.', 'Be sad.']) {
      first.world.sections = sections(mood);
      await first.say('Go on.');
    }
    await first.lead.close();
    const choice = { kind: 'fork', from: first.lead.id, id: 's_fork' } as const;
    const fork = await headed([yes], { store: first.store, clock: first.clock, choice });
    await fork.say('Four.');
    expect(fork.systems()).toEqual(['Be a goose. Be sad.']);
    expect(fork.contextProvider.asked).toEqual([]);
    const second = await taken(first, [yes]);
    await second.say('Four.');
    expect(second.systems()).toEqual(['Be a goose. Be sad.']);
  });

  test('is looked at again in the name of the version that began the session (P19)', async () => {
    const asked: string[] = [];
    const contextProvider = {
      ...changingContext(),
      head: async ({ version, entrypoint, cwd }: HeadRequest) => {
        asked.push(`${version} ${entrypoint} ${cwd}`);
        return headOf({ goose: 'Be a goose.' });
      },
    };
    const given = { contextProvider, staysIdle: true };
    const first = await leadHarness({ ...given, model: scriptedModel(yes), version: '1.0.0' });
    await first.say('One.');
    await first.lead.close();
    const { store, clock, lead } = first;
    const choice = { kind: 'resume', id: lead.id } as const;
    const later = { ...given, store, clock, choice, version: '2.0.0' };
    const second = await leadHarness({ ...later, model: scriptedModel(yes) });
    second.lead.clear();
    await second.say('Two.');
    expect(asked).toEqual(['1.0.0 test /tmp', '1.0.0 test /tmp']);
  });

  test('is waited for and made for where the agent is by now, before a request leaves', async () => {
    const moved = { content: 'moved', notes: [{ type: 'cwd.changed' as const, cwd: '/tmp/src' }] };
    const contextProvider = {
      ...changingContext(),
      mayChange: true,
      head: async ({ cwd }: HeadRequest) => {
        for (let step = 0; step < 100; step += 1) await Promise.resolve();
        return headOf({ place: cwd });
      },
    };
    const model = scriptedModel([calls('c1', 'Look', { name: 'a' })], yes);
    const harness = await leadHarness({
      model,
      contextProvider,
      staysIdle: true,
      effects: { a: () => moved },
    });
    await harness.say('Look.');
    await settled();
    expect(model.requests.map(({ body }) => systemIn(body))).toEqual(['/tmp', '/tmp/src']);
  });

  test('that cannot be made leaves a session that the next process can begin', async () => {
    const clock = virtualClock();
    const store = new MemorySessionStore(clock);
    const contextProvider = {
      ...changingContext(),
      head: () => Promise.reject(new Error('No head.')),
    };
    const choice = { kind: 'new', id: 's_none' } as const;
    const failed = leadHarness({
      model: scriptedModel(),
      contextProvider,
      store,
      clock,
      choice,
    });
    await expect(failed).rejects.toThrow('No head.');
    const next = await headed([yes], { store, clock, choice: { kind: 'resume', id: 's_none' } });
    await next.say('One.');
    expect(next.systems()).toEqual(['Be a goose. Be merry.']);
  });

  test('counts towards the window by what it is, not by what it was', async () => {
    const harness = await headed([yes, yes], { world: { mayChange: true } });
    await harness.say('One.');
    const before = harness.lead.journal.history.promptBytes;
    harness.world.sections = sections('Be very, very sad.');
    await harness.say('Two.');
    const more = 'Be very, very sad.'.length - 'Be merry.'.length;
    expect(harness.lead.journal.history.promptBytes).toBe(before + more);
  });
});

describe('a kept head', () => {
  const emptySession = async () => {
    const harness = await headed([]);
    await harness.lead.close();
    return harness.store.open(harness.lead.id);
  };

  test('is the same bytes when it is read again', async () => {
    const session = await emptySession();
    const head = {
      ...headOf({ a: 'ü🪿\u2028"\\', b: '{"1":2}' }),
      tools: '[{"name":"x","input_schema":{"10":1,"b":{},"__proto__":1}}]',
      ttl: '1h' as const,
    };
    const name = await storeHead(session, head);
    expect(await readHead(name, (it) => session.readArtifact(it))).toEqual(head);
    expect(await storeHead(session, head)).toBe(name);
  });

  /** Name with the digest of the content. */
  const readAs = (text: string) => {
    const digest = createHash('sha256').update(text).digest('hex').slice(0, 16);
    return readHead(`prompt-${digest}.json`, async () => Buffer.from(text));
  };

  test('of a version that knew no sections is taken as it is', async () => {
    const old = '{"tools":[{"name":"x"}],"system":[{"type":"text","text":"Hm."}]}';
    expect(await readAs(old)).toEqual({
      tools: '[{"name":"x"}]',
      system: '[{"type":"text","text":"Hm."}]',
      sections: [],
      ttl: '5m',
    });
  });

  test.each(['', '{"tools":', 'null', '[]', '7', '{}', '{"tools":[]}', '{"tools":1,"system":"x"}'])(
    'that is damaged is refused in one sentence: %s',
    async (text) => {
      await expect(readAs(text)).rejects.toThrow(/is missing or damaged, .*; start a new one\.$/);
    },
  );

  test('with other words than its name stands for is refused (law 3)', async () => {
    const session = await emptySession();
    const name = await storeHead(session, headOf({ a: 'Be merry.' }));
    const changed = async (it: string) => {
      const text = Buffer.from(await session.readArtifact(it)).toString();
      return Buffer.from(text.replace('merry', 'weary'));
    };
    await expect(readHead(name, changed)).rejects.toThrow('is missing or damaged');
  });

  test('with sections that make no sense is taken without them', async () => {
    const { sections: read, ...head } = await readAs(
      '{"tools":[],"system":[],"sections":[null,{"name":1}],"ttl":"9h"}',
    );
    expect(read).toEqual([]);
    expect(head).toEqual({ tools: '[]', system: '[]', ttl: '5m' });
  });

  test('that is not there keeps a session from being resumed', async () => {
    const clock = virtualClock();
    const store = new MemorySessionStore(clock);
    const first = await headed([], { store, clock });
    const prompt = 'prompt-gone.json';
    first.lead.journal.record({ type: 'prompt.broken', reason: 'section', section: 'x', prompt });
    await first.lead.close();
    await expect(taken(first, [])).rejects.toThrow(prompt);
  });
});
