/** What a fan-out costs, before it is paid for: asked by a lead, and shown to people before a large one. */
import {
  type EndedAgent,
  fanOutPreview,
  habitsOf,
  type Range,
} from '../../context/budget/fan-out-preview.js';
import { tokensOfBytes } from '../../context/window/tokens.js';
import { roleText } from '../../prompt/messages/delegation-text.js';
import type { SpawnPreview } from '../../protocol/agent/swarm.js';
import { type AgentNode, type SiblingGroup, siblingGroupsOf } from '../tree/agent-node.js';
import { definitionOf, type SwarmContext } from '../tree/swarm-context.js';
import { modelOf } from './spawn-spec.js';

/** So many agents at once are worth a word about money. */
const LARGE = 10;
/** The agents that ended last tell what the next will be like. */
const MOST_OBSERVED = 200;
/** A task in words, where nobody has said it yet. */
const TASK_TOKENS = 200;

type Group = SiblingGroup & { readonly model: string };

export class FanOutEstimator {
  private readonly house: SwarmContext;
  private readonly lead: AgentNode;
  private readonly ended: EndedAgent[] = [];
  /** The messages for which people were told. */
  private readonly told = new WeakMap<AgentNode, number>();

  constructor(house: SwarmContext, lead: AgentNode) {
    this.house = house;
    this.lead = lead;
  }

  /** Once for a message that asks for many, of whatever types they are. */
  announce(parent: AgentNode): void {
    const { turns } = parent.deps.notebook.history;
    if (this.told.get(parent) === turns) return;
    this.told.set(parent, turns);
    const groups = siblingGroupsOf(parent).flatMap((group) => this.known(parent, group));
    const count = groups.reduce((sum, group) => sum + group.count, 0);
    if (count < LARGE) return;
    const previews = groups.map((group) =>
      this.preview(parent, group.count, group.type, group.model),
    );
    const models = new Set(groups.map(({ model }) => model));
    const preview = {
      count,
      model: [...models].join(', '),
      observed: habitsOf(this.ended).observed,
      withCache: sumOf(previews.map((one) => one?.withCache)),
      withoutCache: sumOf(previews.map((one) => one?.withoutCache)),
    };
    this.lead.deps.feed.emit({ type: 'fan-out.previewed', preview });
  }

  /** With the model that they would run on; nothing for those that will be refused. */
  private known(parent: AgentNode, { type, model, count }: SiblingGroup): readonly Group[] {
    const isRefused =
      type === null ? model !== undefined : definitionOf(this.house, type) === undefined;
    if (isRefused) return [];
    const kind = { type: type ?? undefined, model };
    return [{ type, model: modelOf(this.house, parent, kind), count }];
  }

  /** Undefined when the price of the model is not known. */
  preview(
    parent: AgentNode,
    count: number,
    type: string | null,
    model: string,
  ): SpawnPreview | undefined {
    const { history } = parent.deps.notebook;
    const head = tokensOfBytes(history.promptBytes);
    const isFork = type === null;
    const role = definitionOf(this.house, type)?.prompt ?? '';
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
      ...habitsOf(this.ended),
    });
  }

  observe({ deps }: AgentNode): void {
    const { messages, turns, spent } = deps.notebook.history;
    const grown = messages.slice(1 - 2 * turns).reduce((sum, { weight }) => sum + weight, 0);
    const grownTokens = turns === 0 ? 0 : tokensOfBytes(grown);
    this.ended.push({ turns, outputTokens: spent.usage.output, grownTokens });
    if (this.ended.length > MOST_OBSERVED) this.ended.shift();
  }
}

/** Of ranges; null when one of them is not known, since a sum without it would be too low. */
const sumOf = (ranges: readonly (Range | undefined)[]): Range | null => {
  let [least, most] = [0, 0];
  for (const range of ranges) {
    if (range === undefined) return null;
    least += range[0];
    most += range[1];
  }
  return [least, most];
};
