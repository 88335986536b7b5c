/** Law 6: one decision per question. Races, forgeries and replays, in one process. */
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

/** A surface with its key in the test's hand, which says whatever the test wants it to say. */
const held = (id: string, reply: (honest: SignedAnswer, shown: PermissionQuestion) => unknown) => {
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
  terms: { readonly parent?: string; readonly asked?: PermissionQuestion } = {},
) => {
  const clock = virtualClock(START);
  const stop = new AbortController();
  const heard: SurfaceOutcome[] = [];
  const decision = askSurfaces(surfaces, terms.asked ?? question, {
    clock,
    timeoutMs: TIMEOUT,
    signal: stop.signal,
    parent: terms.parent,
    onAnswer: (what) => heard.push(what),
  });
  return { decision, heard, clock, stop };
};

describe('an answer that does not count', () => {
  const other = held('other', () => undefined);
  const cases: readonly [string, AnswerRefusal, (it: ReturnType<typeof held>) => unknown][] = [
    ['is none at all', 'malformed', () => 'yes'],
    ['says more than was signed', 'malformed', ({ sign }) => ({ ...sign({}), root: true })],
    ['names a surface that is not known', 'unknown-surface', ({ sign }) => sign({ surface: 'x' })],
    ['is signed with another key', 'forged', ({ sign }) => sign({}, newKey().privateKey)],
    ['is signed with the key of another surface', 'forged', () => other.sign({ surface: 'it' })],
    ['has no signature', 'forged', ({ sign }) => ({ ...sign({}), signature: '' })],
    ['was turned round on the way', 'forged', ({ sign }) => ({ ...denial(sign), answer: yes })],
    ['was given a wider scope', 'forged', ({ sign }) => ({ ...sign({}), answer: forever })],
    ['is for another question', 'other-question', ({ sign }) => sign({ question: 'q_0' })],
    ['is for another agent', 'other-agent', ({ sign }) => sign({ agent: 'a_2' })],
    ['is for another call', 'other-call', ({ sign }) => sign({ call: 'c_2' })],
    ['is for another input', 'other-input', ({ sign }) => sign({ inputDigest: inputDigest({}) })],
    ['is from long before', 'out-of-time', ({ sign }) => sign({ issuedAt: START - 60_001 })],
    ['is from the future', 'out-of-time', ({ sign }) => sign({ issuedAt: START + TIMEOUT * 2 })],
  ];
  const forever: PermissionAnswer = { behavior: 'allow', scope: 'project' };
  const denial = (sign: ReturnType<typeof held>['sign']) =>
    sign({ answer: { behavior: 'deny', reason: 'No.' } });

  test.each(cases)('%s: %s', async (_, refusal, forge) => {
    const it: ReturnType<typeof held> = held('it', () => forge(it));
    const { decision, heard } = ask([{ ...it.surface, forwardableKeys: [other.surface] }]);
    expect(await decision).toMatchObject({ behavior: 'deny' });
    expect(await decision).not.toHaveProperty('by');
    expect(heard).toMatchObject([{ outcome: 'refused', refusal }]);
  });

  test('is told from one that somebody else of the same name has signed', async () => {
    const stranger = held('person', () => undefined);
    const away = held('person', () => undefined);
    const person = held('person', () => away.sign({}));
    const asked = (handsOn: readonly KnownSurface[]) =>
      ask([{ ...person.surface, forwardableKeys: handsOn }]);
    expect(await asked([stranger.surface, away.surface]).decision).toMatchObject({
      behavior: 'allow',
      by: 'person',
    });
    const { decision, heard } = asked([stranger.surface]);
    expect(await decision).toMatchObject({ behavior: 'deny' });
    expect(heard).toMatchObject([{ outcome: 'refused', refusal: 'forged' }]);
  });

  test('comes from the agent that asks, whatever key it has', async () => {
    const itself = held('a_1', (honest) => honest);
    const { decision, heard } = ask([itself.surface]);
    expect(await decision).toMatchObject({ behavior: 'deny' });
    expect(heard).toMatchObject([{ refusal: 'unknown-surface' }]);
  });

  test('leaves the question to those who may still answer', async () => {
    const forger = held('forger', (honest) => ({ ...honest, agent: 'a_9' }));
    const person = held('person', async (honest) => settled().then(() => honest));
    const { decision, heard } = ask([forger.surface, person.surface]);
    expect(await decision).toMatchObject({ behavior: 'allow', by: 'person' });
    expect(heard).toMatchObject([
      { surface: 'forger', outcome: 'refused', refusal: 'forged' },
      { surface: 'person', outcome: 'accepted' },
    ]);
  });

  test('comes from an agent that has a desk but is not the parent', async () => {
    const permissions = held('desk of a_3', (honest) => honest);
    const surface = { ...permissions.surface, answersFor: 'a_3' };
    const asSibling = ask([surface], { parent: 'a_0' });
    expect(await asSibling.decision).toMatchObject({ behavior: 'deny' });
    expect(asSibling.heard).toMatchObject([{ refusal: 'not-the-parent' }]);
    const asOrphan = ask([surface]);
    expect(await asOrphan.decision).toMatchObject({ behavior: 'deny' });
    const asParent = ask([surface], { parent: 'a_3' });
    expect(await asParent.decision).toMatchObject({ behavior: 'allow', by: 'desk of a_3' });
  });

  test('is one that was valid for an earlier question', async () => {
    const kept: SignedAnswer[] = [];
    const replaying = held('it', (honest) => {
      kept.push(honest);
      return kept[0];
    });
    expect(await ask([replaying.surface]).decision).toMatchObject({ behavior: 'allow' });
    const again = ask([replaying.surface], { asked: { ...question, id: 'q_2' } });
    expect(await again.decision).toMatchObject({ behavior: 'deny' });
    expect(again.heard).toMatchObject([{ refusal: 'other-question' }]);
  });

  test('is about an input that has changed since it was shown', async () => {
    const changing = { command: 'make' };
    const asked = { ...question, input: changing };
    const it = held('it', (honest) => {
      changing.command = 'make clean';
      return honest;
    });
    const { decision, heard } = ask([it.surface], { asked });
    expect(await decision).toMatchObject({ behavior: 'deny' });
    expect(heard).toMatchObject([{ refusal: 'other-input' }]);
  });
});

