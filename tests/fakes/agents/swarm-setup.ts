/** Swarm setup without definitions, with limits that no test reaches by chance. */
import type { SwarmSetup } from '../../../src/actors/tree/swarm-context.js';
import type { AgentDefinition } from '../../../src/protocol/agent/agent-definition.js';

export const swarmSetup = (change: Partial<SwarmSetup> = {}): SwarmSetup => ({
  definitions: [],
  unusable: [],
  limits: { maxAgents: 10_000, maxConcurrentAgents: 10_000, maxDepth: 3 },
  times: { wallMs: 3_600_000, idleMs: 600_000 },
  modelNamed: (name) => name,
  ownPrompt: ({ name }) => {
    throw new Error(`${name} has no prompt of its own here.`);
  },
  runHook: async () => ({ kind: 'failed', why: 'there is no shell' }),
  ...change,
});

export const agentDefinition = (change: Partial<AgentDefinition> = {}): AgentDefinition => ({
  name: 'explorer',
  description: 'Looks for things.',
  prompt: 'You explore.',
  disallowedTools: [],
  limits: [],
  denials: [],
  skills: [],
  mcpServers: [],
  hooks: [],
  background: false,
  proactive: false,
  ownPrompt: false,
  path: 'explorer.md',
  source: 'builtin',
  warnings: [],
  ...change,
});
