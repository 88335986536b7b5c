/** What a fan-out costs, before it is paid for: asked by a lead, and shown to people before a large one. */
import { type EndedAgent, fanOutPreview, habitsOf } from '../context/fan-out-preview.js';
import { tokensOfBytes } from '../context/tokens.js';
import { roleText } from '../prompt/delegation-text.js';
import type { SpawnPreview } from '../protocol/swarm.js';
import { definitionOf, type Household } from './household.js';
import { type Member, siblingsOf } from './member.js';

/** So many agents at once are worth a word about money. */
const LARGE = 10;
/** The agents that ended last tell what the next will be like. */
const MOST_OBSERVED = 200;
/** A task in words, where nobody has said it yet. */
const TASK_TOKENS = 200;

export class FanOuts {
  private readonly house: Household;
  private readonly lead: Member;
  private readonly ended: EndedAgent[] = [];
  /** The messages for which people were told. */
  private readonly told = new WeakMap<Member, number>();

  constructor(house: Household, lead: Member) {
    this.house = house;
    this.lead = lead;
  }

  /** Once for a message that asks for many. */
  announce(parent: Member, type: string | null, model: string): void {
    const { turns } = parent.deps.notebook.history;
    const count = siblingsOf(parent, type);
    if (count < LARGE || this.told.get(parent) === turns) return;
    this.told.set(parent, turns);
    const preview = this.preview(parent, count, type, model);
    if (preview !== undefined) this.lead.deps.feed.emit({ type: 'fan-out.previewed', preview });
  }

  /** Undefined when the price of the model is not known. */
  preview(
    parent: Member,
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
      ...{ count, model, prefixTokens, cachedTokens, ownTokens: TASK_TOKENS },
      ...habitsOf(this.ended),
    });
  }

  observe({ deps }: Member): void {
    const { messages, turns, spent } = deps.notebook.history;
    const grown = messages.slice(1 - 2 * turns).reduce((sum, { weight }) => sum + weight, 0);
    const grownTokens = turns === 0 ? 0 : tokensOfBytes(grown);
    this.ended.push({ turns, outputTokens: spent.usage.output, grownTokens });
    if (this.ended.length > MOST_OBSERVED) this.ended.shift();
  }
}
