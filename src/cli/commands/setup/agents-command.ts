/** `skein agents`: every agent that can be asked for here, where it comes from, and what is wrong. */
import { resolve } from 'node:path';
import type { AgentRoster } from '../../../config/agents/agent-catalog.js';
import { nearest } from '../../../config/json/did-you-mean.js';
import { modeFor } from '../../../policy/agent-mode.js';
import {
  type AgentDefinition,
  EFFECT_TOOLS,
  namesTool,
} from '../../../protocol/agent/agent-definition.js';
import type { PermissionMode } from '../../../protocol/permission/permission.js';
import { rosterFor } from '../../../sdk/assembly/agent-catalog.js';
import { settingsFor } from '../../../sdk/assembly/options/command-settings.js';
import type { TerminalHost } from '../../../terminal/terminal-host.js';
import { money, plural } from '../../../terminal/text/format-numbers.js';
import { plainText, sanitize } from '../../../terminal/text/sanitize.js';
import { builtinTools } from '../../../tools/builtin-tools.js';
import { EXIT } from '../../run/exit-code.js';
import type { RunFlags } from '../../run/run-flags.js';

export type AgentsFlags = RunFlags & { readonly json?: boolean };

export const showAgents = async (flags: AgentsFlags, machine: TerminalHost): Promise<number> => {
  const cwd = flags.cwd === undefined ? machine.cwd : resolve(machine.cwd, flags.cwd);
  const settings = settingsFor(machine, flags, cwd);
  const roster = await rosterFor(flags, settings, machine);
  machine.out(
    flags.json === true
      ? `${JSON.stringify(reportOf(roster), null, 2)}\n`
      : agentsText(
          roster,
          builtinTools.map(({ name }) => name),
        ),
  );
  return EXIT.done;
};

/** What JSON can say of them: of hooks only how many there are. */
const reportOf = ({ agents, unusable, warnings }: AgentRoster) => ({
  agents: agents.map(({ hooks, ...agent }) => ({
    ...agent,
    model: agent.model ?? null,
    tools: agent.tools ?? null,
    hooks: hooks.length,
  })),
  unusable,
  warnings,
});

/** For people; `known` are the tools that there are. */
export const agentsText = (
  { agents, unusable, warnings }: AgentRoster,
  known: readonly string[],
): string => {
  const width = Math.max(0, ...agents.map(({ name }) => name.length));
  const blocks = agents.map((agent) => {
    const { name, source, description, path } = agent;
    const facts = [source, agent.model ?? 'model of the lead', toolsOf(agent), ...extrasOf(agent)];
    const lines = [plainText(description), path, ...agent.warnings, ...strange(agent, known)];
    return [`${name.padEnd(width)}  ${facts.join(' · ')}`, ...lines.map((line) => `  ${line}`)];
  });
  const problems = [...unusable.map(({ problem }) => problem), ...warnings];
  return [
    ...blocks.map((lines) => lines.join('\n')),
    ...(problems.length === 0 ? [] : [`Not used:\n${problems.map((it) => `  ${it}`).join('\n')}`]),
  ]
    .map((block) => `${sanitize(block)}\n`)
    .join('\n');
};

const toolsOf = ({ tools, disallowedTools, limits, denials }: AgentDefinition): string => {
  const given =
    tools === undefined
      ? `all tools but ${[...EFFECT_TOOLS].join(', ')}`
      : tools
          .flatMap((name) => {
            const parts = limits.filter((rule) => rule.startsWith(`${name}(`));
            return parts.length === 0 ? [name] : parts;
          })
          .join(', ') || 'no tools';
  const without = [...disallowedTools, ...denials];
  return without.length === 0 ? given : `${given}, without ${without.join(', ')}`;
};

const extrasOf = (agent: AgentDefinition): readonly string[] => [
  ...(agent.permissionMode === undefined ? [] : [modeOf(agent.permissionMode)]),
  ...(agent.maxTurns === undefined ? [] : [`at most ${agent.maxTurns} turns`]),
  ...(agent.maxBudgetUsd === undefined ? [] : [`at most ${money(agent.maxBudgetUsd)}`]),
  ...(agent.maxBudgetTokens === undefined
    ? []
    : [`at most ${agent.maxBudgetTokens.toLocaleString('en')} tokens`]),
  ...(agent.background ? ['in the background'] : []),
  ...(agent.isolation === undefined ? [] : ['in a worktree']),
  ...(agent.ownPrompt ? ['prompt of its own'] : []),
  ...(agent.hooks.length === 0 ? [] : [plural(agent.hooks.length, 'hook')]),
];

/** As a sub-agent, which is stricter than its parent or what its parent is. */
const modeOf = (wanted: PermissionMode): string =>
  modeFor(wanted, 'bubble') === wanted
    ? `mode ${wanted}`
    : `mode of its parent (${wanted} only with --agent)`;

/** Tools that it lists and nobody has. */
const strange = ({ tools = [] }: AgentDefinition, known: readonly string[]): readonly string[] =>
  tools
    .filter((entry) => !entry.includes('*') && !entry.startsWith('mcp__'))
    .filter((entry) => !known.some((name) => namesTool(entry, name)))
    .map((entry) => {
      const meant = nearest(entry, known);
      return `There is no tool ${entry}${meant === undefined ? '.' : `: did you mean ${meant}?`}`;
    });