describe('a question', () => {
  test('is over when its time is: what comes later is refused', async () => {
    let answer = () => {};
    const late = held('late', (honest) => new Promise((go) => (answer = () => go(honest))));
    const { decision, heard, clock } = ask([late.surface]);
    await clock.advance(TIMEOUT);
    expect(await decision).toMatchObject({
      behavior: 'deny',
      reason: expect.stringMatching(/^Nobody answered/),
    });
    expect(late.withdrawn).toEqual(['q_1']);
    answer();
    await settled();
    expect(heard).toMatchObject([{ outcome: 'refused', refusal: 'out-of-time' }]);
    expect(clock.sleepers).toBe(0);
  });

  test('is over when it is withdrawn: what comes later is refused', async () => {
    let answer = () => {};
    const late = held('late', (honest) => new Promise((go) => (answer = () => go(honest))));
    const { decision, heard, stop, clock } = ask([late.surface]);
    stop.abort();
    expect(await decision).toMatchObject({
      behavior: 'deny',
      reason: expect.stringMatching(/interrupted/),
    });
    answer();
    await settled();
    expect(heard).toMatchObject([{ outcome: 'refused', refusal: 'withdrawn' }]);
    expect(clock.sleepers).toBe(0);
  });

  test('is asked of nobody when it is withdrawn already', async () => {
    const stop = new AbortController();
    stop.abort();
    const asked: string[] = [];
    const never = held('never', (_, { id }) => asked.push(id));
    const terms = { clock: virtualClock(), timeoutMs: TIMEOUT, signal: stop.signal };
    expect(await askSurfaces([never.surface], question, terms)).toMatchObject({ behavior: 'deny' });
    expect(asked).toEqual([]);
  });

  test('is denied when all who may answer have failed, and not before', async () => {
    const fails = (id: string) => held(id, () => Promise.reject(new Error(`${id} is gone`)));
    const { decision, heard } = ask([fails('one').surface, fails('two').surface]);
    const reason = 'The question could not be answered: two is gone';
    expect(await decision).toEqual({ behavior: 'deny', reason });
    expect(heard.map(({ outcome }) => outcome)).toEqual(['failed', 'failed']);
  });

  test('shows each surface a copy that it cannot change for anybody else', async () => {
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
  test('has one winner: the first whose answer counts', async () => {
    await fc.assert(
      fc.asyncProperty(
        fc.array(anyMove, { minLength: 1, maxLength: 5 }),
        fc.infiniteStream(fc.nat()),
        async (moves, chance) => {
          const go: (() => void)[] = [];
          const racers: ReturnType<typeof held>[] = moves.map((move, at) =>
            held(`s${at}`, async (honest) => {
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
          const { decision, heard, clock } = ask(racers.map(({ surface }) => surface));
          const order = shuffled(moves, chance);
          for (const at of order) {
            go[at]?.();
            await settled();
          }
          const winner = order.find((at) => moves[at] === 'allow' || moves[at] === 'deny');
          await clock.advance(TIMEOUT);
          const decided = await decision;
          expect(decided.by).toBe(winner === undefined ? undefined : `s${winner}`);
          expect(decided.behavior).toBe(moves[winner ?? -1] === 'allow' ? 'allow' : 'deny');
          const accepted = heard.filter(({ outcome }) => outcome === 'accepted');
          expect(accepted).toHaveLength(winner === undefined ? 0 : 1);
          expect(heard.length).toBeLessThanOrEqual(moves.length);
          const late = heard.filter(({ refusal }) => refusal === 'already-answered');
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

const shuffled = (moves: readonly unknown[], chance: fc.Stream<number>): readonly number[] =>
  moves
    .map((_, at) => ({ at, key: chance.next().value as number }))
    .sort((one, two) => one.key - two.key)
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

  test('writes down who decided, and every answer that did not count', async () => {
    const ran: string[] = [];
    const store = new MemorySessionStore(systemClock);
    const forger = held('forger', (honest) => ({
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

  test('writes a late answer down while it lives, and nothing once it is over', async () => {
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
      const session = await openRig({ ...rig, lingers: !isOver });
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

  test('does not take an answer from before a restart for the same call', async () => {
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
  ])('that knows the id of a question cannot answer it through %s %j', (tool, given) => {
    const judgement = judgeCall(
      { id: 'c', tool, input: given },
      toolbox(builtinTools),
      permissions,
      '/repo',
    );
    expect(judgement).toMatchObject({ kind: 'judged', ruling: { behavior: 'deny' } });
  });
});
