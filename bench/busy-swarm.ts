/**
 * A session whose agents do nothing but say that they do: each writes ten facts a second, through the store
 * and without a model, for whoever looks on. Ends when it is killed.
 */
import { randomBytes } from 'node:crypto';
import { ownerLives, ownerMarker } from '../src/host/process/ownership/owner-marker.js';
import { systemClock } from '../src/protocol/clock.js';
import { randomIds } from '../src/protocol/ids.js';
import type { Journal } from '../src/protocol/session/journal.js';
import type { JournalBody } from '../src/protocol/session/journal-record.js';
import { SESSION_FORMAT } from '../src/protocol/session/session-store.js';
import { FileSessionStore } from '../src/store/files/file-session-store.js';
import { say } from './peers.js';

const [root = '', id = '', many = '500', perSecond = '10'] = process.argv.slice(2);
const TICK_MS = 20;
const MODEL = 'claude-sonnet-4-5';
const TYPES = ['explorer', 'reviewer', 'tester', 'general-purpose'];

const marker = ownerMarker(randomIds('owner'));
const store = new FileSessionStore({
  root,
  owner: { marker, pid: process.pid },
  isOwnerAlive: ownerLives,
  clock: systemClock,
  redact: (text) => text,
});
const now = Date.now();
const lead = randomIds('agent');
const session = await store.create({
  format: SESSION_FORMAT,
  id,
  cwd: root,
  createdAt: now,
  updatedAt: now,
  lead,
  model: MODEL,
  version: '0',
  entrypoint: 'bench',
  parentId: null,
  title: 'five hundred at once',
});

interface Worker {
  readonly journal: Journal;
  /** How many facts it has told. */
  told: number;
}

const begin = async (agent: string, parent: string | null, at: number): Promise<Worker> => {
  const journal = await session.journal(agent, parent);
  const type = TYPES[at % TYPES.length] ?? null;
  const origin = {
    kind: 'background' as const,
    type,
    call: `t_${at}`,
    depth: 1,
    description: `part ${at} of the work that the lead has shared out`,
  };
  journal.append({
    type: 'agent.created',
    agent,
    parent,
    cwd: root,
    model: MODEL,
    prompt: 'none',
    ...(parent !== null && { origin }),
  });
  journal.append({ type: 'epoch.began', owner: marker });
  journal.append({ type: 'run.started', run: 1 });
  return { journal, told: at };
};

/** Two turns with a call each make ten facts. */
const factOf = (told: number): JournalBody => {
  const turn = Math.floor(told / 5) + 1;
  const call = `c_${turn}`;
  const place = { turn, attempt: 1 };
  const tool = 'Bash';
  switch (told % 5) {
    case 0:
      return {
        type: 'turn.started',
        ...place,
        model: MODEL,
        estimatedTokens: 12_000,
        tools: 20,
        messages: turn,
      };
    case 1:
      return {
        type: 'assistant.received',
        ...place,
        model: MODEL,
        messageId: null,
        requestId: null,
        stopReason: 'tool_use',
        cost: 0.0123,
        durationMs: 90,
        raw: '[]',
        usage: { input: 12, output: 80, cacheRead: 11_000, cacheWrite5m: 400, cacheWrite1h: 0 },
      };
    case 2:
      return {
        type: 'call.ruled',
        ...place,
        call,
        tool,
        behavior: 'allow',
        step: 'allow',
        reason: 'a rule allows it',
      };
    case 3:
      return {
        type: 'call.started',
        ...place,
        call,
        tool,
        readOnly: true,
        inputDigest: 'x',
        description: `Bash npm test -- tests/part-${randomBytes(3).toString('hex')}.test.ts`,
      };
    default:
      return {
        type: 'call.ended',
        ...place,
        call,
        tool,
        outcome: 'ok',
        durationMs: 40,
        raw: '{}',
      };
  }
};

const workers = [await begin(lead, null, 0)];
for (let at = 1; at < Number(many); at += 1) {
  workers.push(await begin(randomIds('agent'), lead, at));
}
say(String(process.pid));

const perTick = (Number(many) * Number(perSecond) * TICK_MS) / 1_000;
const started = performance.now();
let told = 0;
setInterval(() => {
  // What a busy machine held up is caught up with.
  const due = ((performance.now() - started) / TICK_MS) * perTick;
  for (; told < due; told += 1) {
    const worker = workers[told % workers.length];
    if (worker === undefined) continue;
    worker.journal.append(factOf(worker.told));
    worker.told += 1;
  }
}, TICK_MS);
