/** What a Task call asks for, as terms that can be written down; or a sentence that says why it cannot be had. */

import { modeFor } from '../../policy/agent-mode.js';
import { toolsetOf } from '../../policy/agent-toolset.js';
import type { AgentDefinition } from '../../protocol/agent/agent-definition.js';
import type { Refusal, SwarmLimits } from '../../protocol/agent/leader.js';
import {
  type ChildKind,
  type SpawnKind,
  type SpawnOrder,
  SpawnRefusal,
} from '../../protocol/agent/swarm.js';
import { EVERYBODY, LEAD_NAME } from '../../protocol/agent/team-message.js';
import type { Origin } from '../../protocol/session/swarm-records.js';
import type { AgentNode } from '../tree/agent-node.js';
import { forkPointOf } from '../tree/fork-point.js';
import { definitionOf, type SwarmContext } from '../tree/swarm-context.js';

export interface SpawnSpec {
  readonly origin: Origin;
  readonly model: string;
  /** It has a worktree of its own, wherever that will be. */
  readonly isIsolated: boolean;
}

/** Throws a SpawnRefusal, and a StorageError where a fork cannot be offered. */
export const resolveSpawn = (
  house: SwarmContext,
  parent: AgentNode,
  order: SpawnOrder,
): SpawnSpec => {
  const { type, name, description, call, background, team } = order;
  if (team !== undefined) checkTeammate(parent, name);
  const common = {
    description,
    call,
    depth: parent.depth + 1,
    ...(name !== undefined && { name }),
    ...(team !== undefined && { team }),
  };
  const model = modelOf(house, parent, order);
  if (type === undefined) {
    const { seq } = forkPointOf(parent);
    const kind = team !== undefined ? 'teammate' : background === true ? 'background' : 'fork';
    const inherits = { agent: parent.id, seq };
    const isIsolated = order.isolation !== undefined;
    return { origin: { ...common, kind, type: null, inherits }, model, isIsolated };
  }
  const definition = described(house, type);
  const shown = parent.deps.toolbox.visible;
  const { names, limits = [], denials = [] } = toolsetOf(definition, shown);
  const mode = modeFor(definition.permissionMode, 'bubble');
  const { maxTurns, maxBudgetUsd, maxBudgetTokens, color, ownPrompt } = definition;
  return {
    origin: {
      ...common,
      kind: kindOf(order, definition),
      type,
      tools: team === undefined ? [...names] : [...new Set([...names, ...TEAM_TOOLS])],
      ...(limits.length > 0 && { limits: [...limits] }),
      ...(denials.length > 0 && { denials: [...denials] }),
      ...(mode !== 'bubble' && { mode }),
      ...(maxTurns !== undefined && { maxTurns }),
      ...(maxBudgetUsd !== undefined && { maxBudgetUsd }),
      ...(maxBudgetTokens !== undefined && { maxBudgetTokens }),
      ...(color !== undefined && { color }),
      ...(ownPrompt && { ownPrompt }),
    },
    model,
    isIsolated: (order.isolation ?? definition.isolation) !== undefined,
  };
};

const kindOf = ({ team, background }: SpawnOrder, definition: AgentDefinition): ChildKind => {
  if (team !== undefined) return 'teammate';
  return (background ?? definition.background) ? 'background' : 'sync';
};

/** Without these nobody could work in a team, whatever else a definition gives. */
const TEAM_TOOLS = ['SendMessage', 'TaskCreate', 'TaskUpdate', 'TaskGet', 'TaskList'] as const;

/** Throws a SpawnRefusal. Of namesakes the swarm knows. */
const checkTeammate = ({ depth }: AgentNode, name: string | undefined): void => {
  if (depth > 0) throw new SpawnRefusal('Only the lead has teammates. Leave out team_name.');
  if (name === LEAD_NAME || name === EVERYBODY || name === undefined) {
    throw new SpawnRefusal('A teammate needs a name of its own. Give it another one.');
  }
};

/** Which model it would run on. Throws a SpawnRefusal for an unknown type, and for a fork on another model. */
export const modelOf = (
  house: SwarmContext,
  { deps }: AgentNode,
  { type, model }: SpawnKind,
): string => {
  if (type === undefined) {
    if (model !== undefined) throw new SpawnRefusal(FORK_WITH_MODEL);
    return deps.notebook.history.model || deps.modelName;
  }
  const definition = described(house, type);
  const wanted = model ?? definition.model;
  return wanted === undefined ? deps.modelName : house.setup.modelNamed(wanted);
};

/** Throws a SpawnRefusal that names the types there are. */
const described = (house: SwarmContext, type: string): AgentDefinition => {
  const definition = definitionOf(house, type);
  if (definition === undefined) throw new SpawnRefusal(unknownType(house, type));
  return definition;
};

/** Why one more agent may not begin. */
export const refusalOf = (why: Refusal, limits: SwarmLimits): SpawnRefusal => {
  switch (why) {
    case 'depth':
      return new SpawnRefusal(
        `Agents may be nested ${limits.maxDepth} deep (skein.maxDepth), and this one would be deeper. Do the work yourself.`,
      );
    case 'total':
      return new SpawnRefusal(
        `This run has started ${limits.maxAgents} agents, which is the limit (skein.maxAgents). Do the rest yourself.`,
      );
    case 'none':
      return new SpawnRefusal(
        'No agent may work (skein.maxConcurrentAgents is 0). Do the work yourself.',
      );
    case 'over':
      return new SpawnRefusal('The session is ending, so no agent was started.');
  }
};

const FORK_WITH_MODEL =
  'A fork runs on the model of the agent that it continues, to share its cache. Leave out model, or give a subagent_type.';

const MOST_TYPES = 40;

const unknownType = ({ setup }: SwarmContext, type: string): string => {
  const names = setup.definitions
    .map(({ name }) => name)
    .toSorted((a, b) => sharedStart(b, type) - sharedStart(a, type));
  const broken = setup.unusable.find(({ name }) => name === type);
  const others = names.length === 0 ? ', nor any other.' : '.';
  const why = broken === undefined ? others : `, because ${broken.problem}`;
  const more = names.length > MOST_TYPES ? ` and ${names.length - MOST_TYPES} more` : '';
  const some = `The types are: ${names.slice(0, MOST_TYPES).join(', ')}${more}. `;
  const known = names.length === 0 ? '' : some;
  return `There is no agent type "${type.slice(0, 100)}"${why} ${known}${FORK_INSTEAD}`;
};

const FORK_INSTEAD = 'Leave out subagent_type for a fork.';

/** How many letters two words begin with in common. */
const sharedStart = (a: string, b: string): number => {
  const [one, other] = [a.toLowerCase(), b.toLowerCase()];
  let at = 0;
  while (at < one.length && one[at] === other[at]) at += 1;
  return at;
};
