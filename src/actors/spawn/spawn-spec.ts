/** Resolves a Task call to a spawn specification, or refuses it with a sentence for the model. */

import type { AdmissionRefusal } from '../../machines/decide-admission.js';
import { agentMode } from '../../policy/agent-mode.js';
import { agentToolset } from '../../policy/agent-toolset.js';
import type { AgentDefinition } from '../../protocol/agent/agent-definition.js';
import type { ChildKind } from '../../protocol/agent/agent-tag.js';
import { AgentRefusal, type SpawnKind, type SpawnRequest } from '../../protocol/agent/agents.js';
import type { SwarmLimits } from '../../protocol/agent/swarm-limits.js';
import { ALL_TEAMMATES, LEAD_NAME } from '../../protocol/agent/team-message.js';
import type { AgentOrigin } from '../../protocol/session/swarm-records.js';
import type { AgentNode } from '../tree/agent-node.js';
import { forkPointOf } from '../tree/fork-point.js';
import { definitionOf, type SwarmContext } from '../tree/swarm-context.js';

export interface SpawnSpec {
  readonly origin: AgentOrigin;
  readonly model: string;
  /** True if the child gets its own worktree. */
  readonly isIsolated: boolean;
}

/** Throws AgentRefusal, or StorageError if the fork point cannot be journaled. */
export const resolveSpawn = (
  context: SwarmContext,
  parent: AgentNode,
  request: SpawnRequest,
): SpawnSpec => {
  const { type, name, description, call, background, team } = request;
  if (team !== undefined) checkTeammate(parent, name);
  const common = {
    description,
    call,
    depth: parent.depth + 1,
    ...(name !== undefined && { name }),
    ...(team !== undefined && { team }),
  };
  const model = modelOf(context, parent, request);
  if (type === undefined) {
    const { seq } = forkPointOf(parent);
    const kind = team !== undefined ? 'teammate' : background === true ? 'background' : 'fork';
    const inherits = { agent: parent.id, seq };
    const isIsolated = request.isolation !== undefined;
    return { origin: { ...common, kind, type: null, inherits }, model, isIsolated };
  }
  const definition = requireDefinition(context, type);
  const visibleTools = parent.deps.toolbox.visible;
  const { names, limits = [], denials = [] } = agentToolset(definition, visibleTools);
  const mode = agentMode(definition.permissionMode, 'bubble');
  const { maxTurns, maxBudgetUsd, maxBudgetTokens, color, ownPrompt } = definition;
  return {
    origin: {
      ...common,
      kind: kindOf(request, definition),
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
    isIsolated: (request.isolation ?? definition.isolation) !== undefined,
  };
};

const kindOf = ({ team, background }: SpawnRequest, definition: AgentDefinition): ChildKind => {
  if (team !== undefined) return 'teammate';
  return (background ?? definition.background) ? 'background' : 'sync';
};

/** Tools that every teammate has, even if its definition lacks them. */
const TEAM_TOOLS = ['SendMessage', 'TaskCreate', 'TaskUpdate', 'TaskGet', 'TaskList'] as const;

/** Throws AgentRefusal. The registry checks for equal names. */
const checkTeammate = ({ depth }: AgentNode, name: string | undefined): void => {
  if (depth > 0) throw new AgentRefusal('Only the lead has teammates. Leave out team_name.');
  if (name === LEAD_NAME || name === ALL_TEAMMATES || name === undefined) {
    throw new AgentRefusal('A teammate needs a name of its own. Give it another one.');
  }
};

/** Returns the model of the child. Throws AgentRefusal for an unknown type and for a fork on another model. */
export const modelOf = (
  context: SwarmContext,
  { deps }: AgentNode,
  { type, model }: SpawnKind,
): string => {
  if (type === undefined) {
    if (model !== undefined) throw new AgentRefusal(FORK_WITH_MODEL);
    return deps.journal.history.model || deps.modelName;
  }
  const definition = requireDefinition(context, type);
  const requestedModel = model ?? definition.model;
  return requestedModel === undefined ? deps.modelName : context.setup.modelNamed(requestedModel);
};

/** Throws AgentRefusal that names the known types. */
const requireDefinition = (context: SwarmContext, type: string): AgentDefinition => {
  const definition = definitionOf(context, type);
  if (definition === undefined) throw new AgentRefusal(unknownType(context, type));
  return definition;
};

/** Returns the refusal of an admission as a sentence for the model. */
export const refusalOf = (why: AdmissionRefusal, limits: SwarmLimits): AgentRefusal => {
  switch (why) {
    case 'depth':
      return new AgentRefusal(
        `Agents may be nested ${limits.maxDepth} deep (skein.maxDepth), and this one would be deeper. Do the work yourself.`,
      );
    case 'total':
      return new AgentRefusal(
        `This run has started ${limits.maxAgents} agents, which is the limit (skein.maxAgents). Do the rest yourself.`,
      );
    case 'none':
      return new AgentRefusal(
        'No agent may work (skein.maxConcurrentAgents is 0). Do the work yourself.',
      );
    case 'over':
      return new AgentRefusal('The session is ending, so no agent was started.');
  }
};

const FORK_WITH_MODEL =
  'A fork runs on the model of the agent that it continues, to share its cache. Leave out model, or give a subagent_type.';

const MAX_LISTED_TYPES = 40;

const unknownType = ({ setup }: SwarmContext, type: string): string => {
  const names = setup.definitions
    .map(({ name }) => name)
    .toSorted((a, b) => sharedStart(b, type) - sharedStart(a, type));
  const broken = setup.unusable.find(({ name }) => name === type);
  const others = names.length === 0 ? ': no types are defined.' : '.';
  const why = broken === undefined ? others : `, because ${broken.problem}`;
  const more =
    names.length > MAX_LISTED_TYPES ? ` and ${names.length - MAX_LISTED_TYPES} more` : '';
  const listing = `The types are: ${names.slice(0, MAX_LISTED_TYPES).join(', ')}${more}. `;
  const typesText = names.length === 0 ? '' : listing;
  return `There is no agent type "${type.slice(0, 100)}"${why} ${typesText}${FORK_INSTEAD}`;
};

const FORK_INSTEAD = 'Leave out subagent_type for a fork.';

/** Returns the length of the common prefix, ignoring case. */
const sharedStart = (a: string, b: string): number => {
  const [first, second] = [a.toLowerCase(), b.toLowerCase()];
  let at = 0;
  while (at < first.length && first[at] === second[at]) at += 1;
  return at;
};
