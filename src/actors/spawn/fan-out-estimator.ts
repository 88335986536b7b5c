/** Estimates the cost of spawning many agents, on request of a lead and before a large fan-out. */
import {
  type EndedAgent,
  fanOutPreview,
  type Range,
  usageProfile,
} from '../../context/budget/fan-out-preview.js';
import { tokensOfBytes } from '../../context/window/text-weight.js';
import { roleText } from '../../prompt/messages/role-text.js';
import type { SpawnPreview } from '../../protocol/agent/agents.js';
import { type AgentNode, type SiblingGroup, siblingGroupsOf } from '../tree/agent-node.js';
import { definitionOf, type SwarmContext } from '../tree/swarm-context.js';
import { modelOf } from './spawn-spec.js';

/** Number of agents in a message from which the estimate is shown. */
const LARGE_FAN_OUT = 10;
/** Maximum ended agents on which an estimate is based. */
const MAX_OBSERVED = 200;
/** Assumed size of a task that is not known yet. */
const TASK_TOKENS = 200;

type Group = SiblingGroup & { readonly model: string };

export class FanOutEstimator {
  private readonly context: SwarmContext;
  private readonly lead: AgentNode;
  private readonly ended: EndedAgent[] = [];
  /** Turn of the last announced message, by parent. */
  private readonly announced = new WeakMap<AgentNode, number>();

  constructor(context: SwarmContext, lead: AgentNode) {
    this.context = context;
    this.lead = lead;
  }

  /** Emits the estimate of a large fan-out, once per message. */
  announce(parent: AgentNode): void {
    const { turns } = parent.deps.journal.history;
    if (this.announced.get(parent) === turns) return;
    this.announced.set(parent, turns);
    const groups = siblingGroupsOf(parent).flatMap((group) => this.resolveGroup(parent, group));
    const count = groups.reduce((sum, group) => sum + group.count, 0);
    if (count < LARGE_FAN_OUT) return;
    const previews = groups.map((group) =>
      this.preview(parent, group.count, group.type, group.model),
    );
    const models = new Set(groups.map(({ model }) => model));
    const preview = {
      count,
      model: [...models].join(', '),
      observed: usageProfile(this.ended).observed,
      withCache: sumOf(previews.map((estimate) => estimate?.withCache)),
      withoutCache: sumOf(previews.map((estimate) => estimate?.withoutCache)),
    };
    this.lead.deps.feed.emit({ type: 'fan-out.previewed', preview });
  }

  /** Resolves the model of a group. Returns an empty list for a group that will be refused. */
  private resolveGroup(parent: AgentNode, { type, model, count }: SiblingGroup): readonly Group[] {
    const isRefused =
      type === null ? model !== undefined : definitionOf(this.context, type) === undefined;
    if (isRefused) return [];
    const kind = { type: type ?? undefined, model };
    return [{ type, model: modelOf(this.context, parent, kind), count }];
  }

  /** Returns undefined if the price of the model is unknown. */
  preview(
    parent: AgentNode,
    count: number,
    type: string | null,
    model: string,
  ): SpawnPreview | undefined {
    const { history } = parent.deps.journal;
    // Typed agents send the preamble of their parent, which is cached with the prompt head.
    const preamble = history.messages[0]?.preambleEnd ?? 0;
    const head = tokensOfBytes(history.promptBytes + preamble);
    const isFork = type === null;
    const role = definitionOf(this.context, type)?.prompt ?? '';
    const prefixTokens = isFork
      ? history.tokens
      : head + tokensOfBytes(Buffer.byteLength(roleText(type, role)));
    const isSameModel = model === history.model;
    const cachedTokens = isFork ? history.countedTokens : isSameModel ? head : 0;
    return fanOutPreview({
      count,
      model,
      prefixTokens,
      cachedTokens,
      ownTokens: TASK_TOKENS,
      ...usageProfile(this.ended),
    });
  }

  observe({ deps }: AgentNode): void {
    const { messages, turns, spent } = deps.journal.history;
    const grown = messages.slice(1 - 2 * turns).reduce((sum, { weight }) => sum + weight, 0);
    const grownTokens = turns === 0 ? 0 : tokensOfBytes(grown);
    this.ended.push({ turns, outputTokens: spent.usage.output, grownTokens });
    if (this.ended.length > MAX_OBSERVED) this.ended.shift();
  }
}

/** Returns the sum of the ranges. Returns null if a range is unknown, because the sum would be too low. */
const sumOf = (ranges: readonly (Range | undefined)[]): Range | null => {
  let [min, max] = [0, 0];
  for (const range of ranges) {
    if (range === undefined) return null;
    min += range[0];
    max += range[1];
  }
  return [min, max];
};
