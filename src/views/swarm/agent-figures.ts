/** Folds the turns, spending and context size of one agent. */
import { spendingOf } from '../../context/budget/event-spending.js';
import { addUsage, NO_USAGE, type Usage, windowTokens } from '../../protocol/model/usage.js';
import type { SwarmEvent } from '../../protocol/session/swarm-event.js';

export class AgentFigures {
  turns = 0;
  usage: Usage = NO_USAGE;
  /** USD. Null once a price is unknown. */
  cost: number | null = 0;
  /** Approximate size of the next prompt. Null before the first request. */
  contextTokens: number | null = null;

  take(event: SwarmEvent): void {
    switch (event.type) {
      case 'turn.started':
        this.contextTokens = numberOr(event.estimatedTokens, this.contextTokens);
        break;
      case 'turn.ended':
        this.turns += 1;
        this.spend(event, true);
        break;
      case 'turn.failed':
      case 'consultation.ended':
        this.spend(event, false);
        break;
      case 'context.compacted':
        this.contextTokens = numberOr(event.tokensAfter, null);
        break;
      case 'prompt.broken':
        if (event.reason === 'clear') this.contextTokens = null;
        break;
      default:
        break;
    }
  }

  copy(): AgentFigures {
    return Object.assign(new AgentFigures(), this);
  }

  /** Called at the end of a copied prefix, which another session paid for. */
  resetSpending(): void {
    [this.turns, this.usage, this.cost] = [0, NO_USAGE, 0];
  }

  private spend(event: SwarmEvent, isTurn: boolean): void {
    const spent = spendingOf(event);
    if (spent === undefined) return;
    this.usage = addUsage(this.usage, spent.usage);
    this.cost = this.cost === null || spent.cost === null ? null : this.cost + spent.cost;
    // A request that was cut before the server counted its tokens has no size.
    const tokens = windowTokens(spent.usage);
    if (isTurn && tokens > 0) this.contextTokens = tokens;
  }
}

const numberOr = <Otherwise>(value: unknown, otherwise: Otherwise): number | Otherwise =>
  typeof value === 'number' && Number.isFinite(value) ? value : otherwise;
