/** Formats an event as one line of plain words. Text from outside is sanitized. */
import { asText } from '../../lib/text/as-text.js';
import type { SwarmEvent } from '../../protocol/session/swarm-event.js';
import { formatMoney, formatNumber, plural } from '../text/format-number.js';
import { formatSeconds } from '../text/format-time.js';
import { plainText } from '../text/sanitize.js';
import { formatWait } from './format-wait.js';

export const formatEvent = (event: SwarmEvent): string => {
  const words = new Words(event);
  switch (event.type) {
    case 'agent.spawned':
      if (event.origin !== undefined) return words.origin();
      return `agent ${words.text('agent')} started in ${words.text('cwd')} with ${words.text('model')}`;
    case 'epoch.began':
      return `a process took the session (epoch ${words.number('epoch')})`;
    case 'run.started':
      return `run ${words.number('run')} started`;
    case 'letter.delivered':
      return `received a prompt from ${words.text('from')}`;
    case 'message.sent':
      return `a message for the model: ${plural(words.number('parts'), 'part')}`;
    case 'turn.started': {
      const again =
        words.number('attempt') > 1 ? `again, attempt ${words.number('attempt')}, ` : '';
      const size = formatNumber(words.number('estimatedTokens'));
      return `turn ${words.number('turn')} asked of ${words.text('model')} ${again}with about ${size} tokens`;
    }
    case 'turn.ended':
      return `turn ${words.number('turn')} answered in ${words.duration()}, ${words.text('stopReason')}: ${words.spent()}`;
    case 'turn.failed': {
      const status = event.status === null ? '' : `, HTTP ${words.number('status')}`;
      return `turn ${words.number('turn')} failed, attempt ${words.number('attempt')} (${words.text('kind')}${status}): ${words.text('message')}`;
    }
    case 'consultation.started':
      return `side request to ${words.text('model')} for ${words.text('purpose')} started`;
    case 'consultation.ended':
      return `side request for ${words.text('purpose')} ended, ${words.text('outcome')}, in ${words.duration()}: ${words.spent()}`;
    case 'permission.requested':
      return `asked whether ${words.text('description')} may run: ${words.text('reason')}`;
    case 'permission.answered':
      return `the answer of ${words.text('surface')} was ${words.text('outcome')}: ${words.text('detail')}`;
    case 'permission.ruled':
      return `${words.text('tool')} ${RULED[words.text('behavior')] ?? words.text('behavior')} at ${words.text('step')}${words.rule()}: ${words.text('reason')}`;
    case 'tool.started':
      return `${words.text('tool')} started: ${words.text('description')}`;
    case 'tool.ended': {
      const times = words.number('repeated');
      const again = times > 1 ? `, the same ${times} times in a row` : '';
      return `${words.text('tool')} ended, ${words.text('outcome')}, in ${words.duration()}${again}`;
    }
    case 'context.compacted':
      return `context compacted (${words.text('reason')}): from about ${formatNumber(words.number('tokensBefore'))} to ${formatNumber(words.number('tokensAfter'))} tokens`;
    case 'prompt.broken':
      return `the prompt stops extending the previous one (${words.text('reason')}): ${words.text('section')}`;
    case 'cache.broken': {
      const kind = event.expected === true ? 'as expected' : 'by accident';
      const lost = formatNumber(
        Math.max(0, words.number('cachedTokens') - words.number('readTokens')),
      );
      return `the cache missed ${lost} tokens ${kind} (${words.text('cause')}, ${words.text('owner')}): ${words.text('detail')}`;
    }
    case 'request.shaped':
      return `request settings from now on: ${words.shape()}`;
    case 'run.ended':
    case 'agent.stopped': {
      const what = event.type === 'run.ended' ? 'run ended' : 'agent stopped';
      const detail = typeof event.detail === 'string' ? `: ${words.text('detail')}` : '';
      return `${what}, ${words.text('reason')}, after ${plural(words.number('turns'), 'turn')}${detail}`;
    }
    case 'bound.hit':
      return `limit reached, ${words.text('what')} (${formatNumber(words.number('limit'))}): ${words.text('detail')}`;
    case 'hook.ran': {
      const detail = words.text('detail') === '' ? '' : `: ${words.text('detail')}`;
      return `hook ${words.text('hook')} of ${words.text('event')} ran, ${words.text('outcome')}, in ${words.duration()}${detail}`;
    }
    case 'files.watched':
      return `saved the files that ${words.text('call')} may change`;
    case 'files.changed':
      return `${plural(words.number('files'), 'file')} changed by ${words.text('call')}`;
    case 'session.rewound': {
      const what = event.conversation === true ? 'the conversation, and ' : '';
      const verb = event.undoes === undefined ? 'rewound' : 'restored';
      return `${verb}: ${what}${plural(words.number('files'), 'file')} (to record ${words.number('to')})`;
    }
    case 'agent.requested': {
      const type = typeof event.agentType === 'string' ? words.text('agentType') : 'a fork';
      return `asked for ${type}, ${words.text('kind')}, as ${words.text('child')}: ${words.text('description')}`;
    }
    case 'agent.queued':
      return `waits for a slot: ${words.text('reason')}`;
    case 'letter.sent':
      return `wrote to ${words.text('to')} (${words.text('kind')})`;
    case 'letter.undelivered':
      return `message to ${words.text('to')} was not delivered: ${words.text('reason')}`;
    case 'plan.approved':
      return `its plan was approved by ${words.text('by')}`;
    case 'agent.restarted':
      return `restarts in ${formatSeconds(words.number('delayMs'))}, attempt ${words.number('attempt')}: ${words.text('reason')}`;
    case 'agent.moved':
      return `moved to ${words.text('host')}, works in ${words.text('path')} from ${words.text('url')}`;
    case 'lock.awaited': {
      const holder = typeof event.holder === 'string' ? words.text('holder') : 'another agent';
      const who = typeof event.child === 'string' ? `${words.text('child')} waits` : 'waits';
      return `${who} for ${holder} to release the tree ${words.text('place')}`;
    }
    case 'worktree.settled': {
      const many = words.number('files');
      const what = many === 0 ? '' : `, ${plural(many, 'file')}`;
      const detail = typeof event.detail === 'string' ? `: ${words.text('detail')}` : '';
      return `its worktree: ${words.text('outcome')}${what}${detail}`;
    }
    case 'fork.offered':
      return `forks start from turn ${words.number('turn')}`;
    case 'request.queued': {
      const what = event.purpose === 'turn' ? 'the next turn' : words.text('purpose');
      return `the request for ${what} waits for ${formatWait(event.why)}`;
    }
    case 'budget.reserved':
      return `${words.reserved()} reserved for turn ${words.number('turn')}`;
    default:
      return words.plain();
  }
};

const RULED: Readonly<Record<string, string>> = { allow: 'allowed', deny: 'denied', ask: 'asks' };

const HEAD = new Set(['v', 'seq', 'ts', 'swarm', 'agent', 'parent', 'type', 'cites']);

/** Typed access to the values of an event. The log may be damaged, so every type is checked. */
class Words {
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
    const what = text('type') === '' ? 'a fork' : text('type');
    const name = text('name') === '' ? '' : ` called ${text('name')}`;
    return `agent ${this.text('agent')} started as ${what}${name} with ${this.text('model')}: ${text('description')}`;
  }

  duration(): string {
    return formatSeconds(this.number('durationMs'));
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
      const members = Object.keys(shape).filter((name) => name.startsWith(`${kind} `));
      return plural(members.length, kind);
    });
    return plainText([...values, ...kinds].join(', '));
  }

  /** Formats an event type without a sentence here: its name and fields. */
  plain(): string {
    const rest = Object.entries(this.event).filter(([key]) => !HEAD.has(key));
    return plainText(`${this.event.type} ${JSON.stringify(Object.fromEntries(rest))}`);
  }
}
