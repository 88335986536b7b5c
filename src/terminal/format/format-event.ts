/** An event in plain words, one line each. Words from outside are made fit for a line first. */
import type { SwarmEvent } from '../../protocol/session/events.js';
import { count, money, plural } from '../text/format-numbers.js';
import { seconds } from '../text/format-time.js';
import { plainText } from '../text/sanitize.js';
import { waitWords } from './format-wait.js';

export const eventWords = (event: SwarmEvent): string => {
  const words = new Words(event);
  switch (event.type) {
    case 'agent.spawned':
      if (event.origin !== undefined) return words.origin();
      return `agent ${words.text('agent')} began in ${words.text('cwd')} with ${words.text('model')}`;
    case 'epoch.began':
      return `a process took the session (epoch ${words.number('epoch')})`;
    case 'run.started':
      return `run ${words.number('run')} began`;
    case 'letter.delivered':
      return `a prompt came from ${words.text('from')}`;
    case 'message.sent':
      return `a message for the model: ${plural(words.number('parts'), 'part')}`;
    case 'turn.started': {
      const again =
        words.number('attempt') > 1 ? `again, attempt ${words.number('attempt')}, ` : '';
      const size = count(words.number('estimatedTokens'));
      return `turn ${words.number('turn')} asked of ${words.text('model')} ${again}with about ${size} tokens`;
    }
    case 'turn.ended':
      return `turn ${words.number('turn')} answered in ${words.duration()}, ${words.text('stopReason')}: ${words.spent()}`;
    case 'turn.failed': {
      const status = event.status === null ? '' : `, HTTP ${words.number('status')}`;
      return `turn ${words.number('turn')} failed, attempt ${words.number('attempt')} (${words.text('kind')}${status}): ${words.text('message')}`;
    }
    case 'consultation.started':
      return `${words.text('model')} is consulted for ${words.text('purpose')}`;
    case 'consultation.ended':
      return `a model was consulted for ${words.text('purpose')}, ${words.text('outcome')}, in ${words.duration()}: ${words.spent()}`;
    case 'permission.requested':
      return `asked whether ${words.text('description')} may run: ${words.text('reason')}`;
    case 'permission.answered':
      return `the answer of ${words.text('surface')} was ${words.text('outcome')}: ${words.text('detail')}`;
    case 'permission.ruled':
      return `${words.text('tool')} ${RULED[words.text('behavior')] ?? words.text('behavior')} at ${words.text('step')}${words.rule()}: ${words.text('reason')}`;
    case 'tool.started':
      return `${words.text('tool')} began: ${words.text('description')}`;
    case 'tool.ended': {
      const times = words.number('repeated');
      const again = times > 1 ? `, the same ${times} times in a row` : '';
      return `${words.text('tool')} ended, ${words.text('outcome')}, in ${words.duration()}${again}`;
    }
    case 'context.compacted':
      return `context compacted (${words.text('reason')}): from about ${count(words.number('tokensBefore'))} to ${count(words.number('tokensAfter'))} tokens`;
    case 'prompt.broken':
      return `the prompt does not go on from here (${words.text('reason')}): ${words.text('section')}`;
    case 'cache.broken': {
      const kind = event.expected === true ? 'as expected' : 'by accident';
      const lost = count(Math.max(0, words.number('cachedTokens') - words.number('readTokens')));
      return `the cache missed ${lost} tokens ${kind} (${words.text('cause')}, ${words.text('owner')}): ${words.text('detail')}`;
    }
    case 'request.shaped':
      return `requests look like this from here on: ${words.shape()}`;
    case 'run.ended':
    case 'agent.stopped': {
      const what = event.type === 'run.ended' ? 'run ended' : 'agent stopped';
      const detail = typeof event.detail === 'string' ? `: ${words.text('detail')}` : '';
      return `${what}, ${words.text('reason')}, after ${plural(words.number('turns'), 'turn')}${detail}`;
    }
    case 'bound.hit':
      return `a bound was hit, ${words.text('what')} (${count(words.number('limit'))}): ${words.text('detail')}`;
    case 'hook.ran': {
      const detail = words.text('detail') === '' ? '' : `: ${words.text('detail')}`;
      return `hook ${words.text('hook')} of ${words.text('event')} ran, ${words.text('outcome')}, in ${words.duration()}${detail}`;
    }
    case 'files.watched':
      return `the files that ${words.text('call')} may change are kept`;
    case 'files.changed':
      return `${plural(words.number('files'), 'file')} changed by ${words.text('call')}`;
    case 'session.rewound': {
      const what = event.conversation === true ? 'the conversation, and ' : '';
      const verb = event.undoes === undefined ? 'taken back' : 'brought back';
      return `${verb}: ${what}${plural(words.number('files'), 'file')} (to record ${words.number('to')})`;
    }
    case 'agent.requested': {
      const type = typeof event.agentType === 'string' ? words.text('agentType') : 'a fork';
      return `asked for ${type}, ${words.text('kind')}, as ${words.text('child')}: ${words.text('description')}`;
    }
    case 'agent.queued':
      return `waits for a place: ${words.text('reason')}`;
    case 'letter.sent':
      return `wrote to ${words.text('to')} (${words.text('kind')})`;
    case 'letter.undelivered':
      return `did not reach ${words.text('to')}: ${words.text('reason')}`;
    case 'plan.approved':
      return `its plan was approved by ${words.text('by')}`;
    case 'agent.restarted':
      return `begins again in ${seconds(words.number('delayMs'))}, attempt ${words.number('attempt')}: ${words.text('reason')}`;
    case 'agent.moved':
      return `works on ${words.text('host')} now, in ${words.text('path')} from ${words.text('url')}`;
    case 'lock.awaited': {
      const holder = typeof event.holder === 'string' ? words.text('holder') : 'another agent';
      const who = typeof event.child === 'string' ? `${words.text('child')} waits` : 'waits';
      return `${who} until ${holder} is done with the tree ${words.text('place')}`;
    }
    case 'worktree.settled': {
      const many = words.number('files');
      const what = many === 0 ? '' : `, ${plural(many, 'file')}`;
      const detail = typeof event.detail === 'string' ? `: ${words.text('detail')}` : '';
      return `its worktree: ${words.text('outcome')}${what}${detail}`;
    }
    case 'fork.offered':
      return `forks begin from turn ${words.number('turn')}`;
    case 'request.queued': {
      const what = event.purpose === 'turn' ? 'the next turn' : words.text('purpose');
      return `the request for ${what} waits for ${waitWords(event.why)}`;
    }
    case 'budget.reserved':
      return `${words.setAside()} set aside for turn ${words.number('turn')}`;
    default:
      return words.plain();
  }
};

