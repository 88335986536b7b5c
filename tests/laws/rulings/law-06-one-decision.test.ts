/** Law 6: one decision per question. Races, forgeries and replays in one process. */
import { generateKeyPairSync } from 'node:crypto';
import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { z } from 'zod';
import { askSurfaces } from '../../../src/actors/permissions/ask-surfaces.js';
import { inputDigest } from '../../../src/actors/permissions/input-digest.js';
import { judgeCall } from '../../../src/actors/permissions/judge-call.js';
import { modeSwitch } from '../../../src/actors/permissions/mode-switch.js';
import { permissionManager } from '../../../src/actors/permissions/permission-manager.js';
import { signClaims, signingSurface } from '../../../src/actors/permissions/signing-surface.js';
import { systemClock } from '../../../src/protocol/clock.js';
import { randomIds } from '../../../src/protocol/ids.js';
import type {
  PermissionAnswer,
  PermissionQuestion,
} from '../../../src/protocol/permission/permission-question.js';
import type {
  AnswerClaims,
  AnswerRefusal,
  KnownSurface,
  SignedAnswer,
  SurfaceOutcome,
} from '../../../src/protocol/permission/signed-answer.js';
import { defineTool, type Tool } from '../../../src/protocol/tools/tool.js';
import { MemorySessionStore } from '../../../src/store/memory/memory-session-store.js';
import { builtinTools } from '../../../src/tools/builtin-tools.js';
import { toolbox } from '../../../src/tools/toolbox.js';
import { settled, virtualClock } from '../../fakes/virtual-clock.js';
import { finish, openRig, speaks } from '../session-rig.js';

const input = { command: 'make' };
const question: PermissionQuestion = {
  id: 'q_1',
  agent: 'a_1',
  call: 'c_1',
  tool: 'Bash',
  input,
  cwd: '/repo',
  inputDigest: inputDigest(input),
  description: 'make',
  reason: 'No rule.',
  risk: 'medium',
};
const yes: PermissionAnswer = { behavior: 'allow', scope: 'once' };

const newKey = () => {
  const { privateKey, publicKey } = generateKeyPairSync('ed25519');
  const text = publicKey.export({ format: 'der', type: 'spki' }).toString('base64url');
  return { privateKey, publicKey: text };
};

/** Surface whose key and replies the test controls. */
const testSurface = (
  id: string,
  reply: (honest: SignedAnswer, shown: PermissionQuestion) => unknown,
) => {
  const { privateKey, publicKey } = newKey();
  const sign = (claims: Partial<AnswerClaims>, key = privateKey) =>
    signClaims({ ...honestClaims(id, question), ...claims }, key);
  const withdrawn: string[] = [];
  const surface: KnownSurface = {
    id,
    publicKey,
    async ask(shown, signal) {
      signal.addEventListener('abort', () => withdrawn.push(shown.id));
      return reply(signClaims(honestClaims(id, shown), privateKey), shown);
    },
  };
  return { surface, sign, withdrawn };
};

const START = 1_000_000;
const TIMEOUT = 600_000;

const honestClaims = (surface: string, shown: PermissionQuestion): AnswerClaims => ({
  question: shown.id,
  agent: shown.agent,
  call: shown.call,
  inputDigest: inputDigest(shown.input),
  answer: yes,
  surface,
  issuedAt: START,
});

const ask = (
  surfaces: readonly KnownSurface[],
  options: { readonly parent?: string; readonly asked?: PermissionQuestion } = {},
) => {
  const clock = virtualClock(START);
  const stop = new AbortController();
  const outcomes: SurfaceOutcome[] = [];
  const decision = askSurfaces(surfaces, options.asked ?? question, {
    clock,
    timeoutMs: TIMEOUT,
    signal: stop.signal,
    parent: options.parent,
    onAnswer: (outcome) => outcomes.push(outcome),
  });
  return { decision, outcomes, clock, stop };
};

