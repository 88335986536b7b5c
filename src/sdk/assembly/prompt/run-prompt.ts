/** The briefing of a run, from its options, its settings and this machine. */

import { tmpdir } from 'node:os';
import type { ModeSwitch } from '../../../actors/permissions/mode-switch.js';
import { findOutputStyle } from '../../../config/agents/output-style.js';
import type { LoadedSettings } from '../../../config/settings/load-settings.js';
import type { SkeinSettings } from '../../../config/settings/skein-settings.js';
import { realPath } from '../../../config/workspace/real-path.js';
import { BYTES_PER_TOKEN } from '../../../context/window/tokens.js';
import { windowMarks } from '../../../context/window/window.js';
import { branchReader, findGit } from '../../../host/git/find-git-directory.js';
import { gitSnapshot, WITHIN_MS } from '../../../host/git/git-summary.js';
import { chooseTtl } from '../../../prompt/request/cache-ttl.js';
import { withoutTempPaths } from '../../../prompt/request/temp-paths.js';
import type { AgentDefinition } from '../../../protocol/agent/agent-definition.js';
import { localDate, systemClock } from '../../../protocol/clock.js';
import type { ContextProvider } from '../../../protocol/model/context-provider.js';
import { capabilitiesOf, type ProviderName } from '../../../protocol/model/providers.js';
import type { RawJson } from '../../../protocol/model/wire.js';
import type { MemoryPorts } from '../../../protocol/tools/memory.js';
import type { Toolbox } from '../../../tools/toolbox.js';
import { placesOf } from '../lead-agent.js';
import type { HostEnvironment } from '../options/host-environment.js';
import type { RunOptions } from '../options/run-options.js';
import { runBriefing } from './context-provider.js';
import { memoryFor } from './run-memory.js';

export interface PromptRequest {
  readonly machine: HostEnvironment;
  readonly flags: RunOptions;
  readonly settings: LoadedSettings;
  readonly tools: Toolbox;
  readonly mode: ModeSwitch;
  /** Whose prompt and tools the lead has, where one was named. */
  readonly agent?: AgentDefinition | undefined;
  /** The agents that are not everybody's, a line each. */
  readonly agents: string;
  /** Where the session works. */
  readonly cwd: string;
  readonly model: string;
  readonly defaultModel: string;
  /** Somebody can answer questions. */
  readonly isInteractive: boolean;
  /** It ends with its first answer. */
  readonly isOneShot: boolean;
  readonly querySource: string;
  /** Hears of the instruction files that were found. */
  readonly loaded: MemoryPorts['loaded'];
  /** Of child processes, for git. */
  readonly environment: Readonly<Record<string, string>>;
}

/** The providers of other APIs come later; what speaks this one is taken for the first party. */
export const PROVIDER: ProviderName = 'firstParty';

const SLOW_GIT = `git took more than ${WITHIN_MS / 1_000} seconds to tell of the repository, so the prompt goes without; see what git status does there.`;

/** Of what a prompt may be, instruction files may fill a fifth. */
const MEMORY_SHARE = 0.2;

export const promptFor = (request: PromptRequest): ContextProvider => {
  const { machine, flags, settings, tools, agent, cwd, model, environment } = request;
  const { skein } = settings;
  const names = tools.visible.map(({ name }) => name);
  const { usable } = windowMarks(model, skein.contextWindow);
  return runBriefing({
    memory: memoryFor(request, request.loaded),
    repository: async (place) => {
      const signal = AbortSignal.timeout(WITHIN_MS);
      const found = await gitSnapshot(place, environment, signal);
      if (found === undefined && signal.aborted) machine.notify(SLOW_GIT);
      return found;
    },
    branch: branchReader(cwd),
    today: () => localDate(systemClock.now()),
    mode: () => request.mode.mode,
    facts: {
      tools: names,
      isInteractive: request.isInteractive,
      mayFork: names.includes('Task'),
      agents: request.agents,
      defaultModel: request.defaultModel,
      place: {
        platform: machine.platform,
        additionalDirectories: settings.additionalDirectories.map(({ value }) => value),
      },
      language: settings.language && { text: settings.language.value, source: 'settings' },
      outputStyle: styleOf(request),
      ceilings: ceilingsOf(flags, skein),
      isOneShot: request.isOneShot,
    },
    isGitRepository: (place) => findGit(place) !== undefined,
    wishes: {
      override: flags.overrideSystemPrompt,
      agent: agent && {
        name: agent.name,
        path: agent.path,
        text: agent.prompt,
        isProactive: agent.proactive,
      },
      custom: flags.systemPrompt,
      append: flags.appendSystemPrompt,
    },
    tools: wireText(tools),
    hasMcpTools: tools.visible.some(({ kind }) => kind === 'mcp'),
    // Nobody connects to MCP servers yet.
    mcpInstructions: () => [],
    mcpDelta: skein.mcpInstructionsDelta,
    capabilities: capabilitiesOf(PROVIDER),
    betasDisabled: skein.disableExperimentalBetas,
    ttl: chooseTtl({
      provider: PROVIDER,
      bedrockHour: false,
      querySource: request.querySource,
      hourFor: skein.cacheHourFor,
      // Whoever has a key pays for it, and the public API says nothing of quotas.
      isPaid: true,
      isInOverage: false,
    }),
    isSimple: skein.simple,
    breaker: skein.cacheBreaker ?? '',
    memoryCharacters: Math.floor(usable * MEMORY_SHARE * BYTES_PER_TOKEN),
    notify: machine.notify,
  });
};

/** What others say of their tools is the same for two people with two temporary directories (P23). */
const wireText = (tools: Toolbox): RawJson => {
  const isOurs = new Set(
    tools.visible.filter(({ kind }) => kind === 'builtin').map(({ name }) => name),
  );
  const directories = [tmpdir(), realPath(tmpdir())];
  const texts = tools.wireTools().map((tool) => {
    const text = JSON.stringify(tool);
    return isOurs.has(tool.name) ? text : withoutTempPaths(text, directories);
  });
  return `[${texts.join(',')}]`;
};

const styleOf = ({ machine, settings }: PromptRequest) => {
  if (settings.outputStyle === undefined) return undefined;
  const places = placesOf(settings, machine);
  const { style, warning } = findOutputStyle(settings.outputStyle.value, places);
  if (warning !== undefined) machine.notify(warning);
  return style && { text: style.text, source: 'settings', path: style.path };
};

const ceilingsOf = (
  { maxTurns }: RunOptions,
  { maxBudgetUsd, maxBudgetTokens }: SkeinSettings,
): string[] => [
  ...(maxTurns === undefined ? [] : [`${maxTurns} turns`]),
  ...(maxBudgetUsd === undefined ? [] : [`${maxBudgetUsd} US dollars`]),
  ...(maxBudgetTokens === undefined ? [] : [`${maxBudgetTokens} tokens`]),
];
