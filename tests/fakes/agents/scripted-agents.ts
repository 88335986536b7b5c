/** Agents port that a test scripts, and that records its requests. */
import type { AgentTag } from '../../../src/protocol/agent/agent-tag.js';
import type {
  Agents,
  ChildView,
  Spawned,
  SpawnRequest,
} from '../../../src/protocol/agent/agents.js';
import type { ChildReport } from '../../../src/protocol/agent/child-report.js';
import type { MessageReceipt, MessageRequest } from '../../../src/protocol/agent/team-message.js';
import { childReport, childTag } from './child-agents.js';

export interface ScriptedAgents extends Agents {
  readonly orders: SpawnRequest[];
  readonly views: ChildView[];
  readonly stopped: string[];
  readonly waits: { readonly id: string; readonly timeoutMs: number }[];
  /** Result of a spawn request. Default: the agent reports at once. */
  does: (order: SpawnRequest, signal: AbortSignal) => Promise<Spawned>;
  /** Called while a caller waits for an agent. */
  meanwhile: (signal: AbortSignal) => Promise<void> | void;
  isPriced: boolean;
  readonly sent: MessageRequest[];
  receipts: readonly MessageReceipt[];
}

export const scriptedAgents = (...views: ChildView[]): ScriptedAgents => {
  const agents: ScriptedAgents = {
    orders: [],
    views,
    stopped: [],
    waits: [],
    isPriced: true,
    sent: [],
    receipts: [],
    does: reports(),
    meanwhile: () => {},
    async spawn(order, signal) {
      signal.throwIfAborted();
      agents.orders.push(order);
      return agents.does(order, signal);
    },
    find(address) {
      const same = views.filter(({ agent }) => agent.id === address);
      const fits = ({ agent }: ChildView) => agent.id.startsWith(address) || agent.name === address;
      return same.length > 0 ? same : views.filter(fits);
    },
    list: () => views,
    async untilEnded(id, timeoutMs, signal) {
      agents.waits.push({ id, timeoutMs });
      await agents.meanwhile(signal);
    },
    async stop(id) {
      agents.stopped.push(id);
      const at = views.findIndex(({ agent }) => agent.id === id);
      views.splice(at, 1, childView({ agent: views[at]?.agent ?? childTag(), status: 'stopped' }));
    },
    async send(order) {
      agents.sent.push(order);
      return agents.receipts;
    },
    preview: (count) =>
      agents.isPriced
        ? {
            count,
            model: 'claude-sonnet-5',
            withCache: [0.01 * count, 0.02 * count],
            withoutCache: [0.1 * count, count],
          }
        : undefined,
  };
  return agents;
};

export const childView = (change: Partial<ChildView> = {}): ChildView => ({
  agent: childTag(),
  status: 'running',
  state: 'streaming',
  turns: 2,
  cost: 0.5,
  ...change,
});

const tagFor = ({ call, description, type, name, team }: SpawnRequest): AgentTag =>
  childTag({
    call,
    description,
    type: type ?? null,
    ...(name !== undefined && { name }),
    ...(team !== undefined && { team, kind: 'teammate' }),
  });

export const reports =
  (change: Partial<ChildReport> = {}, stop?: ChildReport['stop']): ScriptedAgents['does'] =>
  async (order) => ({
    kind: 'ended',
    report: childReport({ agent: tagFor(order), ...change }, stop),
  });

export const starts =
  (isQueued = false): ScriptedAgents['does'] =>
  async (order) => ({ kind: 'started', agent: tagFor(order), isQueued });

export const refuses =
  (error: Error): ScriptedAgents['does'] =>
  () =>
    Promise.reject(error);

/** Runs until the signal aborts. */
export const works: ScriptedAgents['does'] = (_, signal) =>
  new Promise((_, reject) => {
    signal.addEventListener('abort', () => reject(signal.reason), { once: true });
  });