describe('an answer is refused if it', () => {
  const other = testSurface('other', () => undefined);
  const cases: readonly [string, AnswerRefusal, (it: ReturnType<typeof testSurface>) => unknown][] =
    [
      ['is no answer', 'malformed', () => 'yes'],
      ['has unsigned fields', 'malformed', ({ sign }) => ({ ...sign({}), root: true })],
      ['names an unknown surface', 'unknown-surface', ({ sign }) => sign({ surface: 'x' })],
      ['is signed with another key', 'forged', ({ sign }) => sign({}, newKey().privateKey)],
      ['is signed with the key of another surface', 'forged', () => other.sign({ surface: 'it' })],
      ['has no signature', 'forged', ({ sign }) => ({ ...sign({}), signature: '' })],
      ['was reversed on the way', 'forged', ({ sign }) => ({ ...denial(sign), answer: yes })],
      ['was given a wider scope', 'forged', ({ sign }) => ({ ...sign({}), answer: forever })],
      ['is for another question', 'other-question', ({ sign }) => sign({ question: 'q_0' })],
      ['is for another agent', 'other-agent', ({ sign }) => sign({ agent: 'a_2' })],
      ['is for another call', 'other-call', ({ sign }) => sign({ call: 'c_2' })],
      ['is for another input', 'other-input', ({ sign }) => sign({ inputDigest: inputDigest({}) })],
      ['is too old', 'out-of-time', ({ sign }) => sign({ issuedAt: START - 60_001 })],
      ['is from the future', 'out-of-time', ({ sign }) => sign({ issuedAt: START + TIMEOUT * 2 })],
    ];
  const forever: PermissionAnswer = { behavior: 'allow', scope: 'project' };
  const denial = (sign: ReturnType<typeof testSurface>['sign']) =>
    sign({ answer: { behavior: 'deny', reason: 'No.' } });

  test.each(cases)('%s: %s', async (_, refusal, forge) => {
    const it: ReturnType<typeof testSurface> = testSurface('it', () => forge(it));
    const { decision, outcomes } = ask([{ ...it.surface, forwardableKeys: [other.surface] }]);
    expect(await decision).toMatchObject({ behavior: 'deny' });
    expect(await decision).not.toHaveProperty('by');
    expect(outcomes).toMatchObject([{ outcome: 'refused', refusal }]);
  });

  test('is signed with a key of the same name that the surface may not forward', async () => {
    const stranger = testSurface('person', () => undefined);
    const away = testSurface('person', () => undefined);
    const person = testSurface('person', () => away.sign({}));
    const asked = (forwardableKeys: readonly KnownSurface[]) =>
      ask([{ ...person.surface, forwardableKeys }]);
    expect(await asked([stranger.surface, away.surface]).decision).toMatchObject({
      behavior: 'allow',
      by: 'person',
    });
    const { decision, outcomes } = asked([stranger.surface]);
    expect(await decision).toMatchObject({ behavior: 'deny' });
    expect(outcomes).toMatchObject([{ outcome: 'refused', refusal: 'forged' }]);
  });

  test('comes from the agent that asks, even with a valid key', async () => {
    const itself = testSurface('a_1', (honest) => honest);
    const { decision, outcomes } = ask([itself.surface]);
    expect(await decision).toMatchObject({ behavior: 'deny' });
    expect(outcomes).toMatchObject([{ refusal: 'unknown-surface' }]);
  });

  test('is forged, and other surfaces may still answer', async () => {
    const forger = testSurface('forger', (honest) => ({ ...honest, agent: 'a_9' }));
    const person = testSurface('person', async (honest) => settled().then(() => honest));
    const { decision, outcomes } = ask([forger.surface, person.surface]);
    expect(await decision).toMatchObject({ behavior: 'allow', by: 'person' });
    expect(outcomes).toMatchObject([
      { surface: 'forger', outcome: 'refused', refusal: 'forged' },
      { surface: 'person', outcome: 'accepted' },
    ]);
  });

  test('comes from a surface of an agent that is not the parent', async () => {
    const permissions = testSurface('agent a_3', (honest) => honest);
    const surface = { ...permissions.surface, answersFor: 'a_3' };
    const asSibling = ask([surface], { parent: 'a_0' });
    expect(await asSibling.decision).toMatchObject({ behavior: 'deny' });
    expect(asSibling.outcomes).toMatchObject([{ refusal: 'not-the-parent' }]);
    const asOrphan = ask([surface]);
    expect(await asOrphan.decision).toMatchObject({ behavior: 'deny' });
    const asParent = ask([surface], { parent: 'a_3' });
    expect(await asParent.decision).toMatchObject({ behavior: 'allow', by: 'agent a_3' });
  });

  test('was valid for an earlier question', async () => {
    const kept: SignedAnswer[] = [];
    const replaying = testSurface('it', (honest) => {
      kept.push(honest);
      return kept[0];
    });
    expect(await ask([replaying.surface]).decision).toMatchObject({ behavior: 'allow' });
    const again = ask([replaying.surface], { asked: { ...question, id: 'q_2' } });
    expect(await again.decision).toMatchObject({ behavior: 'deny' });
    expect(again.outcomes).toMatchObject([{ refusal: 'other-question' }]);
  });

  test('is about an input that has changed since the question was shown', async () => {
    const changing = { command: 'make' };
    const asked = { ...question, input: changing };
    const it = testSurface('it', (honest) => {
      changing.command = 'make clean';
      return honest;
    });
    const { decision, outcomes } = ask([it.surface], { asked });
    expect(await decision).toMatchObject({ behavior: 'deny' });
    expect(outcomes).toMatchObject([{ refusal: 'other-input' }]);
  });
});

