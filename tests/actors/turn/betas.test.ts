import { describe, expect, test } from 'vitest';
import { capabilitiesOf } from '../../../src/protocol/model/providers.js';
import { fails, says, scriptedModel } from '../../fakes/agents/scripted-model.js';
import { type LeadHarness, type LeadOptions, leadHarness } from '../session/lead-harness.js';

type Given = Partial<Omit<LeadOptions, 'model'>>;

/** Session with this number of answered prompts. */
const conversation = async (prompts: number, given: Given) => {
  const model = scriptedModel(...Array.from({ length: prompts }, () => [says('Yes.')]));
  const harness = await leadHarness({ model, staysIdle: true, ...given });
  for (let n = 0; n < prompts; n += 1) await harness.say(`Prompt ${n}.`);
  return { ...harness, betas: model.requests.map(({ betas }) => betas) };
};

/** Resumes the session in another process. */
const resumed = async ({ lead, store, clock }: LeadHarness, prompts: number, given: Given) => {
  await lead.close();
  return conversation(prompts, { store, clock, choice: { kind: 'resume', id: lead.id }, ...given });
};

describe('the beta features of a session (K8)', () => {
  test('are not sent or journaled if none are configured', async () => {
    const { betas, records } = await conversation(1, {});
    expect(betas).toEqual([[]]);
    const started = (await records()).find(({ type }) => type === 'turn.started');
    expect(started).not.toHaveProperty('betas');
  });

  test('are sent with every later request, even by processes that do not configure them', async () => {
    const first = await conversation(2, { betas: ['b', 'a'] });
    const second = await resumed(first, 2, { betas: ['c'] });
    const third = await resumed(second, 1, {});
    const two = ['a', 'b'];
    const three = ['a', 'b', 'c'];
    expect([...first.betas, ...second.betas, ...third.betas]).toEqual([
      two,
      two,
      three,
      three,
      three,
    ]);
  });

  test('are sent by a forked session', async () => {
    const first = await conversation(1, { betas: ['a'] });
    await first.lead.close();
    const { store, clock, lead } = first;
    const choice = { kind: 'fork', from: lead.id, id: 's_fork' } as const;
    const fork = await conversation(1, { store, clock, choice });
    expect(fork.betas).toEqual([['a']]);
  });

  test('are kept from the first attempt on, even if it fails', async () => {
    const model = scriptedModel([fails('rejected')]);
    const first = await leadHarness({ model, staysIdle: true, betas: ['a'] });
    await first.say('Prompt.');
    expect(model.requests.map(({ betas }) => betas)).toEqual([['a']]);
    expect((await resumed(first, 1, {})).betas).toEqual([['a']]);
  });

  test('are kept after a clear', async () => {
    const first = await conversation(1, { betas: ['a'] });
    first.lead.clear();
    expect((await resumed(first, 1, {})).betas).toEqual([['a']]);
  });

  test('are sent with a summary request, which reads the same prefix', async () => {
    const model = scriptedModel(...Array.from({ length: 21 }, () => [says('Yes. '.repeat(2_000))]));
    const { say, lead } = await leadHarness({ model, staysIdle: true, betas: ['a'] });
    for (let n = 0; n < 20; n += 1) await say(`Prompt ${n}.`);
    await lead.compact('');
    expect(model.requests.at(-1)?.body).toContain('context window');
    expect(model.requests.map(({ betas }) => betas)).toEqual(model.requests.map(() => ['a']));
  });

  test('are omitted for a provider without betas, and kept for the next provider', async () => {
    const none = { capabilities: capabilitiesOf('openai') };
    const first = await conversation(1, { betas: ['a'], ...none });
    expect(first.betas).toEqual([[]]);
    const second = await resumed(first, 1, { betas: ['a'] });
    expect(second.betas).toEqual([['a']]);
    const third = await resumed(second, 1, none);
    expect(third.betas).toEqual([[]]);
    expect((await resumed(third, 1, {})).betas).toEqual([['a']]);
  });
});
