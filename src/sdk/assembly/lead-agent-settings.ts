/** Settings that a lead takes from its agent definition: permission mode and turn limit. */
import type { SessionChoice } from '../../actors/session/begin-session.js';
import type { LoadedSettings } from '../../config/settings/load-settings.js';
import { isFromCommandLine } from '../../config/settings/settings-layers.js';
import { agentMode } from '../../policy/agent-mode.js';
import type { AgentDefinition } from '../../protocol/agent/agent-definition.js';
import type { RunOptions } from './options/run-options.js';

interface LeadAgentSettings {
  readonly mode: LoadedSettings['mode'];
  /** Maximum turns of a run, or null for no limit. */
  readonly maxTurns: number | null;
  /** Sentence that says why the definition's mode does not apply, if it does not. */
  readonly notices: readonly string[];
}

/** Flags and the managed policy override the definition, which overrides settings. */
export const leadAgentSettings = (
  flags: RunOptions,
  { mode }: Pick<LoadedSettings, 'mode'>,
  agent: AgentDefinition | undefined,
): LeadAgentSettings => {
  const maxTurns = flags.maxTurns ?? agent?.maxTurns ?? null;
  const agentsMode = agent?.permissionMode;
  if (agent === undefined || agentsMode === undefined || isFromCommandLine(mode.source)) {
    return { mode, maxTurns, notices: [] };
  }
  const isLooser = agentMode(agentsMode, mode.value) !== agentsMode;
  // A project's agent may tighten the person's mode but not loosen it, because a repository is not trusted.
  if (mode.source === 'policy' || (isLooser && agent.source === 'project')) {
    return { mode, maxTurns, notices: agentsMode === mode.value ? [] : [refusal(agent, mode)] };
  }
  return { mode: { ...mode, value: agentsMode, file: agent.path }, maxTurns, notices: [] };
};

const refusal = (
  { permissionMode, path }: AgentDefinition,
  { value, source }: LoadedSettings['mode'],
): string => {
  const why =
    source === 'policy'
      ? `the managed policy sets the mode ${value}.`
      : `a project's agent can only tighten your mode ${value}; pass --permission-mode to use it anyway.`;
  return `The permissionMode ${permissionMode} of ${path} does not apply: ${why}`;
};

/** Returns a notice about prompt flags that a resumed session ignores, because its prompt never changes. */
export const ignoredPromptFlags = (
  { kind }: SessionChoice,
  flags: RunOptions,
): readonly string[] => {
  const ignored = Object.entries({
    '--system-prompt': flags.systemPrompt,
    '--append-system-prompt': flags.appendSystemPrompt,
    overrideSystemPrompt: flags.overrideSystemPrompt,
    '--agent (except its hooks, permissionMode and maxTurns)': flags.agent,
  }).flatMap(([name, value]) => (value === undefined ? [] : [name]));
  if (kind === 'new' || ignored.length === 0) return [];
  return [`A session keeps its system prompt and its tools. Ignored: ${ignored.join(', ')}.`];
};
