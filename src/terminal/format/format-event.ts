/** Formats an event as one line of plain words. Text from outside is sanitized. */
import { asText } from '../../lib/text/as-text.js';
import type { SwarmEvent } from '../../protocol/session/swarm-event.js';
import { formatMoney, formatNumber, plural } from '../text/format-number.js';
import { formatSeconds } from '../text/format-time.js';
import { plainText } from '../text/sanitize.js';
import { formatWait } from './format-wait.js';

export const formatEvent = (event: SwarmEvent): string => {
  const values = new EventValues(event);
  switch (event.type) {
    case 'agent.spawned':
      if (event.origin !== undefined) return values.origin();
      return `agent ${values.text('agent')} started in ${values.text('cwd')} with ${values.text('model')}`;
    case 'epoch.began':
      return `a process took the session (epoch ${values.number('epoch')})`;
    case 'run.started':
      return `run ${values.number('run')} started`;
    case 'letter.delivered':
      return `received a prompt from ${values.text('from')}`;
    case 'message.sent':
      return `a message for the model: ${plural(values.number('parts'), 'part')}`;
    case 'turn.started': {
      const attempt =
        values.number('attempt') > 1 ? `again, attempt ${values.number('attempt')}, ` : '';
      const size = formatNumber(values.number('estimatedTokens'));
      return `turn ${values.number('turn')} asked of ${values.text('model')} ${attempt}with about ${size} tokens`;
    }
    case 'turn.ended':
      return `turn ${values.number('turn')} answered in ${values.duration()}, ${values.text('stopReason')}: ${values.spent()}`;
    case 'turn.failed': {
      const status = event.status === null ? '' : `, HTTP ${values.number('status')}`;
      return `turn ${values.number('turn')} failed, attempt ${values.number('attempt')} (${values.text('kind')}${status}): ${values.text('message')}`;
    }
    case 'retry.scheduled':
      return `attempt ${values.number('attempt')} of ${values.number('attempts')} starts in ${values.duration()}`;
    case 'consultation.started':
      return `side request to ${values.text('model')} for ${values.text('purpose')} started`;
    case 'consultation.ended':
      return `side request for ${values.text('purpose')} ended, ${values.text('outcome')}, in ${values.duration()}: ${values.spent()}`;
    case 'permission.requested':
      return `asked whether ${values.text('description')} may run: ${values.text('reason')}`;
    case 'permission.answered':
      return `the answer of ${values.text('surface')} was ${values.text('outcome')}: ${values.text('detail')}`;
    case 'permission.ruled':
      return `${values.text('tool')} ${RULED[values.text('behavior')] ?? values.text('behavior')} at ${values.text('step')}${values.rule()}: ${values.text('reason')}`;
    case 'tool.started':
      return `${values.text('tool')} started: ${values.text('description')}`;
    case 'tool.ended': {
      const times = values.number('repeated');
      const repeats = times > 1 ? `, the same ${times} times in a row` : '';
      return `${values.text('tool')} ended, ${values.text('outcome')}${values.exit(event.facts)}, in ${values.duration()}${repeats}`;
    }
    case 'context.compacted':
      return `context compacted (${values.text('reason')}): from about ${formatNumber(values.number('tokensBefore'))} to ${formatNumber(values.number('tokensAfter'))} tokens`;
    case 'prompt.broken':
      return `the prompt no longer extends the previous one (${values.text('reason')}): ${values.text('section')}`;
    case 'cache.broken': {
      const kind = event.expected === true ? 'as expected' : 'by accident';
      const lost = formatNumber(
        Math.max(0, values.number('cachedTokens') - values.number('readTokens')),
      );
      return `the cache missed ${lost} tokens ${kind} (${values.text('cause')}, ${values.text('owner')}): ${values.text('detail')}`;
    }
    case 'request.shaped':
      return `request settings from now on: ${values.shape()}`;
    case 'run.ended':
    case 'agent.stopped': {
      const subject = event.type === 'run.ended' ? 'run ended' : 'agent stopped';
      const detail = typeof event.detail === 'string' ? `: ${values.text('detail')}` : '';
      return `${subject}, ${values.text('reason')}, after ${plural(values.number('turns'), 'turn')}${detail}`;
    }
    case 'bound.hit':
      return `limit reached, ${values.text('what')} (${formatNumber(values.number('limit'))}): ${values.text('detail')}`;
    case 'orders.found':
      return `text from ${values.text('from')} may give orders to its reader: ${values.text('kinds')}`;
    case 'hook.ran': {
      const detail = values.text('detail') === '' ? '' : `: ${values.text('detail')}`;
      return `hook ${values.text('hook')} of ${values.text('event')} ran, ${values.text('outcome')}${values.exit(event)}, in ${values.duration()}${detail}`;
    }
    case 'files.watched':
      return `saved the files that ${values.text('call')} may change`;
    case 'files.changed':
      return `${plural(values.number('files'), 'file')} changed by ${values.text('call')}`;
    case 'journal.repaired':
      return `records were lost (${plural(values.number('gaps'), 'gap')}), and the conversation was repaired`;
    case 'session.rewound': {
      const conversation = event.conversation === true ? 'the conversation, and ' : '';
      const verb = event.undoes === undefined ? 'rewound' : 'restored';
      return `${verb}: ${conversation}${plural(values.number('files'), 'file')} (to record ${values.number('to')})`;
    }
    case 'agent.requested': {
      const type = typeof event.agentType === 'string' ? values.text('agentType') : 'a fork';
      return `asked for ${type}, ${values.text('kind')}, as ${values.text('child')}: ${values.text('description')}`;
    }
    case 'agent.queued':
      return `waits for a slot: ${values.text('reason')}`;
    case 'letter.sent':
      return `wrote to ${values.text('to')} (${values.text('kind')})`;
    case 'letter.undelivered':
      return `message to ${values.text('to')} was not delivered: ${values.text('reason')}`;
    case 'plan.approved':
      return `its plan was approved by ${values.text('by')}`;
    case 'agent.restarted':
      return `restarts in ${formatSeconds(values.number('delayMs'))}, attempt ${values.number('attempt')}: ${values.text('reason')}`;
    case 'agent.moved':
      return `moved to ${values.text('host')}, works in ${values.text('path')} from ${values.text('url')}`;
    case 'lock.awaited': {
      const holder = typeof event.holder === 'string' ? values.text('holder') : 'another agent';
      const subject = typeof event.child === 'string' ? `${values.text('child')} waits` : 'waits';
      return `${subject} for ${holder} to release the tree ${values.text('place')}`;
    }
    case 'worktree.settled': {
      const count = values.number('files');
      const files = count === 0 ? '' : `, ${plural(count, 'file')}`;
      const detail = typeof event.detail === 'string' ? `: ${values.text('detail')}` : '';
      return `its worktree: ${values.text('outcome')}${files}${detail}`;
    }
    case 'fork.offered':
      return `forks start from turn ${values.number('turn')}`;
    case 'request.queued': {
      const purpose = event.purpose === 'turn' ? 'the next turn' : values.text('purpose');
      return `the request for ${purpose} waits for ${formatWait(event.why)}`;
    }
    case 'budget.reserved':
      return `${values.reserved()} reserved for turn ${values.number('turn')}`;
    case 'records.lost':
      return `Redis has lost ${plural(values.number('lost'), 'record')}; ${plural(values.number('calls'), 'call')} may have run`;
    default:
      return values.plain();
  }
};

