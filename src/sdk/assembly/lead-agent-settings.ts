/** What a session that works as an agent has of its definition besides prompt, tools and model. */
import type { SessionChoice } from '../../actors/session/begin-session.js';
import type { LoadedSettings } from '../../config/settings/load-settings.js';
import { isTyped } from '../../config/settings/settings-layers.js';
import { modeFor } from '../../policy/agent-mode.js';
import type { AgentDefinition } from '../../protocol/agent/agent-definition.js';
import type { RunOptions } from './options/run-options.js';

export interface LeadTerms {
  readonly mode: LoadedSettings['mode'];
  /** Null: as many as it takes. */
  readonly maxTurns: number | null;
  /** Sentences for people. */
  readonly notices: readonly string[];
}

/** What was typed and what the policy says go before the definition, and that before settings. */
export const leadTerms = (
  flags: RunOptions,
  { mode }: Pick<LoadedSettings, 'mode'>,
  agent: AgentDefinition | undefined,
): LeadTerms => {
  const maxTurns = flags.maxTurns ?? agent?.maxTurns ?? null;
  const wanted = agent?.permissionMode;
  if (agent === undefined || wanted === undefined || isTyped(mode.source)) {
    return { mode, maxTurns, notices: [] };
  }
  const isLooser = modeFor(wanted, mode.value) !== wanted;
  // A repository may ask a person to be careful. That it may be careless only the person can say.
  if (mode.source === 'policy' || (isLooser && agent.source === 'project')) {
    return { mode, maxTurns, notices: wanted === mode.value ? [] : [refusal(agent, mode)] };
  }
  return { mode: { ...mode, value: wanted, file: agent.path }, maxTurns, notices: [] };
};

const refusal = (
  { permissionMode, path }: AgentDefinition,
  { value, source }: LoadedSettings['mode'],
): string => {
  const why =
    source === 'policy'
      ? `the managed policy sets the mode ${value}.`
      : `an agent of a project may be stricter than your own mode ${value}, not less strict; pass --permission-mode if you want it.`;
  return `The permissionMode ${permissionMode} of ${path} does not apply: ${why}`;
};

/** A session keeps the prompt that it began with, byte for byte. */
export const promptNotice = ({ kind }: SessionChoice, flags: RunOptions): readonly string[] => {
  const given = Object.entries({
    '--system-prompt': flags.systemPrompt,
    '--append-system-prompt': flags.appendSystemPrompt,
    overrideSystemPrompt: flags.overrideSystemPrompt,
    '--agent, but for its hooks, permissionMode and maxTurns': flags.agent,
  }).flatMap(([name, value]) => (value === undefined ? [] : [name]));
  if (kind === 'new' || given.length === 0) return [];
  return [`A session keeps its system prompt and its tools, so ignored: ${given.join(', ')}.`];
};