describe('a question', () => {
  test('ends at its time limit, and later answers are refused', async () => {
    let answer = () => {};
    const late = testSurface('late', (honest) => new Promise((go) => (answer = () => go(honest))));
    const { decision, outcomes, clock } = ask([late.surface]);
    await clock.advance(TIMEOUT);
    expect(await decision).toMatchObject({
      behavior: 'deny',
      reason: expect.stringMatching(/^No answer came/),
    });
    expect(late.withdrawn).toEqual(['q_1']);
    answer();
    await settled();
    expect(outcomes).toMatchObject([{ outcome: 'refused', refusal: 'out-of-time' }]);
    expect(clock.sleepers).toBe(0);
  });

  test('ends when it is withdrawn, and later answers are refused', async () => {
    let answer = () => {};
    const late = testSurface('late', (honest) => new Promise((go) => (answer = () => go(honest))));
    const { decision, outcomes, stop, clock } = ask([late.surface]);
    stop.abort();
    expect(await decision).toMatchObject({
      behavior: 'deny',
      reason: expect.stringMatching(/interrupted/),
    });
    answer();
    await settled();
    expect(outcomes).toMatchObject([{ outcome: 'refused', refusal: 'withdrawn' }]);
    expect(clock.sleepers).toBe(0);
  });

  test('is sent to no surface if it is already withdrawn', async () => {
    const stop = new AbortController();
    stop.abort();
    const asked: string[] = [];
    const never = testSurface('never', (_, { id }) => asked.push(id));
    const options = { clock: virtualClock(), timeoutMs: TIMEOUT, signal: stop.signal };
    expect(await askSurfaces([never.surface], question, options)).toMatchObject({
      behavior: 'deny',
    });
    expect(asked).toEqual([]);
  });

  test('is denied only when all surfaces have failed', async () => {
    const fails = (id: string) => testSurface(id, () => Promise.reject(new Error(`${id} is gone`)));
    const { decision, outcomes } = ask([fails('one').surface, fails('two').surface]);
    const reason = 'The question could not be answered: two is gone';
    expect(await decision).toEqual({ behavior: 'deny', reason });
    expect(outcomes.map(({ outcome }) => outcome)).toEqual(['failed', 'failed']);
  });

  test('gives each surface its own copy of the input', async () => {
    const clock = virtualClock(START);
    const seen: unknown[] = [];
    const surface = (id: string) =>
      signingSurface(
        id,
        {
          async ask(shown) {
            seen.push(structuredClone(shown.input));
            Object.assign(shown.input as object, { command: 'rm -rf /' });
            await settled();
            return yes;
          },
        },
        clock,
      );
    const { decision } = ask([surface('one'), surface('two')]);
    expect(await decision).toMatchObject({ behavior: 'allow', by: 'one' });
    expect(seen).toEqual([input, input]);
    expect(question.input).toEqual({ command: 'make' });
  });
});

