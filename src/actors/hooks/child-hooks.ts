/** Which hooks an agent that works for another has: those of everybody, and those of its definition. */
import type { AgentDefinition } from '../../protocol/agent/agent-definition.js';
import type { HookSetup } from '../../protocol/permission/hook-setup.js';
import type { AgentNode, ChildNode } from '../tree/agent-node.js';
import { definitionOf, type SwarmContext } from '../tree/swarm-context.js';
import type { HookEquipment } from './session-hooks.js';

type Placed = Pick<ChildNode, 'origin' | 'parent'>;

/** Of its definition the end of the agent is the end of a run. */
export const hooksFor = (house: SwarmContext, child: Placed): SwarmContext['hooks'] => {
  const { hooks, setup } = house;
  const more = guarding(house, child)?.hooks ?? [];
  if (more.length === 0 || (hooks !== undefined && 'fire' in hooks)) return hooks;
  const end = child.origin.kind === 'teammate' ? 'TeammateIdle' : 'SubagentStop';
  const own = more.map(
    (hook): HookSetup =>
      hook.event === 'Stop' ? { ...hook, event: end, matches: () => true } : hook,
  );
  const equipment: HookEquipment = {
    runCommand: setup.runHook,
    ...hooks,
    setups: [...(hooks?.setups ?? []), ...own],
  };
  return equipment;
};

/** A fork goes on as its parent, so what guards the nearest above it that has a type guards the fork too. */
const guarding = (house: SwarmContext, { origin, parent }: Placed): AgentDefinition | undefined => {
  if (origin.type !== null) return definitionOf(house, origin.type);
  return isChild(parent) ? guarding(house, parent) : undefined;
};

const isChild = (member: AgentNode): member is ChildNode => 'parent' in member;
