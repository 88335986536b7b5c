/** Makes the context provider of a run from its options, its settings and its host. */
import { tmpdir } from 'node:os';
import type { ModeSwitch } from '../../../actors/permissions/mode-switch.js';
import { findOutputStyle } from '../../../config/agents/output-style.js';
import { promptSources } from '../../../config/agents/prompt-file.js';
import type { LoadedSettings } from '../../../config/settings/load-settings.js';
import type { SkeinSettings } from '../../../config/settings/skein-settings.js';
import { realPath } from '../../../config/workspace/real-path.js';
import { BYTES_PER_TOKEN } from '../../../context/window/text-weight.js';
import { windowThresholds } from '../../../context/window/window-thresholds.js';
import { branchReader, findGitDirectory } from '../../../host/git/find-git-directory.js';
import { GIT_SUMMARY_TIMEOUT_MS, gitSummary } from '../../../host/git/git-summary.js';
import { localDate } from '../../../lib/text/local-date.js';
import { cacheTtl } from '../../../prompt/request/cache-ttl.js';
import { replaceTempPaths } from '../../../prompt/request/replace-temp-paths.js';
import type { AgentDefinition } from '../../../protocol/agent/agent-definition.js';
import { systemClock } from '../../../protocol/clock.js';
import type { ContextProvider } from '../../../protocol/model/context-provider.js';
import { capabilitiesOf, type ProviderName } from '../../../protocol/model/providers.js';
import type { RawJson } from '../../../protocol/model/wire-block.js';
import type { MemoryPorts } from '../../../protocol/tools/memory.js';
import type { Toolbox } from '../../../tools/toolbox.js';
import type { HostEnvironment } from '../options/host-environment.js';
import type { RunOptions } from '../options/run-options.js';
import { contextProvider } from './context-provider.js';
import { makeMemoryFiles } from './make-memory-files.js';

export interface ContextProviderRequest {
  readonly host: HostEnvironment;
  readonly flags: RunOptions;
  readonly settings: LoadedSettings;
  readonly tools: Toolbox;
  readonly mode: ModeSwitch;
  /** Agent definition whose prompt and tools are used. */
  readonly agent?: AgentDefinition | undefined;
  /** List of the agents that are not built in, one per line. */
  readonly agents: string;
  /** Directory that the session works in. */
  readonly cwd: string;
  readonly model: string;
  readonly defaultModel: string;
  /** True if a person or program can answer questions. */
  readonly isInteractive: boolean;
  /** True if the agent stops after its first run. */
  readonly isOneShot: boolean;
  readonly querySource: string;
  /** Listener for loaded instruction files. */
  readonly loaded: MemoryPorts['onLoad'];
  /** Environment of child processes, for git. */
  readonly environment: Readonly<Record<string, string>>;
}

/** The only supported provider so far. */
export const PROVIDER: ProviderName = 'firstParty';

const SLOW_GIT = `git took more than ${GIT_SUMMARY_TIMEOUT_MS / 1_000} seconds to read the repository, so the prompt does not describe it; run git status there to see why.`;

/** Share of the usable window that instruction files may fill. */
const MEMORY_SHARE = 0.2;

export const makeContextProvider = (request: ContextProviderRequest): ContextProvider => {
  const { host, flags, settings, tools, agent, cwd, model, environment } = request;
  const { skein } = settings;
  const { usable } = windowThresholds(model, skein.contextWindow);
  return contextProvider({
    memory: makeMemoryFiles(request, request.loaded),
    repository: async (directory) => {
      const signal = AbortSignal.timeout(GIT_SUMMARY_TIMEOUT_MS);
      const found = await gitSummary(directory, environment, signal);
      if (found === undefined && signal.aborted) host.notify(SLOW_GIT);
      return found;
    },
    branch: branchReader(cwd),
    today: () => localDate(systemClock.now()),
    mode: () => request.mode.mode,
    facts: {
      isInteractive: request.isInteractive,
      agents: request.agents,
      defaultModel: request.defaultModel,
      environment: {
        platform: host.platform,
        additionalDirectories: settings.additionalDirectories.map(({ value }) => value),
      },
      language: settings.language && { text: settings.language.value, source: 'settings' },
      outputStyle: styleOf(request),
      ceilings: ceilingsOf(flags, skein),
      isOneShot: request.isOneShot,
    },
    isGitRepository: (directory) => findGitDirectory(directory) !== undefined,
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
    // MCP servers are not supported yet.
    mcpInstructions: () => [],
    mcpDelta: skein.mcpInstructionsDelta,
    capabilities: capabilitiesOf(PROVIDER),
    betasDisabled: skein.disableExperimentalBetas,
    ttl: cacheTtl({
      provider: PROVIDER,
      bedrockHour: false,
      querySource: request.querySource,
      hourFor: skein.cacheHourFor,
      // Requests with an API key are paid for, and the public API reports no quota.
      isPaid: true,
      isInOverage: false,
    }),
    isSimple: skein.simple,
    breaker: skein.cacheBreaker ?? '',
    memoryCharacters: Math.floor(usable * MEMORY_SHARE * BYTES_PER_TOKEN),
    notify: host.notify,
  });
};

/**
 * Removes temporary directories from the descriptions of the host's tools, so that the text is the same for
 * two people with different temporary directories.
 */
const wireText = (tools: Toolbox): RawJson => {
  const builtin = new Set(
    tools.visible.filter(({ kind }) => kind === 'builtin').map(({ name }) => name),
  );
  const directories = [tmpdir(), realPath(tmpdir())];
  const texts = tools.wireTools().map((tool) => {
    const text = JSON.stringify(tool);
    return builtin.has(tool.name) ? text : replaceTempPaths(text, directories);
  });
  return `[${texts.join(',')}]`;
};

const styleOf = ({ host, settings }: ContextProviderRequest) => {
  if (settings.outputStyle === undefined) return undefined;
  const sources = promptSources(settings, host.home);
  const { style, warning } = findOutputStyle(settings.outputStyle.value, sources);
  if (warning !== undefined) host.notify(warning);
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