const RULED: Readonly<Record<string, string>> = { allow: 'allowed', deny: 'denied', ask: 'asks' };

const HEAD = new Set(['v', 'seq', 'ts', 'swarm', 'agent', 'parent', 'type', 'cites']);

/** Typed access to the values of an event. The log may be damaged, so every type is checked. */
class EventValues {
  private readonly event: SwarmEvent;

  constructor(event: SwarmEvent) {
    this.event = event;
  }

  text(key: string): string {
    const value = this.event[key];
    return typeof value === 'string' || typeof value === 'number' ? plainText(String(value)) : '?';
  }

  number(key: string): number {
    const value = this.event[key];
    return typeof value === 'number' ? value : 0;
  }

  /** Describes the start of a child. */
  origin(): string {
    const origin = (this.event.origin ?? {}) as Readonly<Record<string, unknown>>;
    const text = (key: string) => plainText(asText(origin[key]));
    const type = text('type') === '' ? 'a fork' : text('type');
    const name = text('name') === '' ? '' : ` called ${text('name')}`;
    return `agent ${this.text('agent')} started as ${type}${name} with ${this.text('model')}: ${text('description')}`;
  }

  duration(): string {
    return formatSeconds(this.number('durationMs'));
  }

  /** Returns the exit code in brackets, if the call or hook ended with a code other than 0. */
  exit(facts: unknown): string {
    const { exitCode } = (facts ?? {}) as Readonly<Record<string, unknown>>;
    return typeof exitCode === 'number' && exitCode !== 0 ? ` (exit code ${exitCode})` : '';
  }

