import { describe, expect, test } from 'vitest';
import type { SessionMeta } from '../../../src/protocol/session/session-store.js';
import { swarmText } from '../../../src/terminal/output/swarm-text.js';
import { textWidth } from '../../../src/terminal/text/text-width.js';
import type { AgentView, SwarmView } from '../../../src/views/swarm/swarm-view.js';
import { agentView } from '../../fakes/agents/agent-views.js';

const agent = (id: string, depth: number, more: Partial<AgentView> = {}): AgentView =>
  agentView(id, {
    depth,
    kind: depth === 0 ? 'lead' : 'sync',
    type: null,
    description: '',
    costUsd: 0.0123,
    since: 0,
    lastActiveAt: 0,
    ...more,
  });

const swarm = (...agents: readonly AgentView[]): SwarmView => ({
  session: { id: 's_1', lead: 'a_lead', title: 'mend the tests' } as SessionMeta,
  holder: { pid: 77, host: 'here' },
  agents,
});

const SWARM = swarm(
  agent('a_lead4567', 0),
  agent('a_twoabcde', 1, { name: 'docs', description: 'read the docs' }),
  agent('a_threefgh', 2, {
    type: 'explorer',
    calls: [
      { call: 'c', tool: 'Bash', description: 'Bash npm test', since: 0 },
      { call: 'd', tool: 'Read', description: 'Read x', since: 0 },
    ],
  }),
  agent('a_fourijkl', 1, {
    kind: 'fork',
    state: 'awaiting-permission',
    questions: [{ question: 'q_1', call: 'e', tool: 'Bash', description: 'Bash rm x', since: 0 }],
  }),
  agent('a_fivemnop', 1, {
    type: 'tester',
    status: 'ended',
    state: 'stopped',
    lastActiveAt: 5_000,
    stop: { reason: 'max_turns', detail: 'after 5 turns' },
  }),
);

const shown = (view: SwarmView, width: number, unicode = true) =>
  swarmText(view, { width, unicode, now: 42_000 }).split('\n');

describe('the table of a swarm', () => {
  test('is a tree with the activity of each agent', () => {
    expect(shown(SWARM, 120)).toEqual([
      's_1  running, pid 77  5 agents  $0.0615  mend the tests',
      'AGENT                 STATE                TURNS  TOKENS  CACHED     COST  AGE  DOING',
      'lead a_lead4          streaming                3   12.3k  83.4 %  $0.0123  42s',
      '├─docs                streaming                3   12.3k  83.4 %  $0.0123  42s  read the docs',
      '│ └─explorer a_three  streaming                3   12.3k  83.4 %  $0.0123  42s  Bash npm test (+1)',
      '├─fork a_fouri        awaiting-permission      3   12.3k  83.4 %  $0.0123  42s  asks: Bash rm x',
      '└─tester a_fivem      ended                    3   12.3k  83.4 %  $0.0123   5s  max_turns: after 5 turns',
    ]);
  });

  test('shows why a request waits', () => {
    const wait = { kind: 'requests', detail: null, since: 0, agents: [], count: 1 } as const;
    const waiting = agent('a_0', 0, { state: 'waiting', wait, description: 'x' });
    expect(shown(swarm(waiting), 120)[2]).toMatch(
      /^lead a_0 +waiting .* waits for a request slot$/,
    );
  });

  test('names the children that an agent waits for instead of its Task call', () => {
    const wait = { kind: 'child', detail: 'docs', since: 0, agents: ['a_2'], count: 3 } as const;
    const call = { call: 'c', tool: 'Task', description: 'Task docs: read', since: 0 };
    const row = agent('a_0', 0, { state: 'tool-running', wait, calls: [call] });
    expect(shown(swarm(row), 120)[2]).toMatch(
      /^lead a_0 +tool-running .* waits for docs and 2 more$/,
    );
  });

  test('omits a wait for the model, because the state shows it', () => {
    const wait = { kind: 'model', detail: 'm', since: 0, agents: [], count: 1 } as const;
    expect(shown(swarm(agent('a_0', 0, { wait, description: 'look' })), 120)[2]).toMatch(/ look$/);
  });

  test('shows that an agent waits for another worker after the loss of its worker', () => {
    const left = { status: 'queued', state: 'queued', hasLostWorker: true } as const;
    expect(shown(swarm(agent('a_0', 0, { ...left, description: 'x' })), 140)[2]).toMatch(
      /^lead a_0 +queued .* waits for another worker: its worker is gone$/,
    );
  });

  test('omits columns on a narrow terminal and marks cut text', () => {
    const lines = shown(SWARM, 80, false);
    expect(Math.max(...lines.map(textWidth))).toBeLessThanOrEqual(80);
    expect(lines[1]).toMatch(/^AGENT +STATE +COST +AGE +DOING$/);
    expect(lines[4]).toMatch(
      /^\| `-explorer a_three +streaming +\$0\.0123 +42s {2}Bash npm test \(\+1\)$/,
    );
    expect(lines[6]).toMatch(/ max_turns: after 5 tur…$/);
  });

  test('fits any width with any text and contains no control characters', () => {
    const hostile = agent('a_1', 1, {
      name: '漢字\u001b[2J\nname'.repeat(9),
      description: '\u202ex',
    });
    for (const width of [40, 41, 60, 133]) {
      const lines = shown(swarm(agent('a_0', 0), hostile), width);
      expect(lines).toHaveLength(4);
      expect(Math.max(...lines.map(textWidth))).toBeLessThanOrEqual(width);
      expect(lines.join('')).not.toMatch(/[\p{Cc}\p{Cf}]/u);
    }
  });

  test('shows an unknown cost in the row and in the total', () => {
    const [head = '', , row = ''] = shown(swarm(agent('a_0', 0, { costUsd: null })), 120);
    expect(head).toContain('unknown');
    expect(row).toContain('unknown');
  });
});
