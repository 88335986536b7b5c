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
const headHarness = async (answers: readonly Answer[], { world, ...given }: Given = {}) => {
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

const resumed = (
  { lead, store, clock }: LeadHarness,
  answers: readonly Answer[],
  given: Given = {},
) => headHarness(answers, { store, clock, choice: { kind: 'resume', id: lead.id }, ...given });

const sections = (mood: string) => ({ goose: 'Be a goose.', mood });

describe('the prompt head', () => {
  test('is built once, even if its sections change', async () => {
    const first = await headHarness([yes, yes]);
    await first.say('One.');
    first.world.sections = sections('Be sad.');
    await first.say('Two.');
    await first.lead.close();
    const second = await resumed(first, [yes], { world: { sections: sections('Be sad.') } });
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

  test('is rebuilt after a clear, and a change is journaled as a break', async () => {
    const harness = await headHarness([yes, yes, yes]);
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

  test('is rebuilt by the next process after a clear', async () => {
    const first = await headHarness([yes]);
    await first.say('One.');
    first.lead.clear();
    await first.lead.close();
    const second = await resumed(first, [yes], { world: { sections: sections('Be sad.') } });
    await second.say('Two.');
    expect(second.systems()).toEqual(['Be a goose. Be sad.']);
    expect(second.contextProvider.asked).toEqual(['renew', 'head', 'opening']);
    expect(await second.breaks()).toMatchObject([{ reason: 'clear' }, { section: 'mood' }]);
    await second.lead.close();
    const third = await resumed(second, [yes]);
    await third.say('Three.');
    expect(third.systems()).toEqual(['Be a goose. Be sad.']);
    expect(third.contextProvider.asked).toEqual([]);
  });

  test('is renewed by a compaction and journaled with it', async () => {
    const full: Answer = [says('Yes.'), ends('end_turn', { input: 8_400, output: 0 })];
    const many = Array.from({ length: 9 }, () => yes);
    const harness = await headHarness([...many, full, [says('They talked.')], yes], {
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
    const next = await resumed(harness, [yes], { contextWindow: WINDOW });
    await next.say('Prompt 12.');
    expect(next.systems()).toEqual([after]);
  });

  test('that may change is rebuilt in every turn, and only a change is a break', async () => {
    const harness = await headHarness([yes, yes, yes], { world: { mayChange: true } });
    await harness.say('One.');
    await harness.say('Two.');
    expect(await harness.breaks()).toEqual([]);
    harness.world.sections = sections('Be sad.');
    await harness.say('Three.');
    expect(harness.contextProvider.asked.filter((it) => it === 'head')).toHaveLength(4);
    expect(harness.systems().at(-1)).toBe('Be a goose. Be sad.');
    expect(await harness.breaks()).toMatchObject([{ reason: 'section', section: 'mood' }]);
  });

  test('has its added and removed sections in the break', async () => {
    const harness = await headHarness([yes, yes, yes], { world: { mayChange: true } });
    await harness.say('One.');
    harness.world.sections = { goose: 'Be a goose.' };
    await harness.say('Two.');
    harness.world.sections = { goose: 'Be a swan.', size: 'Be tall.' };
    await harness.say('Three.');
    expect(await harness.breaks()).toMatchObject([{ section: 'mood' }, { section: 'goose, size' }]);
  });

  test('that is valid in its process only is rebuilt once by the next process (P16)', async () => {
    const first = await headHarness([yes]);
    await first.say('One.');
    await first.lead.close();
    const world = { isStale: true, sections: sections('Be sad.') };
    const second = await resumed(first, [yes, yes], { world });
    await second.say('Two.');
    await second.say('Three.');
    expect(second.systems()).toEqual(['Be a goose. Be sad.', 'Be a goose. Be sad.']);
    expect(second.contextProvider.asked).toEqual(['head']);
    expect(await second.breaks()).toMatchObject([{ reason: 'section', section: 'mood' }]);
  });

  test('is the newest head of the session after a resume and in a fork', async () => {
    const first = await headHarness([yes, yes, yes], { world: { mayChange: true } });
    for (const mood of ['Be merry.', 'Be calm.', 'Be sad.']) {
      first.world.sections = sections(mood);
      await first.say('Go on.');
    }
    await first.lead.close();
    const choice = { kind: 'fork', from: first.lead.id, id: 's_fork' } as const;
    const fork = await headHarness([yes], { store: first.store, clock: first.clock, choice });
    await fork.say('Four.');
    expect(fork.systems()).toEqual(['Be a goose. Be sad.']);
    expect(fork.contextProvider.asked).toEqual([]);
    const second = await resumed(first, [yes]);
    await second.say('Four.');
    expect(second.systems()).toEqual(['Be a goose. Be sad.']);
  });

  test('is rebuilt with the version that started the session (P19)', async () => {
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

  test('is built for the current working directory before a request is sent', async () => {
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

  test('that cannot be built leaves a session that the next process can resume', async () => {
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
    const next = await headHarness([yes], {
      store,
      clock,
      choice: { kind: 'resume', id: 's_none' },
    });
    await next.say('One.');
    expect(next.systems()).toEqual(['Be a goose. Be merry.']);
  });

  test('counts in the prompt size with its current length', async () => {
    const harness = await headHarness([yes, yes], { world: { mayChange: true } });
    await harness.say('One.');
    const before = harness.lead.journal.history.promptBytes;
    harness.world.sections = sections('Be very, very sad.');
    await harness.say('Two.');
    const more = 'Be very, very sad.'.length - 'Be merry.'.length;
    expect(harness.lead.journal.history.promptBytes).toBe(before + more);
  });
});

describe('a stored prompt head', () => {
  const emptySession = async () => {
    const harness = await headHarness([]);
    await harness.lead.close();
    return harness.store.open(harness.lead.id);
  };

  test('is read with the same bytes', async () => {
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

  test('of a version without sections is read without sections', async () => {
    const old = '{"tools":[{"name":"x"}],"system":[{"type":"text","text":"Hm."}]}';
    expect(await readAs(old)).toEqual({
      tools: '[{"name":"x"}]',
      system: '[{"type":"text","text":"Hm."}]',
      sections: [],
      ttl: '5m',
    });
  });

  test.each(['', '{"tools":', 'null', '[]', '7', '{}', '{"tools":[]}', '{"tools":1,"system":"x"}'])(
    'that is damaged is rejected: %s',
    async (text) => {
      await expect(readAs(text)).rejects.toThrow(/is missing or damaged, .*; start a new one\.$/);
    },
  );

  test('with another content than its digest is rejected (law 3)', async () => {
    const session = await emptySession();
    const name = await storeHead(session, headOf({ a: 'Be merry.' }));
    const changed = async (it: string) => {
      const text = Buffer.from(await session.readArtifact(it)).toString();
      return Buffer.from(text.replace('merry', 'weary'));
    };
    await expect(readHead(name, changed)).rejects.toThrow('is missing or damaged');
  });

  test('with invalid sections is read without sections', async () => {
    const { sections: read, ...head } = await readAs(
      '{"tools":[],"system":[],"sections":[null,{"name":1}],"ttl":"9h"}',
    );
    expect(read).toEqual([]);
    expect(head).toEqual({ tools: '[]', system: '[]', ttl: '5m' });
  });

  test('that is missing makes a resume fail', async () => {
    const clock = virtualClock();
    const store = new MemorySessionStore(clock);
    const first = await headHarness([], { store, clock });
    const prompt = 'prompt-gone.json';
    first.lead.journal.record({ type: 'prompt.broken', reason: 'section', section: 'x', prompt });
    await first.lead.close();
    await expect(resumed(first, [])).rejects.toThrow(prompt);
  });
});