  rule(): string {
    if (typeof this.event.rule !== 'string') return '';
    const { file, line, source } = this.event;
    const at = typeof line === 'number' ? `:${line}` : '';
    const where = typeof file === 'string' ? `${file}${at}` : asText(source);
    return ` by ${plainText(this.event.rule)}${where === '' ? '' : ` of ${plainText(where)}`}`;
  }

  spent(): string {
    const usage = (this.event.usage ?? {}) as Readonly<Record<string, unknown>>;
    const tokens = (key: string) => (typeof usage[key] === 'number' ? usage[key] : 0);
    const [cacheRead, output] = [tokens('cacheRead'), tokens('output')];
    const read = tokens('input') + cacheRead + tokens('cacheWrite5m') + tokens('cacheWrite1h');
    const cached = cacheRead > 0 ? ` (${formatNumber(cacheRead)} cached)` : '';
    const cost = typeof this.event.cost === 'number' ? this.event.cost : null;
    const price = cost === null ? 'cost unknown' : formatMoney(cost);
    return `${formatNumber(read)} tokens in${cached}, ${formatNumber(output)} out, ${price}`;
  }

  /** Reserved money and tokens, with the rest of each budget. Unlimited budgets are left out. */
  reserved(): string {
    const has = (key: string) => typeof this.event[key] === 'number';
    return [
      ...(has('usd')
        ? [`${formatMoney(this.number('usd'))} (${formatMoney(this.number('left'))} left)`]
        : []),
      ...(has('tokens')
        ? [
            `${formatNumber(this.number('tokens'))} tokens (${formatNumber(this.number('tokensLeft'))} left)`,
          ]
        : []),
    ].join(' and ');
  }

  /** Settings of a request that people can compare, without the digests. */
  shape(): string {
    const shape = (this.event.shape ?? {}) as Readonly<Record<string, unknown>>;
    const values = ['model', 'betas', 'effort', 'thinking', 'ttl'].flatMap((name) =>
      typeof shape[name] === 'string' ? [`${name} ${shape[name]}`] : [],
    );
    const kinds = ['tool', 'section'].map((kind) => {
      const names = Object.keys(shape).filter((name) => name.startsWith(`${kind} `));
      return plural(names.length, kind);
    });
    return plainText([...values, ...kinds].join(', '));
  }

  /** Formats an event type without a sentence here: its name and fields. */
  plain(): string {
    const rest = Object.entries(this.event).filter(([key]) => !HEAD.has(key));
    return plainText(`${this.event.type} ${JSON.stringify(Object.fromEntries(rest))}`);
  }
}
