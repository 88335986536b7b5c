/**
 * A swarm in memory that follows a plan: who starts whom, how much each does and what its answers cost.
 * An agent finds its part of the plan by the mark in its task, so answers depend on content alone.
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
  /** `sync` and `background` ones are explorers; `forked` is a fork in the background. */
  readonly kind: 'sync' | 'fork' | 'background' | 'forked';
  /** Turns of its own before it answers. */
  readonly looks: number;
  /** Tokens of each of its answers. */
  readonly output: number;
  readonly children: readonly Plan[];
}

export const MODEL = 'claude-opus-5-5';

/** What an answer of so many tokens costs here. */
export const priceOf = (output: number): number =>
  requestCost(MODEL, { input: 100, output, cacheRead: 0, cacheWrite5m: 0, cacheWrite1h: 0 }) ?? 0;

/** The address of an agent in the plan, and how often it has answered. */
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

const TERMS: Record<Plan['kind'], Record<string, unknown>> = {
  sync: { subagent_type: 'explorer' },
  fork: {},
  background: { subagent_type: 'explorer', run_in_background: true },
  forked: { run_in_background: true },
};

/** One answer of one agent. */
const answerFor = ({ looks, output, children }: Plan, path: string, turn: number): Answer => {
  const usage = { output };
  const steps: Step[] = [says(`${path} said ${turn}`)];
  if (turn === 0 && children.length > 0) {
    const asked = children.map(({ kind }, at) =>
      calls(
        `t${path}.${at}`,
        'Task',
        task(`<<${path}.${at}>>`, { description: 'x', ...TERMS[kind] }),
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
  /** What all answers cost. */
  readonly spent: number;
  /** What they had cost when each request was sent, and the most that were under way at once. */
  readonly spentBefore: readonly number[];
  /** The same in tokens. */
  readonly tokens: number;
  readonly tokensBefore: readonly number[];
  readonly mostInFlight: number;
  /** What became of all that the lead had below it. */
  readonly reports: readonly ChildReport[];
  /** The result of a call of the lead: `t0.1` asked for the second of its agents. */
  said(call: string): string;
}

/** What is on record of the lead and all below it, by id. */
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
  let mostInFlight = 0;
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
    const { type, ...said } = item.type === 'agent.feed' ? item.item : item;
    if (type === 'request.started') {
      spentBefore.push(spent);
      tokensBefore.push(tokens);
      inFlight += 1;
      mostInFlight = Math.max(mostInFlight, inFlight);
    } else if (type === 'assistant.message') {
      const { model, usage } = said as FeedItem & { type: 'assistant.message' };
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
  for (let round = 0; round < MOST_ROUNDS && !isOver; round += 1) await allSettled(1);
  if (!isOver) throw new Error('the swarm does not come to an end');
  await harness.lead.close();
  const reports = harness.items.flatMap((it) => (it.type === 'agent.ended' ? [it.report] : []));
  const said = (call: string) =>
    harness.items
      .flatMap((it) => (it.type === 'tool.ended' && it.call === call ? [it.raw] : []))
      .map((raw) => (JSON.parse(raw) as { content: string }).content)
      .join();
  return { ...harness, spent, spentBefore, tokens, tokensBefore, mostInFlight, reports, said };
};

const MOST_ROUNDS = 5_000;