const RULED: Readonly<Record<string, string>> = { allow: 'allowed', deny: 'denied', ask: 'asks' };

const HEAD = new Set(['v', 'seq', 'ts', 'swarm', 'agent', 'parent', 'type', 'cites']);

const words = (value: unknown): string => (typeof value === 'string' ? value : '');

/** The values of an event, none of which has to be what it says it is. */
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

  /** An agent that works for another. */
  origin(): string {
    const origin = (this.event.origin ?? {}) as Readonly<Record<string, unknown>>;
    const text = (key: string) => plainText(words(origin[key]));
    const what = text('type') === '' ? 'a fork' : text('type');
    const name = text('name') === '' ? '' : ` called ${text('name')}`;
    return `agent ${this.text('agent')} began as ${what}${name} with ${this.text('model')}: ${text('description')}`;
  }

  duration(): string {
    return seconds(this.number('durationMs'));
  }

  rule(): string {
    if (typeof this.event.rule !== 'string') return '';
    const { file, line, source } = this.event;
    const at = typeof line === 'number' ? `:${line}` : '';
    const where = typeof file === 'string' ? `${file}${at}` : words(source);
    return ` by ${plainText(this.event.rule)}${where === '' ? '' : ` of ${plainText(where)}`}`;
  }

  spent(): string {
    const usage = (this.event.usage ?? {}) as Readonly<Record<string, unknown>>;
    const tokens = (key: string) => (typeof usage[key] === 'number' ? usage[key] : 0);
    const [cacheRead, output] = [tokens('cacheRead'), tokens('output')];
    const read = tokens('input') + cacheRead + tokens('cacheWrite5m') + tokens('cacheWrite1h');
    const cached = cacheRead > 0 ? ` (${count(cacheRead)} cached)` : '';
    const cost = typeof this.event.cost === 'number' ? this.event.cost : null;
    const price = cost === null ? 'cost unknown' : money(cost);
    return `${count(read)} tokens in${cached}, ${count(output)} out, ${price}`;
  }

  /** Of what is limited, and what is left of it. */
  setAside(): string {
    const has = (key: string) => typeof this.event[key] === 'number';
    return [
      ...(has('usd') ? [`${money(this.number('usd'))} (${money(this.number('left'))} left)`] : []),
      ...(has('tokens')
        ? [`${count(this.number('tokens'))} tokens (${count(this.number('tokensLeft'))} left)`]
        : []),
    ].join(' and ');
  }

  /** What people can compare; the digests are for programs. */
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

  /** For an event that has no words of its own here. */
  plain(): string {
    const rest = Object.entries(this.event).filter(([key]) => !HEAD.has(key));
    return plainText(`${this.event.type} ${JSON.stringify(Object.fromEntries(rest))}`);
  }
}