type Move = 'allow' | 'deny' | 'throw' | 'silence' | 'forge' | 'replay';
const anyMove = fc.constantFrom<Move>('allow', 'deny', 'throw', 'silence', 'forge', 'replay');

describe('a race of surfaces', () => {
  test('has one winner: the first valid answer', async () => {
    await fc.assert(
      fc.asyncProperty(
        fc.array(anyMove, { minLength: 1, maxLength: 5 }),
        fc.infiniteStream(fc.nat()),
        async (moves, random) => {
          const go: (() => void)[] = [];
          const racers: ReturnType<typeof testSurface>[] = moves.map((move, at) =>
            testSurface(`s${at}`, async (honest) => {
              await new Promise<void>((resolve) => {
                go[at] = move === 'silence' ? () => {} : resolve;
              });
              if (move === 'throw') throw new Error('gone');
              if (move === 'forge') return { ...honest, call: 'c_9' };
              return racers[at]?.sign({
                ...(move === 'replay' && { question: 'q_0' }),
                ...(move === 'deny' && { answer: { behavior: 'deny', reason: `no ${at}` } }),
              });
            }),
          );
          const { decision, outcomes, clock } = ask(racers.map(({ surface }) => surface));
          const order = shuffled(moves, random);
          for (const at of order) {
            go[at]?.();
            await settled();
          }
          const winner = order.find((at) => moves[at] === 'allow' || moves[at] === 'deny');
          await clock.advance(TIMEOUT);
          const decided = await decision;
          expect(decided.by).toBe(winner === undefined ? undefined : `s${winner}`);
          expect(decided.behavior).toBe(moves[winner ?? -1] === 'allow' ? 'allow' : 'deny');
          const accepted = outcomes.filter(({ outcome }) => outcome === 'accepted');
          expect(accepted).toHaveLength(winner === undefined ? 0 : 1);
          expect(outcomes.length).toBeLessThanOrEqual(moves.length);
          const late = outcomes.filter(({ refusal }) => refusal === 'already-answered');
          const valid = moves.filter((move) => move === 'allow' || move === 'deny').length;
          expect(late).toHaveLength(Math.max(0, valid - 1));
          expect(racers.map(({ withdrawn }) => withdrawn)).toEqual(moves.map(() => ['q_1']));
          expect(clock.sleepers).toBe(0);
        },
      ),
      { numRuns: 60 },
    );
  });
});

const shuffled = (moves: readonly unknown[], random: fc.Stream<number>): readonly number[] =>
  moves
    .map((_, at) => ({ at, key: random.next().value as number }))
    .sort((a, b) => a.key - b.key)
    .map(({ at }) => at);

const makeTool = (ran: string[]): Tool =>
  defineTool({
    name: 'Make',
    kind: 'builtin',
    prompt: 'Make',
    interruptBehavior: 'cancel',
    input: z.object({ what: z.string() }),
    describe: ({ what }) => `Make ${what}`,
    isReadOnly: () => false,
    isConcurrencySafe: () => false,
    subject: ({ what }) => ({ action: 'write', target: what }),
    async call({ what }) {
      ran.push(what);
      return { content: 'done' };
    },
  }) as Tool;

