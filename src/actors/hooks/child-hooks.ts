/** Hooks of a child agent: the hooks of the session and of its definition. */
import type { AgentDefinition } from '../../protocol/agent/agent-definition.js';
import type { HookSetup } from '../../protocol/permission/hook-setup.js';
import type { AgentNode, ChildNode } from '../tree/agent-node.js';
import type { SwarmContext } from '../tree/swarm-context.js';
import type { HookEquipment } from './session-hooks.js';

type ChildPosition = Pick<ChildNode, 'origin' | 'parent'>;

/**
 * Returns the hooks of a child. A Stop hook of its definition runs as SubagentStop, or TeammateIdle
 * for a teammate.
 */
export const childHooks = (swarm: SwarmContext, child: ChildPosition): SwarmContext['hooks'] => {
  const { hooks, setup } = swarm;
  const definitionHooks = hookDefinition(swarm, child)?.hooks ?? [];
  if (definitionHooks.length === 0 || (hooks !== undefined && 'fire' in hooks)) return hooks;
  const endEvent = child.origin.kind === 'teammate' ? 'TeammateIdle' : 'SubagentStop';
  const ownSetups = definitionHooks.map(
    (hook): HookSetup =>
      hook.event === 'Stop' ? { ...hook, event: endEvent, matches: () => true } : hook,
  );
  const equipment: HookEquipment = {
    runCommand: setup.runHook,
    ...hooks,
    setups: [...(hooks?.setups ?? []), ...ownSetups],
  };
  return equipment;
};

/**
 * Returns the definition with the hooks of this child. A fork uses the definition of its nearest
 * ancestor with a type.
 */
const hookDefinition = (
  swarm: SwarmContext,
  { origin, parent }: ChildPosition,
): AgentDefinition | undefined => {
  if (origin.type !== null) return swarm.setup.definitions.find(({ name }) => name === origin.type);
  return isChild(parent) ? hookDefinition(swarm, parent) : undefined;
};

const isChild = (node: AgentNode): node is ChildNode => 'parent' in node;
