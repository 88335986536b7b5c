/**
 * Swarm in memory that follows a plan: the children, turns and answer sizes of each agent. An agent finds
 * its part of the plan by the mark in its task, so answers depend on content alone.
 */
import { History } from '../../../src/context/history/history.js';
import type { ChildReport } from '../../../src/protocol/agent/child-report.js';
import { requestCost } from '../../../src/protocol/model/request-cost.js';
import { windowTokens } from '../../../src/protocol/model/usage.js';
import type { FeedItem } from '../../../src/protocol/session/feed.js';
import type { Answer, Step } from '../../fakes/agents/scripted-model.js';
import { calls, ends, says } from '../../fakes/agents/scripted-model.js';
import type { LeadOptions } from '../session/lead-harness.js';
import {
  allSettled,
  type Conversation,
  type SwarmHarness,
  swarmHarness,
  task,
} from './swarm-harness.js';

export interface Plan {
  /** `sync` and `background` agents are explorers; `forked` is a fork in the background. */
  readonly kind: 'sync' | 'fork' | 'background' | 'forked';
  /** Turns with a Look call before the last answer. */
  readonly looks: number;
  /** Tokens of each of its answers. */
  readonly output: number;
  readonly children: readonly Plan[];
}

export const MODEL = 'claude-opus-5-5';

/** Cost of an answer with `output` tokens. */
export const priceOf = (output: number): number =>
  requestCost(MODEL, { input: 100, output, cacheRead: 0, cacheWrite5m: 0, cacheWrite1h: 0 }) ?? 0;

/** Path of an agent in the plan, and its number of answers so far. */
export const partOf = ({
  said,
}: Conversation): { readonly path: string; readonly turn: number } => {
  const at = said.findLastIndex((text) => MARK.test(text));
  const path = [...(said[at] ?? '').matchAll(MARKS)].at(-1)?.[1] ?? '';
  return { path, turn: said.length - 1 - at };
};

const MARK = /<<[\d.]*>>/;
const MARKS = /<<([\d.]*)>>/g;

const planAt = (plan: Plan, path: string): Plan =>
  path
    .split('.')
    .slice(1)
    .reduce((at, step) => {
      const next = at.children[Number(step)];
      if (next === undefined) throw new Error(`nobody planned ${path}`);
      return next;
    }, plan);

const TASK_INPUT: Record<Plan['kind'], Record<string, unknown>> = {
  sync: { subagent_type: 'explorer' },
  fork: {},
  background: { subagent_type: 'explorer', run_in_background: true },
  forked: { run_in_background: true },
};

/** Answer of an agent in a turn. */
const answerFor = ({ looks, output, children }: Plan, path: string, turn: number): Answer => {
  const usage = { output };
  const steps: Step[] = [says(`${path} said ${turn}`)];
  if (turn === 0 && children.length > 0) {
    const asked = children.map(({ kind }, at) =>
      calls(
        `t${path}.${at}`,
        'Task',
        task(`<<${path}.${at}>>`, { description: 'x', ...TASK_INPUT[kind] }),
      ),
    );
    return [...steps, ...asked, ends('tool_use', usage)];
  }
  const isLooking = turn < looks + (children.length > 0 ? 1 : 0);
  if (!isLooking) return [...steps, ends('end_turn', usage)];
  const look = calls(`l${path}_${turn}`, 'Look', { name: `around ${turn}` });
  return [...steps, look, ends('tool_use', usage)];
};

export interface PlannedSwarm extends SwarmHarness {
  /** Cost of all answers. */
  readonly spent: number;
  /** Cost of all earlier answers when each request was sent. */
  readonly spentBefore: readonly number[];
  /** Tokens of all answers. */
  readonly tokens: number;
  readonly tokensBefore: readonly number[];
  readonly maxInFlight: number;
  /** Reports of all ended agents. */
  readonly reports: readonly ChildReport[];
  /** Result of a call of the lead: `t0.1` is the Task call for its second child. */
  said(call: string): string;
}

/** Journaled histories of the lead and all its descendants, by id. */
export const histories = async ({ lead, store }: SwarmHarness): Promise<Map<string, History>> => {
  const found = new Map<string, History>();
  for await (const { type, agent } of store.events(lead.id)) {
    if (type !== 'agent.spawned') continue;
    const history = new History();
    for (const record of (await store.readJournal(lead.id, agent)).records) history.apply(record);
    found.set(agent, history);
  }
  return found;
};

/** Runs a plan to its end. */
export const follow = async (
  plan: Plan,
  options: Partial<Omit<LeadOptions, 'model'>> = {},
  prompt = '<<0>>',
): Promise<PlannedSwarm> => {
  let spent = 0;
  let tokens = 0;
  let inFlight = 0;
  let maxInFlight = 0;
  const spentBefore: number[] = [];
  const tokensBefore: number[] = [];
  const harness = await swarmHarness(
    (conversation) => {
      const { path, turn } = partOf(conversation);
      return answerFor(planAt(plan, path), path, turn);
    },
    { modelName: MODEL, ...options },
  );
  harness.lead.listen((item) => {
    const { type, ...rest } = item.type === 'agent.feed' ? item.item : item;
    if (type === 'request.started') {
      spentBefore.push(spent);
      tokensBefore.push(tokens);
      inFlight += 1;
      maxInFlight = Math.max(maxInFlight, inFlight);
    } else if (type === 'assistant.message') {
      const { model, usage } = rest as FeedItem & { type: 'assistant.message' };
      spent += requestCost(model, usage) ?? 0;
      tokens += windowTokens(usage);
      inFlight -= 1;
    }
  });
  let isOver = false;
  void harness.lead.stopped.then(() => {
    isOver = true;
  });
  if (prompt === '') harness.lead.start();
  else await harness.say(prompt);
  for (let round = 0; round < MAX_ROUNDS && !isOver; round += 1) await allSettled(1);
  if (!isOver) throw new Error('the swarm does not come to an end');
  await harness.lead.close();
  const reports = harness.items.flatMap((it) => (it.type === 'agent.ended' ? [it.report] : []));
  const said = (call: string) =>
    harness.items
      .flatMap((it) => (it.type === 'tool.ended' && it.call === call ? [it.raw] : []))
      .map((raw) => (JSON.parse(raw) as { content: string }).content)
      .join();
  return { ...harness, spent, spentBefore, tokens, tokensBefore, maxInFlight, reports, said };
};

const MAX_ROUNDS = 5_000;