describe('an agent', () => {
  const makes = [{ calls: [{ id: 'c1', tool: 'Make', input: { what: 'cake' } }] }, { text: 'ok' }];

  test('records the surface that decided, and every refused answer', async () => {
    const ran: string[] = [];
    const store = new MemorySessionStore(systemClock);
    const forger = testSurface('forger', (honest) => ({
      ...honest,
      answer: { ...yes, scope: 'project' },
    }));
    const answers = { ask: async () => settled().then(() => yes) };
    const surfaces = [forger.surface, signingSurface('person', answers, systemClock)];
    const session = await openRig({
      model: speaks(makes),
      tools: [makeTool(ran)],
      store,
      surfaces,
    });
    await finish(session, 'Go.');
    expect(ran).toEqual(['cake']);
    const { records } = await store.readJournal(session.id, session.meta.lead);
    expect(records.filter(({ type }) => type === 'question.answered')).toMatchObject([
      { question: 'q_1', surface: 'forger', outcome: 'refused', refusal: 'forged' },
      { question: 'q_1', surface: 'person', outcome: 'accepted' },
    ]);
    const rulings = records.flatMap((record) => (record.type === 'call.ruled' ? [record] : []));
    expect(rulings.map(({ behavior, by }) => [behavior, by])).toEqual([
      ['ask', undefined],
      ['allow', 'person'],
    ]);
  });

  test('records a late answer while it runs, and not after its end', async () => {
    for (const isOver of [false, true]) {
      const ran: string[] = [];
      const store = new MemorySessionStore(systemClock);
      let answerLate = () => {};
      const late = new Promise<void>((resolve) => {
        answerLate = resolve;
      });
      const quick = { ask: async () => yes };
      const slow = { ask: async () => late.then(() => yes) };
      const surfaces = [
        signingSurface('quick', quick, systemClock),
        signingSurface('slow', slow, systemClock),
      ];
      const rig = { model: speaks(makes), tools: [makeTool(ran)], store, surfaces };
      const session = await openRig({ ...rig, staysIdle: !isOver });
      await finish(session, 'Go.');
      answerLate();
      await settled();
      const { records } = await store.readJournal(session.id, session.meta.lead);
      await session.close();
      const answers = records.filter(({ type }) => type === 'question.answered');
      const refused = { surface: 'slow', refusal: 'already-answered' };
      expect(answers).toMatchObject([{ surface: 'quick' }, ...(isOver ? [] : [refused])]);
      expect(ran).toEqual(['cake']);
    }
  });

  test('does not accept an answer from before a restart for the same call', async () => {
    const ran: string[] = [];
    const store = new MemorySessionStore(systemClock);
    const kept: unknown[] = [];
    const { privateKey, publicKey } = newKey();
    const keeps: KnownSurface = {
      id: 'person',
      publicKey,
      async ask(shown) {
        kept.push(
          signClaims({ ...honestClaims('person', shown), issuedAt: Date.now() }, privateKey),
        );
        return kept.length === 1 ? new Promise(() => {}) : kept[0];
      },
    };
    const rig = { tools: [makeTool(ran)], store, surfaces: [keeps], options: { ids: randomIds } };
    const first = await openRig({ ...rig, model: speaks(makes) });
    const stream = first.run('[{"type":"text","text":"Go"}]');
    for await (const { type } of stream) if (type === 'question.asked') break;
    await first.close();
    const again = await openRig({
      ...rig,
      model: speaks(makes.slice(1)),
      choice: { kind: 'resume', id: first.id },
    });
    for await (const _ of again.run()) void _;
    await again.close();
    expect(kept).toHaveLength(2);
    expect(ran).toEqual([]);
    const { records } = await store.readJournal(again.id, again.meta.lead);
    expect(records.filter(({ type }) => type === 'question.answered')).toMatchObject([
      { outcome: 'refused', refusal: 'other-question' },
    ]);
  });

  const permissions = permissionManager({
    policy: {
      rules: [
        { behavior: 'allow', text: 'Bash', source: 'user' },
        { behavior: 'allow', text: 'Write', source: 'user' },
      ],
      roots: ['/'],
      home: '/home/ada',
      skeinHome: '/home/ada/.skein',
      realPath: (path) => path,
    },
    mode: modeSwitch('bypassPermissions'),
    surfaces: [],
    permissionTimeoutMs: 1_000,
    keepRule: () => undefined,
  });

  test.each([
    ['Bash', { command: 'skein approve q_1' }],
    ['Bash', { command: 'npx skein approve q_1 --for project' }],
    ['Bash', { command: 'env X=1 skein deny q_2' }],
    ['Bash', { command: 'cat /home/ada/.skein/keys/person.pem' }],
    ['Write', { file_path: '/home/ada/.skein/sessions/s_1/inbox/q_1.json', content: '{}' }],
    ['Read', { file_path: '/home/ada/.skein/sessions/s_1/agents/a_1.jsonl' }],
  ])('cannot answer a question with a known id through %s %j', (tool, given) => {
    const judgement = judgeCall(
      { id: 'c', tool, input: given },
      toolbox(builtinTools),
      permissions,
      '/repo',
    );
    expect(judgement).toMatchObject({ kind: 'judged', ruling: { behavior: 'deny' } });
  });
});
