/**
 * Simulates a busy swarm for viewers: each agent writes ten journal records a second, through the store and
 * without a model. Runs until it is killed.
 */
import { randomBytes } from 'node:crypto';
import { ownerLives, ownerMarker } from '../src/host/process/ownership/owner-marker.js';
import { systemClock } from '../src/protocol/clock.js';
import { randomIds } from '../src/protocol/ids.js';
import type { Journal } from '../src/protocol/session/journal.js';
import type { JournalBody } from '../src/protocol/session/journal-record.js';
import { SESSION_FORMAT } from '../src/protocol/session/session-store.js';
import { FileSessionStore } from '../src/store/files/file-session-store.js';
import { printLine } from './peers.js';

const [root = '', id = '', agentCount = '500', perSecond = '10'] = process.argv.slice(2);
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

interface BusyAgent {
  readonly journal: Journal;
  /** Number of the next record. */
  nextRecord: number;
}

const startAgent = async (agent: string, parent: string | null, at: number): Promise<BusyAgent> => {
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
  return { journal, nextRecord: at };
};

/** Returns record `number` of an agent. Two turns with a call each make ten records. */
const recordOf = (number: number): JournalBody => {
  const turn = Math.floor(number / 5) + 1;
  const call = `c_${turn}`;
  const attempt = { turn, attempt: 1 };
  const tool = 'Bash';
  switch (number % 5) {
    case 0:
      return {
        type: 'turn.started',
        ...attempt,
        model: MODEL,
        estimatedTokens: 12_000,
        tools: 20,
        messages: turn,
      };
    case 1:
      return {
        type: 'assistant.received',
        ...attempt,
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
        ...attempt,
        call,
        tool,
        behavior: 'allow',
        step: 'allow',
        reason: 'a rule allows it',
      };
    case 3:
      return {
        type: 'call.started',
        ...attempt,
        call,
        tool,
        readOnly: true,
        inputDigest: 'x',
        description: `Bash npm test -- tests/part-${randomBytes(3).toString('hex')}.test.ts`,
      };
    default:
      return {
        type: 'call.ended',
        ...attempt,
        call,
        tool,
        outcome: 'ok',
        durationMs: 40,
        raw: '{}',
      };
  }
};

const agents = [await startAgent(lead, null, 0)];
for (let at = 1; at < Number(agentCount); at += 1) {
  agents.push(await startAgent(randomIds('agent'), lead, at));
}
printLine(String(process.pid));

const perTick = (Number(agentCount) * Number(perSecond) * TICK_MS) / 1_000;
const started = performance.now();
let writtenCount = 0;
setInterval(() => {
  // Writes late records too, so that a busy machine does not lower the rate.
  const dueCount = ((performance.now() - started) / TICK_MS) * perTick;
  for (; writtenCount < dueCount; writtenCount += 1) {
    const agent = agents[writtenCount % agents.length];
    if (agent === undefined) continue;
    agent.journal.append(recordOf(agent.nextRecord));
    agent.nextRecord += 1;
  }
}, TICK_MS);
