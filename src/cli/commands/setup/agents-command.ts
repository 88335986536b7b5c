/** `skein agents`: lists the agents defined here, with their sources, tools and problems. */
import { resolve } from 'node:path';
import type { AgentCatalog } from '../../../config/agents/agent-catalog.js';
import { didYouMean } from '../../../lib/text/did-you-mean.js';
import { agentMode } from '../../../policy/agent-mode.js';
import {
  type AgentDefinition,
  EFFECT_TOOLS,
  namesTool,
} from '../../../protocol/agent/agent-definition.js';
import type { PermissionMode } from '../../../protocol/permission/permission-mode.js';
import { commandSettings } from '../../../sdk/assembly/options/command-settings.js';
import { knownTools } from '../../../sdk/assembly/options/known-tools.js';
import { untrustedNotice } from '../../../sdk/assembly/options/settings-notices.js';
import { readAgents } from '../../../sdk/assembly/read-agents.js';
import type { TerminalHost } from '../../../terminal/terminal-host.js';
import { formatMoney, plural } from '../../../terminal/text/format-number.js';
import { plainText, sanitize } from '../../../terminal/text/sanitize.js';
import { builtinTools } from '../../../tools/builtin-tools.js';
import { ExitCode } from '../../session/exit-code.js';
import type { RunFlags } from '../../session/run-flags.js';

export type AgentsFlags = RunFlags & { readonly json?: boolean };

export const agentsCommand = async (flags: AgentsFlags, host: TerminalHost): Promise<number> => {
  const cwd = flags.cwd === undefined ? host.cwd : resolve(host.cwd, flags.cwd);
  const settings = commandSettings(host, flags, cwd);
  const read = await readAgents(flags, settings, host, knownTools(builtinTools, true));
  const notice = read.withheld.length > 0 && untrustedNotice(settings, [], read.withheld);
  const catalog = notice ? { ...read, warnings: [...read.warnings, notice] } : read;
  host.out(
    flags.json === true
      ? `${JSON.stringify(reportOf(catalog), null, 2)}\n`
      : agentsText(
          catalog,
          builtinTools.map(({ name }) => name),
        ),
  );
  return ExitCode.done;
};

/** Returns the agents as JSON, with the number of hooks instead of the hooks. */
const reportOf = ({ agents, unusable, warnings }: AgentCatalog) => ({
  agents: agents.map(({ hooks, ...agent }) => ({
    ...agent,
    model: agent.model ?? null,
    tools: agent.tools ?? null,
    hooks: hooks.length,
  })),
  unusable,
  warnings,
});

/** Returns the agents as text. `toolNames` are the names of all tools. */
export const agentsText = (
  { agents, unusable, warnings }: AgentCatalog,
  toolNames: readonly string[],
): string => {
  const width = Math.max(0, ...agents.map(({ name }) => name.length));
  const blocks = agents.map((agent) => {
    const { name, source, description, path } = agent;
    const facts = [source, agent.model ?? 'model of the lead', toolsOf(agent), ...extrasOf(agent)];
    const lines = [
      plainText(description),
      path,
      ...agent.warnings,
      ...unknownTools(agent, toolNames),
    ];
    return [`${name.padEnd(width)}  ${facts.join(' · ')}`, ...lines.map((line) => `  ${line}`)];
  });
  const problems = [...unusable.map(({ problem }) => problem), ...warnings];
  return [
    ...blocks.map((lines) => lines.join('\n')),
    ...(problems.length === 0
      ? []
      : [`Not used:\n${problems.map((problem) => `  ${problem}`).join('\n')}`]),
  ]
    .map((block) => `${sanitize(block)}\n`)
    .join('\n');
};

const toolsOf = ({ tools, disallowedTools, limits, denials }: AgentDefinition): string => {
  const allowed =
    tools === undefined
      ? `all tools but ${[...EFFECT_TOOLS].join(', ')}`
      : tools
          .flatMap((name) => {
            const parts = limits.filter((rule) => rule.startsWith(`${name}(`));
            return parts.length === 0 ? [name] : parts;
          })
          .join(', ') || 'no tools';
  const without = [...disallowedTools, ...denials];
  return without.length === 0 ? allowed : `${allowed}, without ${without.join(', ')}`;
};

const extrasOf = (agent: AgentDefinition): readonly string[] => [
  ...(agent.permissionMode === undefined ? [] : [modeOf(agent.permissionMode)]),
  ...(agent.maxTurns === undefined ? [] : [`at most ${agent.maxTurns} turns`]),
  ...(agent.maxBudgetUsd === undefined ? [] : [`at most ${formatMoney(agent.maxBudgetUsd)}`]),
  ...(agent.maxBudgetTokens === undefined
    ? []
    : [`at most ${agent.maxBudgetTokens.toLocaleString('en')} tokens`]),
  ...(agent.background ? ['in the background'] : []),
  ...(agent.isolation === undefined ? [] : ['in a worktree']),
  ...(agent.ownPrompt ? ['own prompt'] : []),
  ...(agent.hooks.length === 0 ? [] : [plural(agent.hooks.length, 'hook')]),
];

/** Returns the mode as a sub-agent: a stricter mode applies, any other is replaced by that of the parent. */
const modeOf = (mode: PermissionMode): string =>
  agentMode(mode, 'bubble') === mode
    ? `mode ${mode}`
    : `mode of its parent (${mode} only with --agent)`;

/** Returns a sentence per listed tool that does not exist. */
const unknownTools = (
  { tools = [] }: AgentDefinition,
  toolNames: readonly string[],
): readonly string[] =>
  tools
    .filter((entry) => !entry.includes('*') && !entry.startsWith('mcp__'))
    .filter((entry) => !toolNames.some((name) => namesTool(entry, name)))
    .map((entry) => {
      const suggestion = didYouMean(entry, toolNames);
      return `There is no tool ${entry}${suggestion === undefined ? '.' : `: did you mean ${suggestion}?`}`;
    });
